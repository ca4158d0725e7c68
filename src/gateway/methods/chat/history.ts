import { withoutPrompt } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import { type EntryRow, type Store } from "../../../store/index.ts";
import { newestRows } from "../../../sessions/index.ts";
import { entryOf, messageOfRow, type Message } from "../sessions/transcripts.ts";

const MAX_TEXT = 12_000;
const CUT = "\n...(truncated)...";
const MAX_MESSAGE_BYTES = 128 * 1024;
const MAX_TOTAL_BYTES = 6 * 1024 * 1024;
const OMITTED = "[chat.history omitted: message too large]";

type Shown = Record<string, unknown>;

/** A message with its bytes in an answer. */
interface Measured {
  readonly message: Shown;
  readonly size: number;
}

const measured = (message: Shown): Measured => ({ message, size: Buffer.byteLength(JSON.stringify(message)) });

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}${CUT}` : text);

/** Cuts long texts anywhere in a tool call's arguments. */
function cutWithin(value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (Array.isArray(value)) return value.map(cutWithin);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutWithin(item)]));
}

function shownBlock(block: unknown, message: Message, first: boolean): unknown {
  if (!isRecord(block)) return block;
  const { thinkingSignature: _signature, ...shown }: Shown = block;
  if (shown["type"] === "image" && typeof shown["data"] === "string") {
    const { data, ...rest } = shown;
    return { ...rest, omitted: true, bytes: Buffer.byteLength(data, "base64") };
  }
  if (typeof shown["text"] === "string") shown["text"] = cut(message.role === "user" && first ? withoutPrompt(shown["text"], message) : shown["text"]);
  for (const key of ["thinking", "partialJson"]) if (typeof shown[key] === "string") shown[key] = cut(shown[key]);
  if ("arguments" in shown) shown["arguments"] = cutWithin(shown["arguments"]);
  return shown;
}

function measuredMessage(message: Message): Measured {
  const { details: _details, usage: _usage, cost: _cost, openclawVerbatim: _verbatim, ...shown }: Shown = { ...message };
  const { content } = shown;
  if (typeof content === "string") shown["content"] = [{ type: "text", text: cut(message.role === "user" ? withoutPrompt(content, message) : content) }];
  else if (Array.isArray(content)) shown["content"] = content.map((block, index) => shownBlock(block, message, index === 0));
  const whole = measured(shown);
  if (whole.size <= MAX_MESSAGE_BYTES) return whole;
  return measured({
    role: shown["role"],
    ...(shown["timestamp"] === undefined ? {} : { timestamp: shown["timestamp"] }),
    content: [{ type: "text", text: OMITTED }],
    __openclaw: { truncated: true, reason: "oversized" },
  });
}

/** A stored message as clients see it. */
export const shownMessage = (message: Message): Shown => measuredMessage(message).message;

function shownRow(row: EntryRow): readonly Measured[] {
  if (row.type === "compaction") {
    const at = Date.parse(String(entryOf(row)?.timestamp));
    const marker = { kind: "compaction", ...(row.id === null ? {} : { id: row.id }) };
    return [measured({ role: "system", content: [{ type: "text", text: "Compaction" }], ...(Number.isNaN(at) ? {} : { timestamp: at }), __openclaw: marker })];
  }
  const message = messageOfRow(row);
  return message ? [measuredMessage(message)] : [];
}

/** The newest messages of a transcript, oldest first, within the limits of one answer. */
export async function readHistory(store: Store, file: string, limit: number): Promise<readonly Shown[]> {
  const found: Shown[] = [];
  let bytes = 2;
  for await (const row of newestRows(store, file, Infinity)) {
    for (const { message, size } of shownRow(row)) {
      bytes += size + 1;
      if (bytes > MAX_TOTAL_BYTES) return found.reverse();
      found.push(message);
    }
    if (found.length >= limit) break;
  }
  return found.reverse();
}
