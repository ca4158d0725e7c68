/** Imports a plugin's code: TypeScript or JavaScript, ESM or CommonJS, with the host's SDK in the place of `openclaw/plugin-sdk`. */
export { createModuleLoader, type ModuleLoader, type ModuleLoaderDeps } from "./loader.ts";
export { createHostPackages, type HostPackages, type HostPackagesOptions } from "./host-packages.ts";
export type { LoadedModule, MissingNames, PluginDefinition, PluginFailure } from "./definition.ts";
