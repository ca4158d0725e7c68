/** Writes the beginning of a plugin: files that load, with tests that pass. */
export { createPlugin, type CreateRequest, type CreateResult } from "./create.ts";
export { TEMPLATES, type Template } from "./templates/index.ts";
