import { shownText, type MessageText } from "../../base/message-text.ts";
import { isRecord } from "../../base/records.ts";
import { parseTranscriptLine } from "../../protocol/index.ts";
import type { ConversationRow, EntryRow, Inspection } from "../../store/index.ts";
import { LANGUAGES } from "../text/languages.ts";
import { MAX_POSITIONS, type IndexDatabase } from "../storage/database.ts";
import type { Passage, Passages } from "../storage/passages.ts";
import { inTransaction, removeDocument, type Steps } from "./sync-notes.ts";

export interface TranscriptsSync {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly store: Inspection;
  readonly agentId: string;
  /** How many lines of transcripts are not indexed yet, as far as is known. */
  readonly progress: { left: number };
}

interface DocumentRow {
  readonly id: number;
  readonly path: string;
  readonly next_line: number;
  readonly session_key: string | null;
  readonly session_id: string;
  readonly language: number;
  readonly passages: number;
}

const COLUMNS = "id, path, next_line, session_key, session_id, language, passages";
/** Lines read at once, and messages indexed in one transaction: a twentieth of a second of work. Most of the cost of a small one is its commit. */
const PAGE = 1000;
const LISTED = 2000;
/** A longer message is indexed up to here. */
const MAX_TEXT = 20_000;

/** Deleted conversations are not searched while their files wait for removal. */
const isDeleted = (file: string): boolean => file.includes(".deleted.");

const SPEAKER = /^([^\s:][^:\n]{0,39}): (?=\S)/;
export const isGroup = (sessionKey: string | null): boolean => sessionKey !== null && /:(?:group|channel|thread):/.test(sessionKey);

/** What a person or the assistant said, as the one passage that it is. */
export function passageOf(row: EntryRow, group: boolean): Passage | undefined {
  if (row.type !== "message") return undefined;
  const line = parseTranscriptLine(row.line);
  const entry = line?.kind === "entry" ? line.entry : undefined;
  const message = entry?.["message"];
  if (!isRecord(message)) return undefined;
  const role = message["role"];
  // Texts of other sessions, and prompts of the gateway itself, are nobody's words here.
  if ((role !== "user" && role !== "assistant") || message["provenance"] !== undefined) return undefined;
  const whole = shownText(message satisfies MessageText).slice(0, MAX_TEXT);
  const speaker = group && role === "user" ? SPEAKER.exec(whole)?.[1] : undefined;
  const text = speaker === undefined ? whole : whole.slice(speaker.length + 2);
  if (text.trim() === "") return undefined;
  const at = typeof entry?.timestamp === "string" ? Date.parse(entry.timestamp) : Number.NaN;
  const number = row.seq + 1;
  return {
    first: number,
    last: number,
    at: Number.isNaN(at) ? null : Math.floor(at / 1000),
    role,
    entry: row.id,
    about: speaker ?? null,
    text,
  };
}

function documentFor(index: IndexDatabase, { file, sessionId, sessionKey }: ConversationRow): DocumentRow {
  const find = index.sql(`SELECT ${COLUMNS} FROM documents WHERE source = 'sessions' AND path = ?`);
  const found = find.get(file) as DocumentRow | undefined;
  if (found) return found;
  index.sql("INSERT INTO documents (source, path, session_id, session_key) VALUES ('sessions', ?, ?, ?)").run(file, sessionId, sessionKey);
  return find.get(file) as unknown as DocumentRow;
}

/** The first line of a transcript that is not indexed. What another step did since is seen. */
function progressOf(sync: TranscriptsSync, conversation: ConversationRow): DocumentRow {
  const { index } = sync;
  const document = documentFor(index, conversation);
  if (document.session_key !== conversation.sessionKey && conversation.sessionKey !== null) {
    index.sql("UPDATE documents SET session_key = ? WHERE id = ?").run(conversation.sessionKey, document.id);
  }
  if (document.next_line <= conversation.lines) return document;
  // It is shorter than it was: another transcript under the same name.
  removeDocument(sync, document.id);
  return documentFor(index, conversation);
}

