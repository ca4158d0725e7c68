/**
 * The memory index, its search and its embedders.
 * The entry point of the module. Nothing is built here yet, so nothing is exported.
 */
export {};
