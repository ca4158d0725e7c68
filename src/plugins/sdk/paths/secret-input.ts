export * from "../secrets.ts";
