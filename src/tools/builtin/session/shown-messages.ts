import { shownMessage } from "../../../base/message-text.ts";
import { parseTranscriptLine } from "../../../protocol/index.ts";
import { newestRows } from "../../../sessions/index.ts";
import { transcriptFile, type EntryRow, type SessionRow, type Store } from "../../../store/index.ts";
import { isRecord } from "../../../base/records.ts";

/** Longest text of one block. */
const MAX_TEXT = 4000;
const CUT = "\n…(truncated)…";
/** Longest answer, as JSON. */
export const MAX_BYTES = 80 * 1024;
const OMITTED = { role: "assistant", content: "[sessions_history omitted: message too large]" };
/** Most rows of a transcript that are read for one answer. */
const MAX_ROWS = 20_000;
const MAX_DEPTH = 12;

export type ShownMessage = Readonly<Record<string, unknown>>;
type Fields = Record<string, unknown>;

/** Left out of blocks: provider's own words about them. */
const SIGNATURES = new Set(["thinkingSignature", "textSignature", "thoughtSignature"]);

/** Shows messages without secrets, signatures, numbers and pictures, and remembers whether a text was cut. */
function createScreen(redact: (text: string) => string) {
  let cut = false;
  const text = (value: string): string => {
    const clean = redact(value);
    if (clean.length <= MAX_TEXT) return clean;
    cut = true;
    return `${clean.slice(0, MAX_TEXT)}${CUT}`;
  };
  function inner(value: unknown, depth = 0): unknown {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH) return "…";
    if (Array.isArray(value)) return value.map((item) => inner(item, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(item, depth + 1)]));
  }
  function block(value: unknown): unknown {
    if (!isRecord(value)) return inner(value);
    const shown = Object.fromEntries(Object.entries(value).filter(([key]) => !SIGNATURES.has(key)));
    if (shown["type"] !== "image") return inner(shown);
    const { data, ...rest } = shown;
    return { ...rest, omitted: true, ...(typeof data === "string" ? { bytes: Buffer.byteLength(data, "base64") } : {}) };
  }
  return {
    wasCut: () => cut,
    message(message: Fields): ShownMessage {
      const { details: _details, usage: _usage, cost: _cost, content, ...rest } = message;
      const shown = Array.isArray(content) ? content.map(block) : inner(content);
      const fields = inner(rest);
      return { ...(isRecord(fields) ? fields : {}), ...(content === undefined ? {} : { content: shown }) };
    },
  };
}

export interface History {
  readonly messages: readonly ShownMessage[];
  /** Older ones did not fit. */
  readonly droppedMessages: boolean;
  readonly contentTruncated: boolean;
  readonly bytes: number;
}

export interface HistoryOptions {
  readonly limit: number;
  readonly includeTools: boolean;
  readonly redact: (text: string) => string;
  readonly maxBytes?: number;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The newest messages of a session's conversation, oldest first, as far as they fit. */
export async function readHistory(store: Pick<Store, "read">, session: SessionRow, options: HistoryOptions): Promise<History> {
  const file = await transcriptOf(store, session);
  if (file === undefined) return fitting([], options);
  const found: Fields[] = [];
  for await (const row of newestRows(store, file, MAX_ROWS)) {
    found.push(...messageOf(row, options.includeTools));
    if (found.length >= options.limit) break;
  }
  return fitting(found.reverse(), options);
}

/** From the newest back, as many as fit; a single one that does not is marked as such. */
function fitting(messages: readonly Fields[], { redact, maxBytes = MAX_BYTES }: HistoryOptions): History {
  const kept: ShownMessage[] = [];
  const screen = createScreen(redact);
  let bytes = 2;
  for (const message of messages.toReversed()) {
    const shown = screen.message(message);
    const size = bytesOf(shown) + 1;
    if (bytes + size > maxBytes) break;
    kept.unshift(shown);
    bytes += size;
  }
  if (kept.length === 0 && messages.length > 0) kept.push(OMITTED);
  const whole = kept.length === messages.length && kept[0] !== OMITTED;
  return { messages: kept, droppedMessages: !whole, contentTruncated: screen.wasCut(), bytes: bytesOf(kept) };
}

function messageOf(row: EntryRow, includeTools: boolean): readonly Fields[] {
  if (row.type !== "message") return [];
  const line = parseTranscriptLine(row.line);
  const message = line?.kind === "entry" ? line.entry["message"] : undefined;
  if (!isRecord(message)) return [];
  const shown = shownMessage(message);
  if (!shown) return [];
  return includeTools || (message["role"] !== "toolResult" && message["role"] !== "tool") ? [shown] : [];
}

/** The file that is still written to, the main one first. */
async function transcriptOf(store: Pick<Store, "read">, { agentId, entry }: SessionRow): Promise<string | undefined> {
  const rows = (await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId })).filter((row) => row.archivedAt === null);
  return (rows.find(({ file }) => file === mainFile(agentId, entry.sessionId)) ?? rows[0])?.file;
}

/** Where a session's transcript stands, relative to the state folder; undefined for an id that can be no part of a path. */
export function mainFile(agentId: string, sessionId: string): string | undefined {
  try {
    return transcriptFile(agentId, sessionId);
  } catch {
    return undefined;
  }
}
