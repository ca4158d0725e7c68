export { createPluginRuntimeStore, type PluginRuntimeStore } from "../entry/runtime-store.ts";
