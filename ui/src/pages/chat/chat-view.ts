import type { Signal } from "../../base/signal.ts";
import { firstWords } from "./model/again.ts";
import type { ConversationState } from "./model/conversation.ts";
import { withoutFileLines } from "./model/said.ts";
import { isMain, titleOf, type SessionRow } from "./sidebar-groups.ts";
import { t } from "../../words/words.ts";

/** What the frame of the chat needs to know of its conversation. It changes seldom; the conversation while an answer streams, often. */
export interface ChatView {
  /** As in events and rows. */
  readonly sessionKey: string;
  readonly running: boolean;
  /** The gateway has such a session. */
  readonly kept: boolean;
  /** Nothing was said yet. */
  readonly empty: boolean;
  /** Messages that wait for the connection. */
  readonly unsent: number;
  /** Messages that the gateway has and has not begun with. */
  readonly queued: readonly QueuedMessage[];
  /** The newest thing that was said here by the owner. */
  readonly lastOwn: string;
  /** How it began, as far as that is known. */
  readonly opening: string;
}

type Pending = ConversationState["pending"][number];

/** A message that waits until the answer before it is finished. */
export type QueuedMessage = Pick<Pending, "runId" | "text" | "images">;

const textOf = (content: readonly unknown[]): string =>
  content
    .map((block) => block as { readonly type?: unknown; readonly text?: unknown })
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");

function lastOwn({ entries, pending }: ConversationState): string {
  const waiting = pending.findLast(({ text, from }) => text !== "" && from === undefined);
  if (waiting) return waiting.text;
  const entry = entries.findLast(({ kind, from }) => kind === "user" && from === undefined);
  // Of what is shown cut a part would be taken for the whole.
  return entry && !entry.cut ? textOf(entry.content) : "";
}

/** What was said beside the files; of files alone, their names. */
const ownWords = (text: string): string => withoutFileLines(text).words || text;

function opening({ entries, pending, moreBefore }: ConversationState): string {
  if (moreBefore) return "";
  const first = entries.find(({ kind, content }) => kind === "user" && textOf(content).trim() !== "");
  return firstWords(first ? ownWords(textOf(first.content)) : (pending.find(({ text }) => text.trim() !== "")?.text ?? ""));
}

/** What the gateway calls a session in which nothing was said yet: the beginning of its id, and the day. */
const isPlaceholder = (title: string, { sessionId }: SessionRow): boolean =>
  /^[^ ]{1,8} \(\d{4}-\d\d-\d\d\)$/.test(title) && (sessionId === undefined || title.startsWith(`${sessionId.slice(0, 8)} (`));

/** What the open conversation is called: its name, else how it begins. */
export function chatTitle(row: SessionRow | undefined, view: Pick<ChatView, "sessionKey" | "opening">): string {
  const named = row !== undefined && [row.label, row.displayName, row.subject, row.derivedTitle].some((name) => name?.trim() && !isPlaceholder(name, row));
  if (named || isMain(view.sessionKey)) return row ? titleOf(row) : t("Main chat");
  return view.opening || t("New chat");
}

/** What is seen of a conversation from its frame. */
export function chatView(state: ConversationState): ChatView {
  const { sessionKey, sessionId, entries, pending, runs, asides = [], loading, error } = state;
  return {
    sessionKey,
    running: runs.some(({ ended }) => ended === undefined),
    kept: sessionId !== undefined,
    empty: !loading && error === undefined && [entries, pending, runs, asides].every(({ length }) => length === 0),
    unsent: pending.filter((one) => one.state === "unsent").length,
    queued: queuedOf(state).map(({ runId, text, images }) => ({ runId, text, images })),
    lastOwn: lastOwn(state),
    opening: opening(state),
  };
}

/** True when the frame would look the same. */
export function sameView(a: ChatView, b: ChatView): boolean {
  const sameQueue = a.queued.length === b.queued.length && a.queued.every(({ runId, text }, at) => b.queued[at]?.runId === runId && b.queued[at].text === text);
  return sameQueue && (Object.keys(a) as (keyof ChatView)[]).every((name) => name === "queued" || a[name] === b[name]);
}

/** Runs that answer, or did. One that was stopped before it began only reports its end. */
const begun = (runs: ConversationState["runs"]): ConversationState["runs"] => runs.filter(({ ended, parts }) => ended?.how !== "aborted" || parts.length > 0);

/** Messages of the owner that the gateway has and has not begun with. */
export function queuedOf({ pending, runs }: ConversationState): readonly Pending[] {
  const going = new Set(begun(runs).map(({ runId }) => runId));
  return pending.filter(({ runId, state, from, channel }) => state === "accepted" && !going.has(runId) && from === undefined && channel === undefined);
}

/** Resolves when none of these messages waits any more, or after `ms`. A gateway that is busy answers a stop before all that waited has ended. */
export async function untilNoneWaits(state: Signal<ConversationState>, queued: readonly Pending[], ms: number): Promise<void> {
  const isDone = (now: ConversationState): boolean => !queuedOf(now).some(({ runId }) => queued.some((one) => one.runId === runId));
  if (isDone(state.value)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  using _subscription = state.subscribe((now) => isDone(now) && resolve());
  await promise;
  clearTimeout(timer);
}

/** Those that waited and were taken away with what ran: they are neither waiting nor in the transcript. */
export function takenAway(queued: readonly Pending[], { pending, entries, runs }: ConversationState): readonly Pending[] {
  // That it was cancelled may stand in the transcript; the message itself does not then.
  const said = entries.filter(({ kind }) => kind === "user");
  const known = new Set([...pending, ...said, ...begun(runs)].map(({ runId }) => runId));
  return queued.filter(({ runId }) => !known.has(runId));
}
