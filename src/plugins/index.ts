/**
 * What extends the gateway: discovery, manifests, enable state, loader, registries, host, install; the public SDK stands in `sdk/`.
 * The entry point. Importing it loads no plugin and reads no file; the code that runs plugins is loaded with the first that is enabled.
 */

export { pluginLogger } from "./host/api.ts";
export type { PluginHostDeps } from "./host/deps.ts";
export { refuseExits } from "./host/exits.ts";
export { catchFaults } from "./host/faults.ts";
export type { GuardRecords, MissingGuard } from "./host/guards.ts";
export { hookSettings } from "./host/hook-settings.ts";
export { createPluginHost, type PluginHost } from "./host/host.ts";
export { callMethod, type MethodAnswer } from "./host/method-call.ts";
export type { ExtensionPatch, ExtensionRowValue, SessionExtensions } from "./host/sessions.ts";
export type { PluginStatus } from "./host/status.ts";
export { within } from "./host/within.ts";
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
  imageMakers,
  mediaDescribers,
  matchCommand,
  needsGatewayToken,
  runCommand,
  type Owner,
  type Registration,
  type Registries,
  type RouteRegistration,
} from "./registry/index.ts";
export type { RuntimePorts } from "./runtime/ports.ts";
export { createPluginRuntime } from "./runtime/runtime.ts";
export { createStateDatabases } from "./runtime/state/databases.ts";
export { bindSdkHost } from "./sdk/host-binding.ts";
export type { RuntimeChannelPairing, RuntimeChannelRouting, RuntimeChannelSession } from "./sdk/types/index.ts";
export type { DevicePairingPort } from "./sdk/access/device-pairing.ts";
export { hasLogTransports, publishLogRecord } from "./sdk/diagnostics.ts";
export { recoverInstalls } from "./install/journal.ts";
export { recoverSkills } from "./skills/swap.ts";
export type {
  BuiltinScan,
  Finding,
  HookPackResult,
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
export { issuesOfPlugins, pluginAdmin, type PluginAdminDeps } from "./running/gateway-ports.ts";
export { channelTable, createPlugins, type PluginFacts, type Plugins, type PluginsDeps } from "./running/create-plugins.ts";
export { jobSnapshot } from "./running/cron-service.ts";
export { judgeNames } from "./running/names.ts";
export { pluginTools } from "./running/plugin-tools.ts";
export { pluginPorts } from "./running/gateway-ports.ts";
export type { CommandHost } from "./running/command-host.ts";
export type { InstalledSkill, InstallProgress, ProgramDeps, ProgramOutcome, SkillAdminDeps, SkillInstallDeps, SkillReview } from "./skills/index.ts";
export type { RunningPlugins } from "./running/open-plugins.ts";
export type { TrialProgram, TriedPlugin, UnloadablePlugin } from "./running/trial.ts";
export { loadCommandHost, loadCreate, loadInstall, loadJournal, loadNames, loadOpenPlugins, loadPluginTrial, loadSkillInstall } from "./lazy.ts";
