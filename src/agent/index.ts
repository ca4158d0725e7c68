/**
 * The turn: loop, prompt, workspace files, skills, compaction and flush, subagents.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
