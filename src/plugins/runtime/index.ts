/** `api.runtime`: small functions over ports that the program around the plugins fills. */
export { createPluginRuntime } from "./runtime.ts";
export { PENDING, type PendingPath } from "./pending.ts";
export type { RuntimeOwner, RuntimePorts } from "./ports.ts";
export { createStateDatabases, type StateDatabases } from "./state/databases.ts";
