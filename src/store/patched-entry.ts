import type { SessionEntry } from "../protocol/index.ts";

/** An entry after a change of single fields: null takes one away. */
export function patchedEntry(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): SessionEntry {
  return Object.fromEntries(Object.entries({ ...entry, ...patch }).filter(([, value]) => value !== null && value !== undefined)) as unknown as SessionEntry;
}
