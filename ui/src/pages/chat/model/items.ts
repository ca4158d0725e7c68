import { blocksOf, fieldsOf, saidIn, textOf, thoughtIn } from "./said.ts";
import type { ChatEntry } from "./state.ts";
import { t } from "../../../words/words.ts";

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

/** What the answers of one turn have in common. */
export interface Work {
  /** Of its first answer. */
  readonly key: string;
  /** When it was asked for, as far as that is known, and when its newest entry was written. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Calls of tools. */
  readonly steps: number;
  readonly failed: boolean;
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
  /** The turn that it belongs to; the same in all of its answers. */
  readonly work: Work;
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

/** True when an answer goes on with the turn of the one before it. */
function isSameTurn(before: AnswerItem, { entry }: AnswerItem): boolean {
  if (entry.model === WRITTEN_BY_GATEWAY || before.entry.model === WRITTEN_BY_GATEWAY) return false;
  return before.entry.runId === undefined || entry.runId === undefined || before.entry.runId === entry.runId;
}

function workOf(answers: readonly AnswerItem[], asked: SaidItem | undefined): Work {
  const [first] = answers;
  const ends = answers.flatMap(({ entry, calls }) => [entry.ts, ...calls.map(({ result }) => result?.ts ?? 0)]);
  const from = asked && asked.entry.ts > 0 && (asked.entry.runId === undefined || asked.entry.runId === first!.entry.runId) ? asked : first!;
  return {
    key: first!.key,
    startedAt: from.entry.ts,
    endedAt: Math.max(...ends),
    steps: answers.reduce((sum, { calls }) => sum + calls.length, 0),
    failed: answers.some(({ failed }) => failed !== undefined),
  };
}

/** Gives every answer its turn, and the last one of each what the turn took. */
function withTurns(items: readonly Item[]): readonly Item[] {
  const done: Item[] = [];
  let places: number[] = [];
  let asked: SaidItem | undefined;
  const answersAt = (): AnswerItem[] => places.map((place) => done[place] as AnswerItem);
  const close = (): void => {
    const answers = answersAt();
    const [last] = answers.slice(-1);
    if (!last) return;
    const work = workOf(answers, asked);
    const usage = answers.reduce<TurnUsage | undefined>((sum, { entry }) => added(sum, entry.usage), undefined);
    places.forEach((place, at) => (done[place] = { ...answers[at]!, work, ...(answers[at] === last ? { turn: { usage, asked } } : {}) }));
    places = [];
  };
  for (const item of items) {
    if (item.kind === "user") {
      close();
      asked = item;
    } else if (item.kind === "answer") {
      const before = answersAt().at(-1);
      if (before && !isSameTurn(before, item)) close();
      places.push(done.length);
    }
    done.push(item.kind === "note" && item.entry.error !== undefined && asked ? { ...item, asked } : item);
  }
  close();
  return done;
}

/** Before the turns are known. */
export const NO_WORK: Work = { key: "", startedAt: 0, endedAt: 0, steps: 0, failed: false };
const UNSAID = t("The model failed without an error message");

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
      work: NO_WORK,
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
