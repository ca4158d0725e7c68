import { AppError } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import { parseTranscriptLine, type TranscriptEntry } from "../../../protocol/index.ts";
import { transcriptFile, type EntryRow, type SessionRow, type Store, type TranscriptRow, type Write } from "../../../store/index.ts";

export interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
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

export function headerLine(sessionId: string, now: number): string {
  return JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(now).toISOString() });
}

export function entryOf(row: EntryRow): TranscriptEntry | undefined {
  const line = parseTranscriptLine(row.line);
  return line?.kind === "entry" ? line.entry : undefined;
}

export function messageOfRow(row: EntryRow): Message | undefined {
  if (row.type !== "message") return undefined;
  const message = entryOf(row)?.["message"];
  return typeof message === "object" && message !== null ? (message as Message) : undefined;
}

export function messagesOf(rows: readonly EntryRow[]): readonly Message[] {
  return rows.map(messageOfRow).filter((message) => message !== undefined);
}

/** The newest entries of the branch in use, oldest first. Files of the first format have no branches: there it is the end of the file. */
export async function newestEntries(store: Store, file: string, limit: number): Promise<readonly EntryRow[]> {
  const path = await store.read("transcripts.path", { file, limit });
  return path.length > 0 ? path : store.read("transcripts.tail", { file, limit });
}

/** Everything textual in a message, blocks joined by line breaks. */
export function textOf(message: Message): string {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: { type?: unknown; text?: unknown }) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}

/** `[Sun 2026-01-05 16:26 UTC] ` or a channel's envelope with a time in it. */
const ENVELOPE = /^\[[^\]\n]{0,200}\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}[^\]\n]{0,80}\] ?/;

/** A user's text without what was put in front of it for the model. */
export function withoutEnvelope(text: string): string {
  return text.replace(ENVELOPE, "");
}

/** What a person wrote or read, for titles and previews. */
export function shownText(message: Message): string {
  const text = textOf(message);
  return (message.role === "user" ? withoutEnvelope(text) : text).trim();
}

const MAX_RETRIES = 5;

/** Hangs a message below the newest entry, whoever else writes. Gives the entry's id. */
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
