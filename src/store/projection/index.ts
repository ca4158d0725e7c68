/**
 * The JSONL files beside the database: the documented form of a transcript, always complete and readable by other programs, but never
 * authoritative. Entry point of this part of the store.
 */
export { createProjection } from "./projection.ts";
export { transcriptRow } from "./rows.ts";
export type { Projection, ProjectionDeps, ProjectionProblem, RepairAction, RepairReport } from "./types.ts";
export { createLineReader, PACKED_LINE, packLines, replacePacked, type LineReader } from "./packs.ts";
export { archivedName, isTranscriptFile, transcriptFile } from "./transcript-path.ts";
