/**
 * Imports a state folder written by the reference system: session indexes, cron store, devices, subagent runs, transcripts; of newer
 * versions, the databases that hold the same. Nothing in the folder is deleted or changed. Entry point of this part of the store.
 */
export { importState, importTranscript } from "./import.ts";
export type { ImportOptions, ImportReport, ImportStep } from "./types.ts";
export { loadLooseJson } from "./loose-json.ts";
export { recordProgress } from "./progress.ts";
export { rowOf, type IndexSource } from "./session-index.ts";
export { agentOf, currentKey } from "./session-key.ts";
export { sourceName } from "./sources.ts";
