/** Sub-agents over a real store, with a clock that the test moves. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSubagents, type Subagents } from "../../src/automation/index.ts";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { openSession } from "../../src/sessions/index.ts";
import { openStore, type SpawnBudget, type Store, type SubagentRow } from "../../src/store/index.ts";
import { createMemoryResponder, type MemoryResponder } from "../harness/memory-responder.ts";

const MINUTE = 60_000;
const PARENT = "agent:main:main";

let stateDir: string;
let clock: ManualClock;
let store: Store;
let responder: MemoryResponder;
let config: { current: OpenClawConfig };
let deleted: string[];
let spent: string | undefined;
let budgets: readonly SpawnBudget[];
let busy: Set<string>;
/** Runs wait here before they are on disk. */
let gate: ((request: { readonly sessionKey: string }) => Promise<void>) | undefined;
/** Stops wait here when their children are stopped on disk. */
let stopping: Promise<void> | undefined;
let subagents: Subagents;

const ids = createIds(seededRandom(11));

/** A process of the gateway, as far as sub-agents are concerned. */
async function open(): Promise<Subagents> {
  const { createSubagents } = await loadSubagents();
  const opened = createSubagents({
    config: {
      get current() {
        return config.current;
      },
      paths: { state: stateDir },
    },
    store,
    clock,
    ids,
    log: silentLogger,
    hooks: () => undefined,
    conversation: () => ({
      ...responder,
      async accept(request, also = []) {
        await gate?.(request);
        await store.commit(also);
        return responder.accept(request);
      },
      isBusy: (sessionKey) => busy.has(sessionKey),
      exclusively: async (sessionKey, work) => work(openSession(sessionKey, store)),
      withoutSlot: async (_sessionKey, _signal, work) => work(),
      onAbort: () => ({ [Symbol.dispose]: () => {} }),
    }),
    delivery: () => ({ prepare: async () => ({ writes: [], texts: [], suppressed: [] }), kick: () => {} }),
    model: async (_agentId, ref) => ({ provider: "acme", id: ref }),
    budgets: async () => spent ?? budgets,
    deleteSession: async (key) => void deleted.push(key),
    killProcesses: async () => {
      await stopping;
      return 0;
    },
    runningCommands: async () => [],
  });
  await opened.start();
  return opened;
}

const spawn = (cause: string, more: object = {}) =>
  subagents.spawn({ requester: { sessionKey: PARENT, agentId: "main", runId: "turn" }, cause, origin: {}, task: `do ${cause}`, ...more });
