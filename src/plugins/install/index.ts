/** Brings plugins into the state folder, newer ones in their place, and takes them out again. Nothing here runs code of a plugin. */
export type { InstallDeps } from "./deps.ts";
export { installHookPack, updateHookPacks, type HookPackResult } from "./hook-pack.ts";
export { installPlugin, type InstallRequest, type InstallResult } from "./install.ts";
export type { InstallRecord } from "./record.ts";
export { scanCode } from "./scan/code.ts";
export type { BuiltinScan, Finding } from "./scan/finding.ts";
export { uninstallPlugin, type UninstallRequest, type UninstallResult } from "./uninstall.ts";
export { withdrawShadowing } from "./uninstall.ts";
export { updatePlugins, type UpdateOutcome, type UpdateRequest } from "./update.ts";
