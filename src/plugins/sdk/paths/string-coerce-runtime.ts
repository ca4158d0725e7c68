export * from "../coerce.ts";