const row = (runId: string): Promise<SubagentRow | undefined> => store.read("subagents.get", { runId });
const announced = () => responder.requests.filter(({ kind }) => kind === "announce");

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "subagents-"));
  clock = manualClock();
  store = await openStore({ stateDir, clock });
  responder = createMemoryResponder();
  config = { current: {} };
  deleted = [];
  spent = undefined;
  budgets = [];
  busy = new Set();
  gate = undefined;
  stopping = undefined;
  subagents = await open();
});
afterEach(async () => {
  await subagents[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

test("the same call starts the same child, however often it is made", async () => {
  const first = await spawn("one @hold");
  expect(first).toMatchObject({ status: "accepted" });
  expect(await spawn("one @hold")).toMatchObject({ runId: "runId" in first ? first.runId : "" });
  expect(await store.read("subagents.list", {})).toHaveLength(1);
  const [request] = responder.requests;
  expect(request).toMatchObject({ kind: "subagent", message: expect.stringMatching(/^\[Subagent Context\] .*\n\n\[Subagent Task\]: do one/), timeoutMs: 0 });
});

test("a child that has ended is announced once, and its session is put away after its time", async () => {
  const result = await spawn("short");
  const runId = result.status === "accepted" ? result.runId : "";
  await expect.poll(() => announced().length).toBe(1);
  expect(announced()[0]).toMatchObject({ runId: expect.stringMatching(/^announce:v1:agent:main:subagent:[0-9a-f-]{36}:/), sessionKey: PARENT });
  expect(await row(runId)).toMatchObject({ state: "ended", outcome: "ok", announced: true });
  clock.advance(59 * MINUTE);
  await expect.poll(() => deleted).toEqual([]);
  const laterOn = async (): Promise<unknown> => (clock.advance(MINUTE), [deleted.length, await row(runId)]);
  await expect.poll(laterOn).toEqual([1, undefined]);
  expect(announced()).toHaveLength(1);
});

test("results that wait for a busy session come to it in one turn when it is free", async () => {
  busy.add(PARENT);
  for (const cause of ["first", "second", "third"]) await spawn(cause);
  const ended = async (): Promise<number> => (await store.read("subagents.list", { unfinished: false })).length;
  await expect.poll(async () => (clock.advance(100), ended())).toBe(3);
  clock.advance(5000);
  expect(announced()).toEqual([]);
  busy.clear();
  await expect.poll(() => (clock.advance(100), announced().length)).toBe(1);
  for (const cause of ["first", "second", "third"]) expect(announced()[0]!.message).toContain(`"do ${cause}" just completed`);
  expect(await store.read("subagents.list", { unannounced: true })).toEqual([]);
});

/** Runs that are accepted from now on wait until `open` is called. */
function holdRuns(): { readonly reached: Promise<void>; open(): void } {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  gate = () => (reached.resolve(), opened.promise);
  return { reached: reached.promise, open: opened.resolve };
}

test("a stop that comes while a child is being started ends it, and is over when it has", async () => {
  const held = holdRuns();
  const starting = spawn("late @hold");
  await held.reached;
  let killed: number | undefined;
  const stopping = subagents.killBelow(PARENT).then((count) => (killed = count));
  await expect.poll(async () => (await store.read("subagents.list", {})).length).toBe(0);
  expect(killed).toBeUndefined();
  held.open();
  const child = await starting;
  expect(await stopping).toBe(1);
  expect(child).toMatchObject({ status: "accepted" });
  expect(await row("runId" in child ? child.runId : "")).toMatchObject({ state: "ended", outcome: "killed" });
  expect(responder.aborted).toEqual(["runId" in child ? child.runId : ""]);
});

test("a stop waits for a report that is on its way, and none comes after it", async () => {
  busy.add(PARENT);
  await spawn("first");
  await expect.poll(async () => (clock.advance(100), (await store.read("subagents.list", { unfinished: false })).length)).toBe(1);
  // Its report is about to be accepted when the stop comes.
  const held = holdRuns();
  busy.clear();
  let isReached = false;
  void held.reached.then(() => (isReached = true));
  await expect.poll(() => (clock.advance(100), isReached)).toBe(true);
  let isOver = false;
  const stopping = subagents.killBelow(PARENT).then(() => (isOver = true));
  await expect.poll(async () => (await store.read("subagents.list", { unannounced: true })).length).toBe(1);
  expect(isOver).toBe(false);
  held.open();
  await stopping;
  const reports = announced();
  expect(reports).toHaveLength(1);
  expect(await store.read("subagents.list", { unannounced: true })).toEqual([]);
  clock.advance(MINUTE);
  expect(announced()).toEqual(reports);
});

/** A sub-agent that has answered and waits for one of its own. */
async function waitingParent(): Promise<{ readonly parent: SubagentRow; readonly kid: SubagentRow }> {
  config.current = { agents: { defaults: { subagents: { maxSpawnDepth: 2 } } } };
  await spawn("parent @hold");
  const [parent] = await store.read("subagents.list", {});
  await spawn("kid @hold", { requester: { sessionKey: parent!.childSessionKey, agentId: "main", runId: parent!.runId } });
  const [kid] = await store.read("subagents.list", { requesterSessionKey: parent!.childSessionKey });
  // The commit that ends its turn records how it ended.
  await store.write("subagents.end", { runId: parent!.runId, outcome: "ok" });
  responder.abort({ sessionKey: parent!.childSessionKey }, "rpc");
  return { parent: parent!, kid: kid! };
}

test("a sub-agent that is stopped while it waits for its own is stopped with them, and reports nothing after a crash either", async () => {
  const { parent, kid } = await waitingParent();
  const held = Promise.withResolvers<void>();
  stopping = held.promise;
  const killing = subagents.killChild(parent.childSessionKey);
  const outcomes = async (): Promise<unknown> => Promise.all([parent, kid].map(async ({ runId }) => (await row(runId))?.outcome));
  await expect.poll(outcomes).toEqual(["killed", "killed"]);
  // The process dies before the rest of the stop is done.
  await subagents[Symbol.asyncDispose]();
  stopping = undefined;
  await store.write("subagents.add", { runId: "z", childSessionKey: "agent:main:subagent:z", requesterSessionKey: "agent:main:z", data: { task: "z" } });
  subagents = await open();
  await expect.poll(() => announced().map(({ sessionKey }) => sessionKey)).toEqual(["agent:main:z"]);
  expect(await store.read("subagents.list", { unannounced: true })).toEqual([]);
  held.resolve();
  expect(await killing).toBe(2);
});

test("a command that stops a waiting sub-agent names it", async () => {
  await waitingParent();
  expect(await subagents.kill(PARENT, "last")).toMatchObject({ killed: 2, names: ["do parent @hold"] });
  expect(announced()).toEqual([]);
});

test("what waits for its own is stopped by a stop of the whole session", async () => {
  await waitingParent();
  expect(await subagents.kill(PARENT, "all")).toMatchObject({ killed: 2, dropped: 0, names: ["do parent @hold"] });
  expect(await store.read("subagents.list", { unannounced: true })).toEqual([]);
});

test.each(["kid", "all of its own"])("a sub-agent reports when the last that it waits for was stopped: %s", async (how) => {
  const { parent, kid } = await waitingParent();
  if (how === "kid") expect(await subagents.killChild(kid.childSessionKey)).toBe(1);
  else expect(await subagents.killBelow(parent.childSessionKey)).toBe(1);
  await expect
    .poll(() => announced().map(({ sessionKey, message }) => [sessionKey, message.includes('"do parent @hold" just completed')]))
    .toEqual([[PARENT, true]]);
  expect(await row(kid.runId)).toMatchObject({ outcome: "killed" });
  await expect.poll(() => row(parent.runId)).toMatchObject({ outcome: "ok", announced: true });
});

test("one of several results that is not to be reported any more does not hold up the others", async () => {
  busy.add(PARENT);
  for (const cause of ["first", "second"]) await spawn(cause);
  await expect.poll(async () => (clock.advance(100), (await store.read("subagents.list", { unfinished: false })).length)).toBe(2);
  const held = holdRuns();
  busy.clear();
  let isReached = false;
  void held.reached.then(() => (isReached = true));
  await expect.poll(() => (clock.advance(100), isReached)).toBe(true);
  const [first] = await store.read("subagents.list", {});
  await store.write("subagents.end", { runId: first!.runId, outcome: "killed", orUnannounced: true });
  held.open();
  await expect.poll(() => (clock.advance(100), announced().length)).toBe(1);
  expect(announced()[0]!.message.match(/A subagent task/g)).toHaveLength(1);
});

test("runs.json shows the runs to other programs", async () => {
  const result = await spawn("shown", { label: "Shown", origin: { channel: "telegram", accountId: "default" } });
  const runId = result.status === "accepted" ? result.runId : "";
  const file = join(stateDir, "subagents", "runs.json");
  const runOf = (): unknown => {
    clock.advance(500);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { runs: Record<string, unknown> }).runs[runId] : undefined;
  };
  await expect.poll(runOf).toMatchObject({
    childSessionKey: result.childSessionKey,
    requesterSessionKey: PARENT,
    requesterOrigin: { channel: "telegram", accountId: "default" },
    task: "do shown",
    label: "Shown",
    cleanup: "keep",
    outcome: { status: "ok" },
    archiveAtMs: expect.any(Number),
  });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 2 });
});

