import type { SessionEntry } from "../protocol/index.ts";
import type { Write } from "./areas/index.ts";

/** Applies a change of single fields to an entry; null removes one. */
export function patchedEntry(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): SessionEntry {
  return Object.fromEntries(Object.entries({ ...entry, ...patch }).filter(([, value]) => value !== null && value !== undefined)) as unknown as SessionEntry;
}

/** Keys of the sessions whose entries a write changes; undefined when they cannot be told from it. */
export function changedKeys([kind, input]: Write): readonly string[] | undefined {
  if (kind === "sessions.put" || kind === "sessions.patch" || kind === "sessions.merge" || kind === "sessions.delete") return [input.key];
  return kind === "sessions.rename" ? undefined : [];
}
