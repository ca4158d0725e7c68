/**
 * The `sessions.json` of each agent, as documented: written for other programs, and read when another program wrote it. Entry point of this part of the
 * store.
 */
export { createSessionIndex, followTranscripts, type SessionIndex } from "./session-index.ts";
export type { TouchedSession } from "./import-changes.ts";