test("a child that asks for it is put away as soon as it was announced", async () => {
  const result = await spawn("short", { cleanup: "delete" });
  await expect.poll(() => deleted).toEqual([result.status === "accepted" ? result.childSessionKey : ""]);
  expect(announced()).toHaveLength(1);
});

test("what another program left unfinished, and knows nothing of any more, ends as an error and is announced", async () => {
  await store.write("subagents.add", { runId: "old", childSessionKey: "agent:main:subagent:old", requesterSessionKey: PARENT, data: { task: "old work" } });
  await subagents[Symbol.asyncDispose]();
  subagents = await open();
  await expect.poll(() => announced().map(({ message }) => message)).toEqual([expect.stringContaining('A subagent task "old work" failed: the run was lost')]);
  expect(await row("old")).toMatchObject({ outcome: "error", announced: true });
});

test("a result that was not announced when the process ended is announced by the next", async () => {
  await store.write("subagents.add", { runId: "r", childSessionKey: "agent:main:subagent:r", requesterSessionKey: PARENT, data: { task: "look" } });
  await store.write("subagents.end", { runId: "r", outcome: "timeout" });
  await subagents[Symbol.asyncDispose]();
  subagents = await open();
  await expect.poll(() => announced().map(({ message }) => message)).toEqual([expect.stringContaining('"look" timed out.\n\nResult:\n(no output)')]);
});

