/**
 * The words all rooms share: what a transcript line and a session entry look like, and (with the gateway) frames, methods and events.
 * The door of the room.
 */
export type { SessionEntry } from "./session-entry.ts";
export { parseTranscriptLine, type TranscriptLine, type TranscriptHeader, type TranscriptEntry } from "./transcript.ts";
