import type { SessionEntry } from "../../protocol/index.ts";
import type { NoInput } from "./input.ts";

export interface SessionRow {
  readonly key: string;
  readonly agentId: string;
  /** Increases with each change; pass it back to detect concurrent writes. */
  readonly version: number;
  readonly entry: SessionEntry;
}

export interface SessionFilter {
  readonly agentId?: string | undefined;
  readonly channel?: string | undefined;
  readonly chatType?: string | undefined;
  /** Changed at or after this time. */
  readonly activeSince?: number | undefined;
  readonly label?: string | undefined;
  readonly spawnedBy?: string | undefined;
  /** Part of the key, session id, label, display name or subject, in any case. */
  readonly search?: string | undefined;
  readonly keyPrefix?: string | undefined;
  /** Only sessions of jobs, webhooks, sub-agents and heartbeats, or only the others. */
  readonly automation?: boolean | undefined;
  /** Only those that are archived in lists, or only the others. */
  readonly archived?: boolean | undefined;
  /** Only those that are pinned, or only the others. */
  readonly pinned?: boolean | undefined;
  /** Only those in a folder, or only the others. */
  readonly filed?: boolean | undefined;
  /** Only those in this folder. */
  readonly folder?: string | undefined;
  /** Keys to exclude; only the first two are used. */
  readonly except?: readonly string[] | undefined;
  /** Default: newest change first. */
  readonly order?: "newest" | "oldest" | "key" | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** With the order `newest`: only what comes after this session. Unlike an offset it costs the same on every page. */
  readonly after?: { readonly updatedAt: number; readonly key: string } | undefined;
}

/** A session with its display fields. */
export interface ShownSession extends SessionRow {
  /** Display name, the same everywhere. */
  readonly name: string;
  /** From its first message; undefined when it has none yet. */
  readonly title?: string | undefined;
  /** The last message, if requested. */
  readonly last?: string | undefined;
}

export interface SessionsWrites {
  /** Writes the whole entry. With `version` only over that version (0 = it must not exist), else `CONFLICT`. */
  "sessions.put": {
    input: { readonly key: string; readonly agentId: string; readonly entry: SessionEntry; readonly version?: number | undefined };
    result: { readonly version: number };
  };
  /** Changes single fields; null removes one. `NOT_FOUND` without an entry, `CONFLICT` when `version` is not the current one. */
  "sessions.patch": {
    input: { readonly key: string; readonly patch: Readonly<Record<string, unknown>>; readonly version?: number | undefined };
    result: SessionRow;
  };
  /** The same without returning the whole entry, which may be long. */
  "sessions.merge": {
    input: { readonly key: string; readonly patch: Readonly<Record<string, unknown>>; readonly version?: number | undefined };
    result: { readonly version: number };
  };
  /** Changes nothing. `CONFLICT` when `version` is not the current one (0 = it must not exist), which refuses the whole commit. */
  "sessions.expect": { input: { readonly key: string; readonly version: number }; result: void };
  "sessions.delete": { input: { readonly key: string; readonly version?: number | undefined }; result: { readonly deleted: boolean } };
  /** Moves the entry, and everything else stored under the key, to another key. `CONFLICT` when that key is in use. */
  "sessions.rename": { input: { readonly from: string; readonly to: string; readonly version?: number | undefined }; result: { readonly version: number } };
}

export interface SessionsReads {
  "sessions.get": { input: { readonly key: string }; result: SessionRow | undefined };
  /** Keys that point to a session id. */
  "sessions.bySessionId": { input: { readonly sessionId: string }; result: readonly SessionRow[] };
  "sessions.byLabel": { input: { readonly label: string; readonly agentId?: string | undefined }; result: readonly SessionRow[] };
  /** `total` counts all matches, regardless of the limit. Entries come without their prompt report and list of skills. */
  "sessions.list": { input: SessionFilter; result: { readonly rows: readonly SessionRow[]; readonly total: number } };
  /**
   * Sessions with their display fields. Each word of `search` is looked up in the name, title, key, session id and, with `last`, the last message;
   * a word that starts with `agent:` in keys only.
   */
  "sessions.shown": {
    input: SessionFilter & { readonly last?: boolean | undefined };
    result: { readonly rows: readonly ShownSession[]; readonly total: number };
  };
  /** Folders with the sessions in them that are not archived, by name. */
  "sessions.folders": { input: NoInput; result: readonly { readonly name: string; readonly sessions: number }[] };
  /** Display names of sessions, also of those that do not exist. */
  "sessions.names": { input: { readonly keys: readonly string[] }; result: readonly { readonly key: string; readonly name: string }[] };
}

/** Applies a change of single fields to an entry; null removes one. */
export function patchedEntry(entry: SessionEntry, patch: Readonly<Record<string, unknown>>): SessionEntry {
  const changed: SessionEntry & Record<string, unknown> = { ...entry, ...patch };
  for (const [field, value] of Object.entries(changed)) if (value === null || value === undefined) delete changed[field];
  return changed;
}
