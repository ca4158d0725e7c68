export * from "../request-body.ts";
