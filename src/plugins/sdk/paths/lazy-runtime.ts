export { createLazyRuntimeMethod, createLazyRuntimeModule, createLazyRuntimeNamedExport } from "../lazy.ts";
