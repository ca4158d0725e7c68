export { listFreeModels, paramsOf, rankScanned, type FreeModel, type Scanned, type ScanFilter } from "./free-models.ts";
