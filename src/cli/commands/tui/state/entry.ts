import { isRecord } from "../../../../base/records.ts";
import type { MethodResult } from "../../../../protocol/index.ts";

/** One thing in the log that the gateway knows. */
export type Entry =
  | { readonly kind: "user"; readonly at: number; readonly text: string; readonly runId?: string | undefined; readonly from?: string | undefined }
  | {
      readonly kind: "assistant";
      readonly at: number;
      readonly text: string;
      readonly thinking: string;
      readonly error?: string | undefined;
      readonly aborted?: boolean;
    }
  | {
      readonly kind: "tool";
      readonly at: number;
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
      /** Undefined: there is none yet. */
      readonly output: string | undefined;
      readonly failed: boolean;
      readonly endedAt?: number | undefined;
    }
  | { readonly kind: "mark"; readonly at: number; readonly text: string };

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The text of content in any of its forms; what is no text is named. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: unknown) => {
      const { type, text } = fieldsOf(block);
      if (type === "text") return [textOf(text)];
      return type === "image" ? ["[image]"] : [];
    })
    .join("\n");
}

/** What a tool gave: its content, or whatever else it is. */
export function resultText(result: unknown): string {
  if (typeof result === "string") return result;
  const { content } = fieldsOf(result);
  const text = contentText(content ?? result);
  if (text !== "" || result === undefined || result === null || content !== undefined || Array.isArray(result)) return text;
  return JSON.stringify(result, null, 2);
}

function blocksOf(content: unknown, type: string): Fields[] {
  return Array.isArray(content) ? content.map(fieldsOf).filter((block) => block["type"] === type) : [];
}

/** A message, in no form of the wire. */
interface Item {
  readonly kind: "user" | "assistant" | "tool" | "mark";
  readonly at: number;
  readonly content: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly isError?: unknown;
  readonly runId?: string | undefined;
  readonly from?: string | undefined;
  readonly stopReason?: unknown;
  readonly error?: unknown;
}

function answerEntries(item: Item): Entry[] {
  const { at, content, stopReason, error } = item;
  const text = contentText(content);
  const thinking = blocksOf(content, "thinking")
    .map((block) => textOf(block["thinking"]))
    .join("\n");
  const aborted = stopReason === "aborted";
  const failure = textOf(error) || (stopReason === "error" ? "Model error" : "");
  const calls = blocksOf(content, "toolCall").map((block): Entry => ({
    kind: "tool",
    at,
    id: textOf(block["id"]),
    name: textOf(block["name"]),
    args: block["arguments"],
    output: undefined,
    failed: false,
  }));
  const silent = text === "" && thinking === "" && failure === "" && !aborted;
  return [...(silent ? [] : [{ kind: "assistant" as const, at, text, thinking, ...(failure === "" ? {} : { error: failure }), aborted }]), ...calls];
}

/** Entries in their order; results are shown with their calls. */
function entriesOf(all: readonly Item[]): Entry[] {
  const entries: Entry[] = [];
  const calls = new Map<string, number>();
  for (const item of all) {
    const { kind, at, content, runId, from } = item;
    if (kind === "user") entries.push({ kind, at, text: contentText(content), runId, from });
    else if (kind === "mark") entries.push({ kind, at, text: contentText(content) });
    else if (kind === "assistant") {
      for (const entry of answerEntries(item)) {
        if (entry.kind === "tool") calls.set(entry.id, entries.length);
        entries.push(entry);
      }
    } else {
      const id = textOf(item.toolCallId);
      const index = calls.get(id);
      const call = index === undefined ? undefined : entries[index];
      const outcome = { output: resultText(content), failed: item.isError === true, endedAt: at };
      if (index !== undefined && call?.kind === "tool") entries[index] = { ...call, ...outcome };
      else entries.push({ kind: "tool", at, id, name: textOf(item.toolName), args: undefined, ...outcome });
    }
  }
  return entries;
}

const KINDS: Readonly<Record<string, Item["kind"]>> = { user: "user", assistant: "assistant", toolResult: "tool", system: "mark" };

/** The log from `chat.history`. */
export function entriesOfHistory(messages: readonly unknown[]): Entry[] {
  return entriesOf(
    messages.map((message): Item => {
      const fields = fieldsOf(message);
      const { timestamp, content, errorMessage } = fields;
      return {
        ...fields,
        kind: KINDS[textOf(fields["role"])] ?? "mark",
        at: typeof timestamp === "number" ? timestamp : 0,
        content,
        error: errorMessage,
        runId: undefined,
      };
    }),
  );
}

/** The log from `chat.page`. */
export function entriesOfPage(page: MethodResult<"chat.page">["entries"]): Entry[] {
  return entriesOf(
    page.flatMap((entry): Item[] => {
      const marks = (entry.told ?? []).map((line): Item => ({ kind: "mark", at: entry.ts, content: line, runId: entry.runId }));
      if (entry.kind === "note" && entry.told !== undefined) return marks;
      const kind = entry.kind === "compaction" || entry.kind === "note" ? "mark" : entry.kind;
      const { ts, content, toolCallId, toolName, isError, runId, from, stopReason, error } = entry;
      const shown = entry.kind === "compaction" ? "Compaction" : content;
      return [...marks, { kind, at: ts, content: shown, toolCallId, toolName, isError, runId, from, stopReason, error }];
    }),
  );
}
