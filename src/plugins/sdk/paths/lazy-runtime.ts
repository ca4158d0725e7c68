export { createLazyRuntimeMethod, createLazyRuntimeModule, createLazyRuntimeNamedExport } from "../entry/runtime-store.ts";
