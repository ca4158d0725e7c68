import { filesOf } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import type { ChatEntry, Usage } from "../../../protocol/index.ts";
import { CUSTOM } from "../../../sessions/index.ts";
import type { EntryRow, TurnSpan } from "../../../store/index.ts";
import { shownMessage } from "../chat/history.ts";
import { shownValue } from "../../runs/tool-events.ts";
import { asNote, withoutSystemLines } from "./system-lines.ts";
import { entryOf, shownWords, type Message } from "../sessions/transcripts.ts";

/** Characters of one text; as in `chat.history`. */
export const MAX_TEXT = 12_000;
const CUT = "\n...(truncated)...";

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** True when there is a text in it that is not shown whole. Pictures are not: they are left out on purpose. */
function isLong(value: unknown, key = ""): boolean {
  if (typeof value === "string") return value.length > MAX_TEXT && key !== "thinkingSignature";
  if (Array.isArray(value)) return value.some((item) => isLong(item));
  const fields = fieldsOf(value);
  if (!fields) return false;
  return Object.entries(fields).some(([name, item]) => !(name === "data" && fields["type"] === "image") && isLong(item, name));
}

function timeOf(timestamp: unknown): number {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : timestamp;
  return typeof at === "number" && at >= 0 ? at : 0;
}

const KINDS: Readonly<Record<string, ChatEntry["kind"]>> = {
  user: "user",
  assistant: "assistant",
  toolResult: "tool",
  tool: "tool",
  bashExecution: "tool",
};

function usageOf(usage: Partial<Usage> | undefined): Pick<ChatEntry, "usage"> {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = usage ?? {};
  if (input + output + cacheRead + cacheWrite === 0) return {};
  const money = cost?.total;
  return { usage: { input, output, cacheRead, cacheWrite, ...(typeof money === "number" && money > 0 ? { cost: money } : {}) } };
}

/** Fields whose values are texts, as far as they are there. */
function texts(message: Message, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(
    Object.entries(names).flatMap(([field, name]) => {
      const value = textOf(message[name]);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

const SAID = { model: "model", provider: "provider", stopReason: "stopReason", error: "errorMessage" } as const;
const DONE = { toolCallId: "toolCallId", toolName: "toolName" } as const;

/** What is left of a message that is too large to be shown: which calls it made. */
function skeleton(message: Message): readonly unknown[] {
  const blocks: readonly unknown[] = Array.isArray(message.content) ? message.content : [];
  const calls = blocks.filter((block) => isRecord(block)).filter(({ type }) => type === "toolCall");
  return [
    { type: "text", text: "[too large to be shown]" },
    ...calls.slice(0, 100).map((call) => ({ type: "toolCall", id: call["id"], name: call["name"], arguments: {} })),
  ];
}

function runOf(fields: Fields | undefined): Pick<ChatEntry, "runId"> {
  const runId = textOf(fields?.["runId"]);
  return runId === undefined ? {} : { runId };
}

/** What the gateway writes about a run in place of the model's answer names the run. */
function runNamedBy({ openclawAbort, idempotencyKey }: Message): Pick<ChatEntry, "runId"> {
  const [, runId] = /^(.+):assistant$/.exec(textOf(idempotencyKey) ?? "") ?? [];
  return runOf(fieldsOf(openclawAbort) ?? { runId });
}

type Body = Omit<ChatEntry, "seq" | "id" | "ts">;

function messageBody(message: Message): Body {
  const kind = KINDS[String(message.role)] ?? "note";
  const shown = shownMessage(message);
  const oversized = "__openclaw" in shown;
  const content: readonly unknown[] = oversized ? skeleton(message) : Array.isArray(shown["content"]) ? shown["content"] : [];
  const files = filesOf(message);
  return {
    kind,
    content: [...content],
    ...(files.length === 0 ? {} : { files: files.map(({ name, mimeType }) => ({ name, mimeType })) }),
    ...runNamedBy(message),
    ...(oversized || isLong(message.content) ? { cut: true } : {}),
    ...(kind === "assistant" ? { ...texts(message, SAID), ...usageOf(fieldsOf(message["usage"])) } : {}),
    ...(kind === "tool" ? { ...texts(message, DONE), isError: message["isError"] === true } : {}),
    ...(kind === "tool" && message["details"] !== undefined ? { details: shownValue(message["details"]) } : {}),
  };
}

function textBody(kind: ChatEntry["kind"], text: string): Body {
  const cut = text.length > MAX_TEXT;
  return { kind, content: [{ type: "text", text: cut ? `${text.slice(0, MAX_TEXT)}${CUT}` : text }], ...(cut ? { cut } : {}) };
}

/** What of an entry is shown; undefined for bookkeeping. */
function bodyOf(entry: Fields): Body | undefined {
  const { type } = entry;
  if (type === "message") {
    const message = shownWords(entry["message"]);
    return message && messageBody(message);
  }
  if (type === "compaction") return textBody("compaction", textOf(entry["summary"]) ?? "");
  if (type === "branch_summary") return textBody("note", textOf(entry["summary"]) ?? "");
  if (type === "custom_message" && entry["display"] !== false) return { ...messageBody({ role: "system", content: entry["content"] }), kind: "note" };
  const failure = type === "custom" && entry["customType"] === CUSTOM.promptError ? fieldsOf(entry["data"]) : undefined;
  const error = textOf(failure?.["error"]);
  return error === undefined ? undefined : { kind: "note", content: [], error: error.slice(0, MAX_TEXT), ...runOf(failure) };
}

/** A line of a transcript as a page shows it; undefined when it is not shown. */
export function shownEntry(row: EntryRow): ChatEntry | undefined {
  const entry = entryOf(row);
  const body = entry && bodyOf(entry);
  return body && { seq: row.seq, ...(row.id === null ? {} : { id: row.id }), ts: timeOf(entry.timestamp), ...withoutSystemLines(body) };
}

const WRITTEN_BY_US = "gateway-injected";

function spanOf(entry: ChatEntry, spans: readonly TurnSpan[], taken: ReadonlySet<TurnSpan>, before: TurnSpan | undefined): TurnSpan | undefined {
  const around = spans.filter(({ startedAt, endedAt }) => startedAt <= entry.ts && (endedAt === null || entry.ts <= endedAt));
  if (entry.kind !== "user") return around.find((span) => span === before) ?? around[0];
  // Something that was said begins a turn, unless it was said to one that ran.
  return around.find((span) => !taken.has(span)) ?? around[0];
}

/**
 * Entries with the turns that they belong to, and who had these begun. Turns of a session follow one another, so the time tells; where one began in the
 * millisecond in which another ended, the order does. `spans`: oldest first.
 */
export function withRuns(entries: readonly ChatEntry[], spans: readonly TurnSpan[]): ChatEntry[] {
  const taken = new Set<TurnSpan>();
  let before: TurnSpan | undefined;
  return entries.map((entry) => {
    if (entry.runId !== undefined || entry.model === WRITTEN_BY_US || entry.kind === "compaction") return entry;
    const span = spanOf(entry, spans, taken, before);
    before = span;
    if (!span) return entry;
    taken.add(span);
    const foreign = entry.kind === "user" && span.channel !== null && span.channel !== "gateway";
    const from = span.senderName ?? span.sender;
    return { ...asNote(entry, span), runId: span.id, ...(foreign ? { channel: span.channel, ...(from ? { from } : {}) } : {}) };
  });
}
