export { openOverview } from "./open.ts";
export type { PluginFacts } from "./troubles.ts";
