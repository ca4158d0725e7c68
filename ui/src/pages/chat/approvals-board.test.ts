import { expect, test } from "vitest";
import { createSignal } from "../../base/signal.ts";
import type { LinkState } from "../../link/state.ts";
import { createApprovals, elsewhere, type Approval } from "./approvals-board.ts";
import type { SessionRow } from "./sidebar-groups.ts";

const approval = (id: string, lasts = 5000): Approval => ({
  id,
  kind: "exec",
  request: {
    command: `run ${id}`,
    cwd: null,
    environment: null,
    host: null,
    nodeId: null,
    security: null,
    ask: null,
    agentId: null,
    resolvedPath: null,
    sessionKey: "k",
    always: null,
  },
  createdAtMs: 1_000_000,
  expiresAtMs: 1_000_000 + lasts,
  until: lasts,
});

function board(listed: readonly Approval[] = []) {
  const listeners = new Map<string, (payload: never) => void>();
  const timers: { work: () => void; ms: number }[] = [];
  let at = 1000;
  let answer: () => Promise<unknown> = () => Promise.resolve({ ok: true });
  let list: () => Promise<unknown> = () => Promise.resolve({ approvals: listed, nowMs: 1_003_000 });
  const state = createSignal<LinkState>({ kind: "open" });
  const approvals = createApprovals({
    now: () => at,
    later: (work, ms) => void timers.push({ work, ms }),
    link: {
      has: () => true,
      may: () => true,
      request: ((method: string) => {
        if (method === "sessions.list") return Promise.resolve({ sessions: [{ key: "k", label: "Cron: Water the plants" }] });
        return method === "exec.approval.list" ? list() : answer();
      }) as never,
      state,
      onFresh: () => ({ [Symbol.dispose]: () => undefined }),
      on: (event: string, listener: (payload: never) => void) => {
        listeners.set(event, listener);
        return { [Symbol.dispose]: () => void listeners.delete(event) };
      },
    },
  });
  return {
    approvals,
    timers,
    later: (ms: number) => void (at += ms),
    emit: (event: string, payload: unknown) => listeners.get(event)?.(payload as never),
    state,
    /** The next list is on its way until it is let go. */
    holdList: () => {
      const held = Promise.withResolvers<void>();
      list = () => held.promise.then(() => ({ approvals: listed, nowMs: 1_003_000 }));
      return held.resolve;
    },
    /** The gateway does not give the list, or does again. */
    refuseList: (message: string | undefined) =>
      (list = () => (message === undefined ? Promise.resolve({ approvals: listed, nowMs: 1_003_000 }) : Promise.reject(new Error(message)))),
    /** What the gateway knows of requests that ended. */
    tell: (entries: readonly unknown[]) => (answer = () => Promise.resolve({ entries, more: false })),
    refuse: (message: string) => (answer = () => Promise.reject(new Error(message))),
    waiting: () => approvals.state.value.waiting.map(({ id }) => id),
    notes: () => approvals.state.value.notes.map(({ text }) => text),
  };
}

test("the session that asks is known by its name, though no list of the page has it", async () => {
  const { approvals, emit } = board();
  emit("exec.approval.requested", approval("a"));
  await expect
    .poll(() => elsewhere(approvals.state.value.waiting, "other", approvals.state.value.sessions))
    .toEqual([{ key: "k", name: "Cron: Water the plants", count: 1 }]);
});

test("other conversations in which something waits are named as the list names them, each once", () => {
  const one = (id: string, sessionKey: string | null): Approval => ({ ...approval(id), request: { ...approval(id).request, sessionKey } });
  const waiting = [
    one("a", "agent:main:web:trip"),
    one("b", "here"),
    one("c", null),
    one("d", "agent:main:web:trip"),
    one("e", "agent:ops:main"),
    one("f", "agent:ops:web:x"),
  ];
  const rows = [{ key: "agent:main:web:trip", derivedTitle: "A trip to Rome" } as SessionRow];
  expect(elsewhere(waiting, "here", rows)).toEqual([
    { key: "agent:main:web:trip", name: "A trip to Rome", count: 2 },
    { key: "agent:ops:main", name: "Main chat (ops)", count: 1 },
    { key: "agent:ops:web:x", name: "Chat x", count: 1 },
  ]);
});

test("requests that wait are listed once, however often they are heard of", async () => {
  const { approvals, emit, waiting } = board([approval("a")]);
  await approvals.load();
  emit("exec.approval.requested", approval("b"));
  emit("exec.approval.requested", approval("b"));
  expect(waiting()).toEqual(["a", "b"]);
});

test("a list that could not be loaded is not taken for an empty one, and loading it again clears the failure", async () => {
  const { approvals, refuseList, waiting } = board([approval("a")]);
  refuseList("the store did not answer");
  await expect(approvals.load()).rejects.toThrow("the store did not answer");
  expect(approvals.state.value.failure).toBe("The store did not answer");
  refuseList(undefined);
  await approvals.load();
  expect(approvals.state.value.failure).toBeUndefined();
  expect(waiting()).toEqual(["a"]);
});

