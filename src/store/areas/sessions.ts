import type { SessionEntry } from "../../protocol/index.ts";

export interface SessionRow {
  readonly key: string;
  readonly agentId: string;
  /** Grows with each change; give it back to be told when somebody else was faster. */
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
  /** Keys that are left out; the first two count. */
  readonly except?: readonly string[] | undefined;
  /** Default: newest change first. */
  readonly order?: "newest" | "oldest" | "key" | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** With the order `newest`: only what comes after this session. Unlike an offset it costs the same on every page. */
  readonly after?: { readonly updatedAt: number; readonly key: string } | undefined;
}

/** A session with what people see of it. */
export interface ShownSession extends SessionRow {
  /** The same everywhere. */
  readonly name: string;
  /** How it began; undefined when nothing was said yet. */
  readonly title?: string | undefined;
  /** What was said last, when it was asked for. */
  readonly last?: string | undefined;
}

export interface SessionsWrites {
  /** Writes the whole entry. With `version` only over that one (0 = there must be none), else `CONFLICT`. */
  "sessions.put": {
    input: { readonly key: string; readonly agentId: string; readonly entry: SessionEntry; readonly version?: number | undefined };
    result: { readonly version: number };
  };
  /** Changes single fields, null takes one away. `NOT_FOUND` without an entry, `CONFLICT` when `version` is not the current one. */
  "sessions.patch": {
    input: { readonly key: string; readonly patch: Readonly<Record<string, unknown>>; readonly version?: number | undefined };
    result: SessionRow;
  };
  /** The same without telling the whole entry, which may be long. */
  "sessions.merge": {
    input: { readonly key: string; readonly patch: Readonly<Record<string, unknown>>; readonly version?: number | undefined };
    result: { readonly version: number };
  };
  /** Changes nothing. `CONFLICT` when `version` is not the current one (0 = there must be none), and the commit is refused with it. */
  "sessions.expect": { input: { readonly key: string; readonly version: number }; result: void };
  "sessions.delete": { input: { readonly key: string; readonly version?: number | undefined }; result: { readonly deleted: boolean } };
  /** Moves the entry, and what else hangs on the key, to another key. `CONFLICT` when that one is taken. */
  "sessions.rename": { input: { readonly from: string; readonly to: string; readonly version?: number | undefined }; result: { readonly version: number } };
}

export interface SessionsReads {
  "sessions.get": { input: { readonly key: string }; result: SessionRow | undefined };
  /** Keys that point at a session id. */
  "sessions.bySessionId": { input: { readonly sessionId: string }; result: readonly SessionRow[] };
  "sessions.byLabel": { input: { readonly label: string; readonly agentId?: string | undefined }; result: readonly SessionRow[] };
  /** `total` counts what matches, whatever the limit. Entries come without the report of their prompt and their list of skills. */
  "sessions.list": { input: SessionFilter; result: { readonly rows: readonly SessionRow[]; readonly total: number } };
  /**
   * Sessions as people see them. Each word of `search` is looked for in the name, how it began, the key, the session id and, with `last`, what was said
   * last; one that begins with `agent:` in keys alone.
   */
  "sessions.shown": {
    input: SessionFilter & { readonly last?: boolean | undefined };
    result: { readonly rows: readonly ShownSession[]; readonly total: number };
  };
  /** What sessions are called, also those that are not there. */
  "sessions.names": { input: { readonly keys: readonly string[] }; result: readonly { readonly key: string; readonly name: string }[] };
}
