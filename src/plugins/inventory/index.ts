/**
 * What plugins there are, whether each is on and why, and what is wrong with them: read from manifests and the configuration, without
 * importing any plugin code.
 */
export { bundledFolder, hostPackage } from "./bundled-folder.ts";
export { readInventory, type Inventory, type InventoryOptions } from "./inventory.ts";
export { pluginIssues, refusedSettings, writtenConfig } from "./config-issues.ts";
export { isPluginId } from "./plugin-id.ts";
export { knownNames } from "./known-names.ts";
export { configSections, describedSections } from "./sections.ts";
export { findPlugin, switchPlugin } from "./switch.ts";
export { defaultWorkspace } from "./workspace.ts";
export { isWaiting } from "./waiting.ts";