test("one that the gateway no longer knows after a reconnect goes away with a note", async () => {
  const { approvals, emit, waiting, notes } = board([approval("a")]);
  emit("exec.approval.requested", approval("b"));
  await approvals.load();
  await expect.poll(notes).toEqual(["“run b” is no longer waiting"]);
  expect(waiting()).toEqual(["a"]);
});

test.each([
  [{ state: "decided", decision: "deny", decidedBy: "restart" }, "“run b” did not run: the gateway restarted"],
  [{ state: "decided", decision: "allow-once", decidedBy: "Ann" }, "“run b” was allowed once by Ann"],
  [{ state: "expired", decision: null, decidedBy: null }, "“run b” was not approved in time and will not run"],
])("what became of one while the page was not connected is asked of the gateway: %j", async (how, text) => {
  const { approvals, emit, notes, tell } = board([approval("a")]);
  emit("exec.approval.requested", approval("b"));
  tell([{ id: "b", ...how }]);
  await approvals.load();
  await expect.poll(notes).toEqual([text]);
});

test("one that ended because the gateway restarted was not decided by anybody", () => {
  const { emit, notes } = board();
  emit("exec.approval.requested", approval("a"));
  emit("exec.approval.resolved", { id: "a", decision: "deny", resolvedBy: "restart", ts: 1 });
  expect(notes()).toEqual(["“run a” did not run: the gateway restarted"]);
});

test("one that was decided elsewhere goes away with a note", () => {
  const { emit, waiting, notes } = board();
  emit("exec.approval.requested", approval("a"));
  emit("exec.approval.resolved", { id: "a", decision: "deny", resolvedBy: "Ann", ts: 1 });
  expect(waiting()).toEqual([]);
  expect(notes()).toEqual(["“run a” was denied by Ann"]);
});

test("one that is decided here goes away without a note", async () => {
  const { approvals, emit, waiting, notes } = board();
  emit("exec.approval.requested", approval("a"));
  const decided = approvals.decide("a", "allow-once");
  emit("exec.approval.resolved", { id: "a", decision: "allow-once", resolvedBy: "me", ts: 1 });
  await decided;
  expect([waiting(), notes(), approvals.state.value.deciding.size]).toEqual([[], [], 0]);
});

test("one that nobody decided about goes away when its time is over", () => {
  const { emit, timers, later, waiting, notes } = board();
  emit("exec.approval.requested", approval("a"));
  expect(timers[0]!.ms).toBe(5000);
  later(5000);
  timers[0]!.work();
  expect(waiting()).toEqual([]);
  expect(notes()[0]).toContain("not approved in time");
});

test("a decision that comes too late says so; one that did not arrive can be made again", async () => {
  const { approvals, emit, refuse, waiting, notes } = board();
  emit("exec.approval.requested", approval("a"));
  refuse("connection lost");
  await expect(approvals.decide("a", "deny")).rejects.toThrow("connection lost");
  expect(waiting()).toEqual(["a"]);
  refuse("approval expired or not found");
  await approvals.decide("a", "deny");
  expect([waiting(), notes()]).toEqual([[], ["“run a” was already decided or has expired"]]);
});

test("the time that is left is the gateway's, however wrong the clock of this computer is, and is set right with each list", async () => {
  const { approvals, emit, timers, later, waiting } = board([approval("a", 8000)]);
  emit("exec.approval.requested", approval("a"));
  expect(approvals.state.value.waiting[0]!.until).toBe(6000);
  await approvals.load();
  expect(approvals.state.value.waiting[0]!.until).toBe(6000 + (8000 - 3000) - 5000);
  emit("exec.approval.requested", approval("a", 9000));
  later(5000);
  timers[0]!.work();
  expect([waiting(), timers[1]!.ms]).toEqual([["a"], 4000]);
});

test("what is asked and decided while the list is on its way is neither lost nor brought back", async () => {
  const { approvals, emit, holdList, waiting, notes } = board([approval("a")]);
  emit("exec.approval.requested", approval("a"));
  const arrive = holdList();
  const loading = approvals.load();
  emit("exec.approval.requested", approval("b"));
  emit("exec.approval.resolved", { id: "a", decision: "deny", resolvedBy: "Ann", ts: 1 });
  arrive();
  await loading;
  expect([waiting(), notes()]).toEqual([["b"], ["“run a” was denied by Ann"]]);
});

test("a question of a plugin, which is announced for clients that know commands only, too, is shown as the plugin's", () => {
  const { approvals, emit } = board();
  emit("plugin.approval.requested", { id: "p" });
  for (const id of ["p", "c"]) {
    const { kind: _kind, ...asked } = approval(id);
    emit("exec.approval.requested", asked);
  }
  expect(approvals.state.value.waiting.map(({ id, kind }) => [id, kind])).toEqual([
    ["p", "plugin"],
    ["c", "exec"],
  ]);
});

test("the user who signs in next does not see what waited before", () => {
  const { emit, state, waiting, notes } = board();
  emit("exec.approval.requested", approval("a"));
  emit("exec.approval.requested", approval("b"));
  emit("exec.approval.resolved", { id: "a", decision: "deny", resolvedBy: null, ts: 1 });
  state.set({ kind: "login" });
  expect([waiting(), notes()]).toEqual([[], []]);
});
