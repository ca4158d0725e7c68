/** Imports a plugin's code: TypeScript or JavaScript, ESM or CommonJS, with the host's SDK in the place of `openclaw/plugin-sdk`. */
export { createModuleLoader, type ModuleLoader } from "./loader.ts";
export { createHostPackages } from "./host-packages.ts";
export type { ImportedFile, LoadedModule, PluginDefinition } from "./definition.ts";
