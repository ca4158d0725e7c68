import type { Conversation, ConversationState } from "./model/conversation.ts";
import type { Item } from "./model/items.ts";
import { MOST_SHOWN, type Window } from "./transcript-window.ts";

/** Earlier pages that are read in search of a run. */
const MOST_PAGES = 20;

const holds = ({ entries, runs, pending }: ConversationState, wanted: string): boolean =>
  [...entries, ...runs, ...pending].some((one) => one.runId === wanted || ("id" in one && one.id === wanted));

/** Resolves when the conversation is no longer as it was. */
function changed({ state }: Pick<Conversation, "state">, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      subscription[Symbol.dispose]();
      resolve();
    };
    const subscription = state.subscribe(done);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Reads earlier pages until a run, or an entry, is there. False when it is not, or further back than is looked for, or nobody waits any longer. */
export async function findRun(
  conversation: Pick<Conversation, "state" | "older"> & Partial<Pick<Conversation, "from">>,
  runId: string,
  signal: AbortSignal,
  /** Position of the entry, when that is known. */
  seq?: number,
): Promise<boolean> {
  const { state } = conversation;
  while ((state.value.loading || state.value.loadingOlder) && !signal.aborted) await changed(conversation, signal);
  if (seq !== undefined && !signal.aborted && !holds(state.value, runId)) await conversation.from?.(seq);
  for (let pages = 0; pages < MOST_PAGES && !signal.aborted; pages += 1) {
    if (holds(state.value, runId)) return true;
    const { moreBefore, entries } = state.value;
    if (!moreBefore) return false;
    await conversation.older();
    while (state.value.loadingOlder && !signal.aborted) await changed(conversation, signal);
    // What could not be read is not asked for over and over.
    if (state.value.error !== undefined || state.value.entries[0]?.seq === entries[0]?.seq) break;
  }
  return !signal.aborted && holds(state.value, runId);
}

/** True for the item of an entry, and for the one whose call an entry is the result of. */
const isOf = (item: Item, id: string): boolean =>
  ("entry" in item && item.entry.id === id) || ("calls" in item ? item.calls : "call" in item ? [item.call] : []).some(({ result }) => result?.id === id);

const runOf = (item: Item): string | undefined => ("entry" in item ? item.entry.runId : item.kind === "result" ? item.call.result?.runId : undefined);

/** Key of the row that a run begins with, or that an entry is in, and its place among the items; a run that is not in the transcript stands behind them. */
export function rowOfRun(items: readonly Item[], { runs, pending }: Pick<ConversationState, "runs" | "pending">, runId: string) {
  const at = items.findIndex((item) => runOf(item) === runId || isOf(item, runId));
  if (at >= 0) return { key: items[at]!.key, at };
  if (pending.some((one) => one.runId === runId)) return { key: `p${runId}`, at: items.length };
  return runs.some((one) => one.runId === runId) ? { key: `r${runId}`, at: items.length } : undefined;
}

/** The items around one of them. */
export function windowAround(at: number, length: number): Window {
  const from = Math.max(0, Math.min(at - MOST_SHOWN / 2, length - MOST_SHOWN));
  return { from, to: Math.min(length, from + MOST_SHOWN) };
}