/** Indexes what a transcript has that the index does not have. */
export function* syncTranscript(sync: TranscriptsSync, conversation: ConversationRow): Steps<number> {
  const { index, passages, store } = sync;
  let added = 0;
  for (;;) {
    const document = progressOf(sync, conversation);
    if (document.next_line >= conversation.lines || document.passages >= MAX_POSITIONS) return added;
    const group = isGroup(conversation.sessionKey ?? document.session_key);
    const rows = store.read("transcripts.page", { file: conversation.file, after: document.next_line - 1, limit: PAGE });
    const last = rows.at(-1);
    if (!last) return added;
    const found = rows.flatMap((row) => passageOf(row, group) ?? []);
    inTransaction(sync, () => {
      const done = passages.add({ id: document.id, language: LANGUAGES[document.language] ?? "en", passages: document.passages }, found);
      index
        .sql("UPDATE documents SET next_line = ?, passages = ?, language = ? WHERE id = ?")
        .run(last.seq + 1, done.passages, LANGUAGES.indexOf(done.language), document.id);
    });
    added += found.length;
    sync.progress.left = Math.max(0, sync.progress.left - rows.length);
    yield;
  }
}

/** Whether a passage still says what its transcript says, on the branch that is in use. */
export function isInTranscript(store: Inspection, file: string, sessionKey: string | null, passage: Pick<Passage, "first" | "entry" | "text">): boolean {
  const [row] = store.read("transcripts.page", { file, after: passage.first - 2, limit: 1 });
  if (row?.id !== passage.entry || isDeleted(file) || passageOf(row, isGroup(sessionKey))?.text !== passage.text) return false;
  return store.read("transcripts.onBranch", { file, seqs: [row.seq] })[0] === true;
}

/** A transcript was renamed when its session began a new one: its passages stay as they are. */
function adopt(index: IndexDatabase, document: DocumentRow, renamed: ConversationRow): void {
  index.sql("UPDATE documents SET path = ?, session_key = coalesce(?, session_key) WHERE id = ?").run(renamed.file, renamed.sessionKey, document.id);
}

interface Waiting {
  readonly row: ConversationRow;
  /** That the index does not have. */
  readonly lines: number;
}

/** Short transcripts share a transaction: most of the cost of a short one is its commit. */
function* syncTogether(sync: TranscriptsSync, waiting: readonly Waiting[]): Steps<number> {
  let added = 0;
  let batch: ConversationRow[] = [];
  let size = 0;
  const whole = (row: ConversationRow): number => {
    const steps = syncTranscript(sync, row);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };
  const commit = (): void => {
    const rows = batch;
    [batch, size] = [[], 0];
    if (rows.length > 0) inTransaction(sync, () => rows.forEach((row) => (added += whole(row))));
  };
  for (const { row, lines } of waiting) {
    if (size > 0 && size + lines > PAGE) {
      commit();
      yield;
    }
    if (lines > PAGE) added += yield* syncTranscript(sync, row);
    else {
      batch.push(row);
      size += lines;
    }
  }
  commit();
  return added;
}

/** Compares all transcripts of the agent with the index, and indexes what is new. */
export function* syncTranscripts(sync: TranscriptsSync): Steps<{ readonly added: number; readonly removed: number }> {
  const { index, store, agentId } = sync;
  const rows = index.sql(`SELECT ${COLUMNS} FROM documents WHERE source = 'sessions'`).all() as unknown as DocumentRow[];
  const left = new Map(rows.map((row) => [row.path, row]));
  const waiting: Waiting[] = [];
  const fresh: ConversationRow[] = [];
  for (let after = 0; ;) {
    const page = store.read("transcripts.conversations", { agentId, after, limit: LISTED });
    for (const row of page) {
      if (isDeleted(row.file)) continue;
      const before = left.get(row.file);
      left.delete(row.file);
      if (!before) fresh.push(row);
      else if (before.next_line !== row.lines || (row.sessionKey !== null && before.session_key !== row.sessionKey))
        waiting.push({ row, lines: row.lines - before.next_line });
    }
    const last = page.at(-1);
    if (!last || page.length < LISTED) break;
    after = last.n;
    yield;
  }
  for (const row of fresh) {
    const former =
      row.archivedAt === null ? undefined : left.values().find(({ path, session_id }) => session_id === row.sessionId && row.file.startsWith(path));
    if (former) {
      adopt(index, former, row);
      left.delete(former.path);
    }
    waiting.push({ row, lines: row.lines - (former?.next_line ?? 0) });
  }
  let removed = 0;
  for (const { id } of left.values()) {
    removeDocument(sync, id);
    removed += 1;
    yield;
  }
  sync.progress.left = waiting.reduce((sum, { lines }) => sum + Math.max(0, lines), 0);
  // The newest conversations first: they are asked about most.
  const added = yield* syncTogether(sync, waiting.toReversed());
  sync.progress.left = 0;
  return { added, removed };
}