test("without money, a task or a known agent nothing is started", async () => {
  spent = "the budget of today is used up";
  expect(await spawn("a")).toEqual({ status: "forbidden", error: spent });
  spent = undefined;
  expect(await spawn("b", { task: "  " })).toEqual({ status: "error", error: "task required" });
  expect(await spawn("c", { task: "x".repeat(300_000) })).toMatchObject({ status: "error", error: expect.stringContaining("300000 characters") });
  config.current = { agents: { list: [{ id: "main", subagents: { allowAgents: ["*"] } }] } };
  expect(await spawn("d", { agentId: "nobody" })).toMatchObject({ status: "forbidden", error: expect.stringContaining("nobody") });
  expect(await store.read("subagents.list", {})).toEqual([]);
});

test("16: a sandboxed session starts no sub-agent outside of a sandbox", async () => {
  const open = { id: "open", sandbox: { mode: "off" } } as const;
  const boxed = { id: "boxed", sandbox: { mode: "all" } } as const;
  const main = { id: "main", subagents: { allowAgents: ["*"] } };
  config.current = { agents: { list: [{ ...main, sandbox: { mode: "all" } }, open, boxed] } };
  expect(await spawn("a", { agentId: "open" })).toMatchObject({
    status: "forbidden",
    error: expect.stringContaining("the agent open is not sandboxed"),
  });
  for (const agentId of ["boxed", "main"]) expect(await spawn(`in ${agentId}`, { agentId })).toMatchObject({ status: "accepted" });
  // One that is not sandboxed may start what it likes.
  config.current = { agents: { list: [main, open, boxed] } };
  for (const agentId of ["open", "boxed"]) expect(await spawn(`of main, ${agentId}`, { agentId })).toMatchObject({ status: "accepted" });
});

test("children choose the model and the thinking that the configuration has for them", async () => {
  config.current = {
    agents: {
      defaults: { subagents: { model: { primary: "small" }, thinking: "low" } },
      list: [
        { id: "main", subagents: { allowAgents: ["helper"] } },
        { id: "helper", subagents: { model: "tiny" } },
      ],
    },
  };
  const entryOf = async (result: Awaited<ReturnType<typeof spawn>>): Promise<unknown> =>
    (await store.read("sessions.get", { key: result.childSessionKey ?? "" }))?.entry;
  expect(await entryOf(await spawn("a"))).toMatchObject({ modelOverride: "small", thinkingLevel: "low", spawnedBy: PARENT, spawnDepth: 1 });
  expect(await entryOf(await spawn("b", { agentId: "helper" }))).toMatchObject({ modelOverride: "tiny", thinkingLevel: "low" });
  expect(await entryOf(await spawn("c", { model: "own", thinking: "high" }))).toMatchObject({ modelOverride: "own", thinkingLevel: "high" });
});
