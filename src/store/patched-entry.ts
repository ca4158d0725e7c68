import type { SessionEntry } from "../protocol/index.ts";

/** Applies a change of single fields to an entry; null removes one. */
export function patchedEntry(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): SessionEntry {
  return Object.fromEntries(Object.entries({ ...entry, ...patch }).filter(([, value]) => value !== null && value !== undefined)) as unknown as SessionEntry;
}
