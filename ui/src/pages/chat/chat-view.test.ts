import { expect, test } from "vitest";
import { createSignal } from "../../base/signal.ts";
import { chatTitle, chatView, queuedOf, sameView, takenAway, untilNoneWaits } from "./chat-view.ts";
import type { ConversationState } from "./model/conversation.ts";

const quiet: ConversationState = {
  sessionKey: "agent:main:main",
  sessionId: undefined,
  entries: [],
  pending: [],
  runs: [],
  moreBefore: false,
  moreAfter: false,
  loading: false,
  loadingOlder: false,
};
const run = { runId: "r1", startedAt: 0, text: "", thinking: "", tools: [], parts: [], compacting: false };
const pending = { runId: "r2", ts: 0, text: "later", images: 0, state: "accepted" as const };

test("a conversation is empty when it was loaded and nothing is in it or on its way", () => {
  expect(chatView(quiet).empty).toBe(true);
  expect(chatView({ ...quiet, loading: true }).empty).toBe(false);
  expect(chatView({ ...quiet, error: "no" }).empty).toBe(false);
  expect(chatView({ ...quiet, pending: [pending] }).empty).toBe(false);
  expect(chatView({ ...quiet, asides: [{ runId: "r", ts: 0, text: "/status", after: 0 }] }).empty).toBe(false);
});

test("a run that has ended runs no longer", () => {
  expect(chatView({ ...quiet, runs: [run] }).running).toBe(true);
  expect(chatView({ ...quiet, runs: [{ ...run, ended: { how: "final" } }] }).running).toBe(false);
});

test("waiting messages are distinguished: for the connection, and for their turn", () => {
  const view = chatView({ ...quiet, runs: [run], pending: [pending, { ...pending, runId: "r1" }, { ...pending, runId: "r3", state: "unsent" }] });
  expect([view.queued.map(({ runId }) => runId), view.unsent]).toEqual([["r2"], 1]);
});

test("the last own message is the newest that waits, else the newest in the transcript", () => {
  const user = (seq: number, text: string, from?: string) => ({
    seq,
    ts: 0,
    kind: "user" as const,
    content: [{ type: "text", text }],
    ...(from ? { from } : {}),
  });
  const entries = [user(1, "mine"), user(2, "theirs", "Ann")];
  expect(chatView({ ...quiet, entries }).lastOwn).toBe("mine");
  expect(chatView({ ...quiet, entries, pending: [pending] }).lastOwn).toBe("later");
  expect(chatView({ ...quiet, entries: [...entries, { ...user(3, "mine, cut"), cut: true }] }).lastOwn).toBe("");
});

test("a new chat is called after its first words until it has a name", () => {
  const key = "agent:main:web:abc";
  const row = { key, kind: "direct" as const, sessionId: "0aae3335-1", derivedTitle: "0aae3335 (2026-11-15)" };
  const began = chatView({ ...quiet, sessionKey: key, pending: [{ ...pending, text: "What is\n the time?" }] });
  const title = (extra: object, view = began): string => chatTitle({ ...row, ...extra } as never, view);
  expect(title({})).toBe("What is the time?");
  expect(title({}, chatView({ ...quiet, sessionKey: key }))).toBe("New chat");
  expect(title({ derivedTitle: "The time" })).toBe("The time");
  expect(title({ label: "Clock" })).toBe("Clock");
  expect(chatTitle(undefined, began)).toBe("What is the time?");
  expect(chatTitle(undefined, chatView(quiet))).toBe("Main chat");
  expect(chatView({ ...quiet, moreBefore: true, pending: [pending] }).opening).toBe("");
});

test("while an answer streams the frame stays the same", () => {
  const a = chatView({ ...quiet, runs: [run] });
  expect(sameView(a, chatView({ ...quiet, runs: [{ ...run, text: "more" }] }))).toBe(true);
  expect(sameView(a, chatView(quiet))).toBe(false);
});

test("a message that waited and was taken away by a stop is known; one that was answered or still waits is not", () => {
  const queued = queuedOf({ ...quiet, runs: [run], pending: [pending, { ...pending, runId: "r3" }, { ...pending, runId: "r4" }, { ...pending, runId: "r1" }] });
  expect(queued.map(({ runId }) => runId)).toEqual(["r2", "r3", "r4"]);
  const entry = { seq: 1, ts: 0, kind: "user" as const, content: [], runId: "r3" };
  expect(takenAway(queued, { ...quiet, entries: [entry], pending: [{ ...pending, runId: "r4" }] }).map(({ runId }) => runId)).toEqual(["r2"]);
});

test("what is taken away by a stop is waited for, however long the gateway takes", async () => {
  const state = createSignal<ConversationState>({ ...quiet, runs: [run], pending: [pending] });
  const queued = queuedOf(state.value);
  let isOver = false;
  const gone = untilNoneWaits(state, queued, 3_600_000).then(() => (isOver = true));
  state.set({ ...quiet, pending: [pending] });
  await Promise.resolve();
  expect([isOver, takenAway(queued, state.value)]).toEqual([false, []]);
  state.set(quiet);
  await gone;
  expect(takenAway(queued, state.value)).toEqual([pending]);
  await untilNoneWaits(state, queued, 3_600_000);
});

test("what waited is taken away also when the end of its run is heard of before the page that no longer lists it", async () => {
  const state = createSignal<ConversationState>({ ...quiet, runs: [run], pending: [pending] });
  const queued = queuedOf(state.value);
  const gone = untilNoneWaits(state, queued, 3_600_000);
  const runs = [{ ...run, runId: pending.runId, ended: { how: "aborted" as const } }];
  state.set({ ...quiet, pending: [pending], runs });
  expect(queuedOf(state.value)).toEqual([pending]);
  const cancelled = { seq: 2, ts: 0, kind: "assistant" as const, content: [], runId: pending.runId };
  state.set({ ...quiet, runs, entries: [cancelled] });
  await gone;
  expect(takenAway(queued, state.value)).toEqual([pending]);
});
