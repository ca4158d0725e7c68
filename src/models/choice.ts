/** The part of the module that knows models without calling them. */
export * from "./catalogue/index.ts";
export * from "./discovery/index.ts";
export * from "./providers/index.ts";
export * from "./selection/index.ts";
