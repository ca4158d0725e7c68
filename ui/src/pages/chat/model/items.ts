import { blocksOf, fieldsOf, saidIn, textOf, thoughtIn } from "./said.ts";
import type { ChatEntry } from "./state.ts";

/** A call of a tool in the transcript, with its result when that is there. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly startedAt: number;
  readonly result: ChatEntry | undefined;
}

/** Tokens and money of all answers of a turn. */
export interface TurnUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost: number | undefined;
}

interface Base {
  /** Stays the same as long as the item does. */
  readonly key: string;
}

export interface SaidItem extends Base {
  readonly kind: "user";
  readonly entry: ChatEntry;
  readonly text: string;
}

export interface AnswerItem extends Base {
  readonly kind: "answer";
  readonly entry: ChatEntry;
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly Call[];
  /** Why it failed, when it did. */
  readonly failed?: string | undefined;
  /** Of the whole turn, at its last answer. `asked`: what it answers. */
  readonly turn?: { readonly usage: TurnUsage | undefined; readonly asked: SaidItem | undefined } | undefined;
}

/** One thing in the log, by position. */
export type Item =
  | (Base & { readonly kind: "day"; readonly at: number })
  | SaidItem
  | AnswerItem
  /** A result whose call is not in the stretch. */
  | (Base & { readonly kind: "result"; readonly call: Call })
  | (Base & { readonly kind: "compaction"; readonly entry: ChatEntry; readonly text: string })
  /** `asked`: what was said before it, where it tells of a failure. */
  | (Base & { readonly kind: "note"; readonly entry: ChatEntry; readonly text: string; readonly asked?: SaidItem | undefined });

const dayOf = (at: number): string => new Date(at).toDateString();

function callsOf(entry: ChatEntry, results: ReadonlyMap<string, ChatEntry>): readonly Call[] {
  return blocksOf(entry.content, "toolCall").map((block) => {
    const id = textOf(block["id"]);
    return { id, name: textOf(block["name"]), args: block["arguments"], startedAt: entry.ts, result: results.get(id) };
  });
}

function added(usage: TurnUsage | undefined, more: ChatEntry["usage"]): TurnUsage | undefined {
  if (!more) return usage;
  const { input, output, cached, cost } = usage ?? { input: 0, output: 0, cached: 0, cost: undefined };
  return {
    input: input + more.input,
    output: output + more.output,
    cached: cached + (more.cacheRead ?? 0),
    cost: more.cost === undefined ? cost : (cost ?? 0) + more.cost,
  };
}

/** The model of answers that the gateway wrote itself: each stands alone. */
export const WRITTEN_BY_GATEWAY = "gateway-injected";

/** Puts what a turn took at its last answer. */
function withTurns(items: readonly Item[]): readonly Item[] {
  const done: Item[] = [];
  let last: number | undefined;
  let usage: TurnUsage | undefined;
  let asked: SaidItem | undefined;
  const close = (): void => {
    const answer = last === undefined ? undefined : done[last];
    if (last !== undefined && answer?.kind === "answer") done[last] = { ...answer, turn: { usage, asked } };
    [last, usage] = [undefined, undefined];
  };
  for (const item of items) {
    if (item.kind === "user") {
      close();
      asked = item;
    } else if (item.kind === "answer") {
      if (item.entry.model === WRITTEN_BY_GATEWAY) close();
      last = done.length;
      usage = added(usage, item.entry.usage);
    }
    done.push(item.kind === "note" && item.entry.error !== undefined && asked ? { ...item, asked } : item);
  }
  close();
  return done;
}

const UNSAID = "The model failed without saying why";

/** Why an answer failed. Who stops one does not let it fail. */
function failureOf({ error, stopReason }: ChatEntry): string | undefined {
  return stopReason === "aborted" ? undefined : (error ?? (stopReason === "error" ? UNSAID : undefined));
}

/** An answer that failed, with the note of the same failure that follows it: one thing happened, and it is shown once, with the longer text. */
function withNote(before: Item | undefined, { error, runId }: ChatEntry): AnswerItem | undefined {
  if (before?.kind !== "answer" || before.failed === undefined || error === undefined) return undefined;
  if (before.entry.runId !== undefined && runId !== undefined && before.entry.runId !== runId) return undefined;
  const failed = before.failed === UNSAID || error.includes(before.failed) ? error : before.failed;
  if (!failed.includes(error)) return undefined;
  const known = before.entry.runId ?? runId;
  return { ...before, failed, entry: known === undefined ? before.entry : { ...before.entry, runId: known } };
}

function itemOf(entry: ChatEntry, results: ReadonlyMap<string, ChatEntry>): Item {
  const key = `e${entry.seq}`;
  const text = saidIn(entry.content);
  if (entry.kind === "user") return { key, kind: "user", entry, text };
  if (entry.kind === "assistant") {
    const failed = failureOf(entry);
    return {
      key,
      kind: "answer",
      entry,
      text,
      thinking: thoughtIn(entry.content),
      calls: callsOf(entry, results),
      ...(failed === undefined ? {} : { failed }),
    };
  }
  if (entry.kind !== "tool") return { key, kind: entry.kind, entry, text };
  const call = { id: entry.toolCallId ?? key, name: entry.toolName ?? "tool", args: fieldsOf(entry.details)["args"], startedAt: entry.ts, result: entry };
  return { key, kind: "result", call };
}

/** The rows of a stretch of a transcript. Results are with their calls; a new day has a row. */
export function itemsOf(entries: readonly ChatEntry[]): readonly Item[] {
  const results = new Map(entries.flatMap((entry) => (entry.kind === "tool" && entry.toolCallId !== undefined ? [[entry.toolCallId, entry] as const] : [])));
  const calls = new Set<string>();
  const items: Item[] = [];
  let day = "";
  for (const entry of entries) {
    if (entry.kind === "tool" && entry.toolCallId !== undefined && calls.has(entry.toolCallId)) continue;
    const item = itemOf(entry, results);
    const whole = item.kind === "note" ? withNote(items.at(-1), entry) : undefined;
    if (whole) {
      items[items.length - 1] = whole;
      continue;
    }
    if (item.kind === "answer") for (const { id } of item.calls) calls.add(id);
    if (entry.ts > 0 && dayOf(entry.ts) !== day) {
      day = dayOf(entry.ts);
      items.push({ key: `d${entry.seq}`, kind: "day", at: entry.ts });
    }
    items.push(item);
  }
  return withTurns(items);
}
