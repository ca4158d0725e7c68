export { createCatalogue, isLocal, type Catalogue, type CatalogueDeps, type CatalogueFilter, type ModelName } from "./catalogue.ts";
export { loadTables, type FrozenTables } from "./frozen.ts";
export { DEFAULT_CONTEXT_WINDOW, entryOf, type ModelSettings, type ProviderSettings } from "./layer.ts";
export { modelsFileValue, readModelsFile, writeModelsFile, type ModelsFile, type ModelsFileInput } from "./models-json.ts";
export { openCatalogue, type OpenCatalogueDeps, type PluginProvider } from "./open.ts";
