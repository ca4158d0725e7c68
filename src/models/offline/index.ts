export { createOfflineModel, type OfflineModelDeps } from "./model.ts";
export { OFFLINE_MODEL } from "./entry.ts";
