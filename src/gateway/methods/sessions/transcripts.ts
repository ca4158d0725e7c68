import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import { shownMessage, type MessageText } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import { parseTranscriptLine, type TranscriptEntry } from "../../../protocol/index.ts";
import { findSession } from "./keys.ts";
import { transcriptFile, type EntryRow, type SessionRow, type Store, type TranscriptRow, type Write } from "../../../store/index.ts";

export { shownText } from "../../../base/message-text.ts";

export interface Message extends MessageText {
  readonly [field: string]: unknown;
}

/** The transcripts of a session that are still written to, the main one first. */
export async function liveTranscripts(store: Store, { agentId, entry }: Pick<SessionRow, "agentId" | "entry">): Promise<readonly TranscriptRow[]> {
  const rows = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const main = transcriptFile(agentId, entry.sessionId);
  return rows.filter((row) => row.archivedAt === null).sort((a, b) => Number(b.file === main) - Number(a.file === main));
}

export async function liveFile(store: Store, session: Pick<SessionRow, "agentId" | "entry">): Promise<string | undefined> {
  return (await liveTranscripts(store, session))[0]?.file;
}

/** The line at a position of a session's transcript, and the session. */
export async function rowAt({ sessionKey, seq }: { readonly sessionKey: string; readonly seq: number }, deps: Parameters<typeof findSession>[1]) {
  const { session } = await findSession(sessionKey, deps);
  const file = session && (await liveFile(deps.store, session));
  const [row] = file === undefined ? [] : await deps.store.read("transcripts.page", { file, after: seq - 1, before: seq + 1, limit: 1 });
  return { session, row };
}

export function headerLine(sessionId: string, now: number): string {
  return JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(now).toISOString() });
}

export function entryOf(row: EntryRow): TranscriptEntry | undefined {
  const line = parseTranscriptLine(row.line);
  return line?.kind === "entry" ? line.entry : undefined;
}

/** The message of a row as people are shown it; undefined when it is none, or when plugins withheld all of it. */
export function messageOfRow(row: EntryRow): Message | undefined {
  return row.type === "message" ? shownWords(entryOf(row)?.["message"]) : undefined;
}

/** A stored message as people are shown it. */
export function shownWords(stored: unknown): Message | undefined {
  return isRecord(stored) ? shownMessage<Message>(stored) : undefined;
}

const MAX_RETRIES = 5;

/** Appends a message to the newest entry, also while others write. Returns the entry's id. */
export async function appendMessage(
  deps: { readonly store: Store; readonly ids: Ids },
  target: { readonly file: string; readonly at: number; readonly message: object; readonly before?: readonly Write[] },
): Promise<string> {
  const { store, ids } = deps;
  const { file, at, message, before = [] } = target;
  const id = ids.hex(4);
  for (let attempt = 0; ; attempt += 1) {
    const leaf = (await store.read("transcripts.get", { file }))?.leafId ?? null;
    const line = JSON.stringify({ type: "message", id, parentId: leaf, timestamp: new Date(at).toISOString(), message });
    try {
      await store.commit([...before, ["transcripts.append", { file, entries: [{ id, parentId: leaf, type: "message", at, line }], expectLeaf: leaf }]]);
      return id;
    } catch (error) {
      if (!(error instanceof AppError && error.code === "CONFLICT") || attempt === MAX_RETRIES) throw error;
    }
  }
}
