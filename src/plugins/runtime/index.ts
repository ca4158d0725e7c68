/** `api.runtime`: small functions over ports that the program around the plugins fills. */
export { createPluginRuntime } from "./runtime.ts";
export { PENDING } from "./pending.ts";
export type { RuntimePorts } from "./ports.ts";
export { createStateDatabases } from "./state/databases.ts";
