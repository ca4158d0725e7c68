import type { ConversationState } from "./model/conversation.ts";

/** What the frame of the chat needs to know of its conversation. It changes seldom; the conversation while an answer streams, often. */
export interface ChatView {
  /** As in events and rows. */
  readonly sessionKey: string;
  readonly running: boolean;
  /** Nothing was said yet. */
  readonly empty: boolean;
  /** Messages that wait for the connection. */
  readonly unsent: number;
  /** Messages that the gateway has and has not begun with. */
  readonly queued: number;
  /** The newest thing that was said here by the owner. */
  readonly lastOwn: string;
}

type Pending = ConversationState["pending"][number];

const textOf = (content: readonly unknown[]): string =>
  content
    .map((block) => block as { readonly type?: unknown; readonly text?: unknown })
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");

function lastOwn({ entries, pending }: ConversationState): string {
  const waiting = pending.findLast(({ text, from }) => text !== "" && from === undefined);
  if (waiting) return waiting.text;
  const entry = entries.findLast(({ kind, from }) => kind === "user" && from === undefined);
  return entry ? textOf(entry.content) : "";
}

/** What is seen of a conversation from its frame. */
export function chatView(state: ConversationState): ChatView {
  const { sessionKey, entries, pending, runs, asides = [], loading, error } = state;
  return {
    sessionKey,
    running: runs.some(({ ended }) => ended === undefined),
    empty: !loading && error === undefined && [entries, pending, runs, asides].every(({ length }) => length === 0),
    unsent: pending.filter((one) => one.state === "unsent").length,
    queued: queuedOf(state).length,
    lastOwn: lastOwn(state),
  };
}

/** True when the frame would look the same. */
export const sameView = (a: ChatView, b: ChatView): boolean => (Object.keys(a) as (keyof ChatView)[]).every((name) => a[name] === b[name]);

/** Messages of the owner that the gateway has and has not begun with. */
export function queuedOf({ pending, runs }: ConversationState): readonly Pending[] {
  const going = new Set(runs.map(({ runId }) => runId));
  return pending.filter(({ runId, state, from, channel }) => state === "accepted" && !going.has(runId) && from === undefined && channel === undefined);
}

/** Those that waited and were taken away with what ran: they are neither waiting nor in the transcript. */
export function takenAway(queued: readonly Pending[], { pending, entries, runs }: ConversationState): readonly Pending[] {
  const known = new Set([...pending, ...entries, ...runs].map(({ runId }) => runId));
  return queued.filter(({ runId }) => !known.has(runId));
}
