export {
  createCatalogue,
  isLocal,
  openCatalogue,
  type Catalogue,
  type CatalogueDeps,
  type CatalogueFilter,
  type ModelName,
  type OpenCatalogueDeps,
  type PluginProvider,
} from "./catalogue.ts";
export { loadTables, type FrozenTables } from "./frozen.ts";
export { DEFAULT_CONTEXT_WINDOW, entryOf, type ModelSettings, type ProviderSettings } from "./layer.ts";
export { modelsFileValue, readModelsFile, writeModelsFile, type ModelsFile, type ModelsFileInput } from "./models-json.ts";
