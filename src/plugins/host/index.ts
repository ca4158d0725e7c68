/** Loads, runs and ends plugins. The door of this folder. */
export { pluginLogger } from "./api.ts";
export type { PluginHostDeps } from "./deps.ts";
export { refuseExits } from "./exits.ts";
export { catchFaults } from "./faults.ts";
export type { GuardRecords, MissingGuard } from "./guards.ts";
export { hookSettings } from "./hook-settings.ts";
export { createPluginHost, type PluginHost } from "./host.ts";
export { callMethod, type MethodAnswer } from "./method-call.ts";
export type { ExtensionPatch, ExtensionRowValue, SessionExtensions } from "./sessions.ts";
export type { PluginStatus } from "./status.ts";
export { within } from "./within.ts";
