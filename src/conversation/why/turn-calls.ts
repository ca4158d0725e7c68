import { textOf } from "../../base/message-text.ts";
import type { Redactor } from "../../base/redaction.ts";
import { parseTranscriptLine } from "../../protocol/index.ts";
import { transcriptFile, type EntryRow, type TranscriptRow, type TurnRow } from "../../store/index.ts";
import type { StoryStore } from "./story.ts";
import { askedOf, gaveOf, type Asked, type Gave } from "./call-words.ts";

/** What the transcript holds of a call, fit to be shown. */
export interface TurnCall {
  readonly asked?: Asked;
  readonly gave?: Gave;
}

const PAGE = 100;
/** So many lines of a turn are looked at. */
const MOST_LINES = 1000;
/** A turn's first line may be a moment older than its row. */
const SLACK_MS = 1000;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

function entryOf({ line }: EntryRow): { readonly at: number; readonly message: Fields } {
  const parsed = parseTranscriptLine(line);
  const entry: Fields = parsed?.kind === "entry" ? parsed.entry : {};
  const at = typeof entry["timestamp"] === "string" ? Date.parse(entry["timestamp"]) : Number.NaN;
  return { at, message: fieldsOf(entry["message"]) };
}

/** Where the lines of a moment begin. Lines are in the order of time, so that it is found by halving. */
async function positionOf(store: StoryStore, { file, lines }: TranscriptRow, since: number): Promise<number> {
  let [low, high] = [0, lines - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await store.read("transcripts.page", { file, after: middle, limit: 1 });
    if (row && entryOf(row).at < since) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The transcript that a turn wrote to, and whether its lines can be asked for by their place. */
async function transcriptOf(store: StoryStore, turn: TurnRow): Promise<{ readonly row: TranscriptRow; readonly live: boolean } | undefined> {
  const session = await store.read("sessions.get", { key: turn.sessionKey });
  if (!session) return undefined;
  const { agentId, entry } = session;
  const rows = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const main = transcriptFile(agentId, entry.sessionId);
  const then = rows.filter(({ createdAt, archivedAt }) => createdAt <= (turn.endedAt ?? Infinity) && (archivedAt === null || archivedAt >= turn.startedAt));
  const row = then.find(({ file }) => file === main) ?? then.findLast(({ archivedAt }) => archivedAt === null) ?? then.at(-1);
  return row && { row, live: row.file === main && row.archivedAt === null };
}

/** What the calls of a turn were asked and gave, by their ids. What a plugin kept out of the transcript is not shown here either. */
export async function callsOfTurn(store: StoryStore, turn: TurnRow, redactor: Pick<Redactor, "text" | "value">): Promise<ReadonlyMap<string, TurnCall>> {
  const calls = new Map<string, TurnCall>();
  const found = await transcriptOf(store, turn);
  if (!found) return calls;
  const { row, live } = found;
  const note = (id: unknown, call: TurnCall): void => {
    if (typeof id === "string") calls.set(id, { ...calls.get(id), ...call });
  };
  let after = await positionOf(store, row, turn.startedAt - SLACK_MS);
  for (let read = 0; read < MOST_LINES; read += PAGE) {
    const rows = await store.read("transcripts.page", { file: row.file, after, limit: PAGE });
    for (const line of rows) {
      const { at, message } = entryOf(line);
      if (turn.endedAt !== null && at > turn.endedAt) return calls;
      if (message["role"] === "toolResult") note(message["toolCallId"], { gave: gaveOf(message, textOf(message), redactor, live ? line.seq : undefined) });
      const content: readonly unknown[] = message["role"] === "assistant" && Array.isArray(message["content"]) ? message["content"] : [];
      for (const { type, id, arguments: args } of content.map(fieldsOf)) if (type === "toolCall") note(id, { asked: askedOf(args, redactor) });
    }
    if (rows.length < PAGE) break;
    after = rows.at(-1)?.seq ?? after;
  }
  return calls;
}
