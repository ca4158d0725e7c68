/**
 * The memory index, its search and its embedders.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
