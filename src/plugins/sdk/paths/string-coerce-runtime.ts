export * from "../values/coerce.ts";
