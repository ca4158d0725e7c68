/**
 * What extends the gateway: discovery, manifests, enable state, loader, registries, host, install; the public SDK stands in `sdk/`.
 * The door of the room. Importing it loads no plugin and reads no file; rooms above import it lazily, so that a gateway without plugins pays nothing.
 */
import type * as create from "./create/index.ts";
import type * as install from "./install/index.ts";

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
/** Installing, updating and uninstalling: loaded by who needs it. */
export async function loadInstall(): Promise<typeof install> {
  return import("./install/index.ts");
}
/** Beginning a plugin: loaded by who needs it. */
export async function loadCreate(): Promise<typeof create> {
  return import("./create/index.ts");
}
export { inventoryOptions } from "./inventory/gateway-inventory.ts";
