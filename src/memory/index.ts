/**
 * What agents know: an index over their notes and transcripts, and its search.
 * The entry point: nothing else in this folder is imported from outside.
 */
export { createMemory, type Memory, type MemoryStatus, type Search } from "./create-memory.ts";
export type { FoundMessage, FoundMessages, MessagesRequest } from "./search/messages.ts";
export type { MemoryDeps } from "./deps.ts";
export { memorySettings, type MemorySettings } from "./settings.ts";
export { citationOf, type Scope, type SearchAnswer, type SearchHit, type Source, type SyncReport } from "./types.ts";
export { noteItem } from "./notes/note-path.ts";
export { createNotebook, type Notebook, type NoteInfo, type NoteText } from "./notes/notebook.ts";
export {
  createFileVersions,
  createSeenFiles,
  hashOfText,
  type FileVersion,
  type FileVersions,
  type SeenFiles,
  type VersionBy,
} from "./versions/file-versions.ts";
export { passagesText } from "./injected.ts";
export { reasonsOf, understoodText } from "./reasons.ts";
export { shownTime, timeZoneOf, zonedIso } from "./zone.ts";
export { indexTime, statusReport } from "./status-report.ts";
export { createForgetting } from "./forget/forgetting.ts";
export { PREVIEW_HEADS } from "./forget/types.ts";
export type { Forgetting, ForgetReport, ForgetRequest, ForgetTarget, ForgottenItem } from "./forget/types.ts";
export { evaluate, parseQuestions, type EvalReport } from "./evaluate.ts";
export { recalledNotes, suggestionsOf, withSuggestion, type Suggestion } from "./suggest.ts";
