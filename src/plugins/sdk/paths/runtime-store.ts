export { createPluginRuntimeStore, type PluginRuntimeStore } from "../runtime-store.ts";
