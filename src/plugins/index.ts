/**
 * What extends the gateway: discovery, manifests, enable state, loader, registries, host, install; the public SDK stands in `sdk/`.
 * The entry point. Importing it loads no plugin and reads no file; the code that runs plugins is loaded with the first that is enabled.
 */

export {
  callMethod,
  catchFaults,
  refuseExits,
  createPluginHost,
  hookSettings,
  pluginLogger,
  within,
  type ExtensionPatch,
  type ExtensionRowValue,
  type MethodAnswer,
  type PluginHost,
  type PluginHostDeps,
  type GuardRecords,
  type MissingGuard,
  type PluginStatus,
  type SessionExtensions,
} from "./host/index.ts";
export {
  bundledFolder,
  defaultWorkspace,
  describedSections,
  knownNames,
  findPlugin,
  hostPackage,
  isPluginId,
  isWaiting,
  pluginIssues,
  refusedSettings,
  writtenConfig,
  readInventory,
  switchPlugin,
  type Inventory,
  type InventoryOptions,
} from "./inventory/index.ts";
export { createHostPackages, createModuleLoader, type ModuleLoader } from "./load/index.ts";
export type { PluginDiagnostic, PluginEntry, PluginManifest, PluginOrigin } from "./record.ts";
export {
  createTools,
  matchCommand,
  needsGatewayToken,
  runCommand,
  type Owner,
  type Registration,
  type Registries,
  type RouteRegistration,
} from "./registry/index.ts";
export { createPluginRuntime, createStateDatabases, type RuntimePorts } from "./runtime/index.ts";
export { bindSdkHost } from "./sdk/host-binding.ts";
export type { RuntimeChannelPairing, RuntimeChannelRouting, RuntimeChannelSession } from "./sdk/types/index.ts";
export type { DevicePairingPort } from "./sdk/device-pairing.ts";
export { hasLogTransports, publishLogRecord } from "./sdk/log-transports.ts";
export { recoverInstalls } from "./install/journal.ts";
export type {
  BuiltinScan,
  Finding,
  InstallDeps,
  InstallRecord,
  InstallRequest,
  InstallResult,
  UninstallRequest,
  UninstallResult,
  UpdateOutcome,
  UpdateRequest,
} from "./install/index.ts";
export { inventoryOptions } from "./inventory/gateway-inventory.ts";
export { issuesOfPlugins, pluginAdmin, type PluginAdminDeps } from "./running/admin.ts";
export { channelTable, createPlugins, type PluginFacts, type Plugins, type PluginsDeps } from "./running/create-plugins.ts";
export { judgeNames } from "./running/names.ts";
export { pluginTools } from "./running/plugin-tools.ts";
export { pluginPorts } from "./running/sections.ts";
export type { CommandHost } from "./running/command-host.ts";
export type { RunningPlugins } from "./running/open-plugins.ts";
export type { TrialProgram, TriedPlugin, UnloadablePlugin } from "./running/trial.ts";
export { loadCommandHost, loadCreate, loadInstall, loadNames, loadOpenPlugins, loadPluginTrial } from "./lazy.ts";
