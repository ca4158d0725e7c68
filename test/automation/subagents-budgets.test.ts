/** What sub-agents may cost: shares of budgets over a real store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSubagents, type Subagents } from "../../src/automation/index.ts";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { loadBudgets, type Budgets } from "../../src/models/index.ts";
import { openSession } from "../../src/sessions/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { createMemoryResponder, type MemoryResponder } from "../harness/memory-responder.ts";

const PARENT = "agent:main:main";
const PAYER = { agentId: "main", senderId: "webchat", provider: "acme" };
const TODAY = { since: Date.parse("2026-11-15T00:00:00Z"), before: Date.parse("2026-11-16T00:00:00Z") };

let stateDir: string;
let clock: ManualClock;
let store: Store;
let responder: MemoryResponder;
let config: OpenClawConfig;
let budgets: Budgets;
let subagents: Subagents;

beforeEach(async () => {
  stateDir = mkdtempSync(join(tmpdir(), "subagents-budgets-"));
  clock = manualClock(Date.parse("2026-11-15T12:00:00Z"));
  store = await openStore({ stateDir, clock });
  responder = createMemoryResponder();
  config = configOf({ maxSpawnDepth: 2 }, [{ per: "day", usd: 12 }]);
  const [{ createBudgets }, { createSubagents }] = [await loadBudgets(), await loadSubagents()];
  budgets = createBudgets({ store, clock, config: () => config, reserved: (budget) => store.read("subagents.reserved", budget) });
  subagents = createSubagents({
    config: {
      get current() {
        return config;
      },
      paths: { state: stateDir },
    },
    store,
    clock,
    ids: createIds(seededRandom(5)),
    log: silentLogger,
    hooks: () => undefined,
    conversation: () => ({
      ...responder,
      async accept(request, also = []) {
        await store.commit(also);
        return responder.accept(request);
      },
      isBusy: () => false,
      exclusively: async (sessionKey, work) => work(openSession(sessionKey, store)),
      withoutSlot: async (_sessionKey, _signal, work) => work(),
      onAbort: () => ({ [Symbol.dispose]: () => {} }),
    }),
    delivery: () => ({ prepare: async () => ({ writes: [], texts: [], suppressed: [] }), kick: () => {} }),
    model: async (_agentId, ref) => ({ provider: "acme", id: ref }),
    async budgets({ requesterSessionKey: sessionKey }) {
      const { state, text } = await budgets.check({ ...PAYER, sessionKey });
      return state === "stop" ? text : budgets.shared(PAYER);
    },
    deleteSession: async () => {},
    killProcesses: async () => 0,
    runningCommands: async () => [],
  });
});
afterEach(async () => {
  await subagents[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  rmSync(stateDir, { recursive: true, force: true });
});

function configOf(own: object, listed: NonNullable<NonNullable<OpenClawConfig["usage"]>["budgets"]>): OpenClawConfig {
  return { agents: { defaults: { userTimezone: "UTC", subagents: own } }, usage: { budgets: listed } };
}

const spawn = (cause: string, sessionKey = PARENT) =>
  subagents.spawn({ requester: { sessionKey, agentId: "main", runId: "turn" }, cause, origin: {}, task: `do ${cause} @hold` });

/** Starts one, and gives its session. */
async function started(cause: string, sessionKey = PARENT): Promise<string> {
  const result = await spawn(cause, sessionKey);
  expect(result).toMatchObject({ status: "accepted" });
  return result.childSessionKey ?? "";
}

async function spend(sessionKey: string, cost: number, tokens = 0): Promise<void> {
  const facts = { agentId: "main", provider: "acme", model: "m", sender: "webchat", output: 0, cacheRead: 0, cacheWrite: 0, durationMs: 1 };
  await store.write("usage.add", { ...facts, sessionKey, input: tokens, cost, at: clock.now() });
}
const reserved = async (exceptFor?: string): Promise<number> => (await store.read("subagents.reserved", { ...TODAY, exceptFor })).usd;
async function end(sessionKey: string): Promise<void> {
  const [child] = await store.read("subagents.list", { childSessionKey: sessionKey });
  await store.write("subagents.end", { runId: child!.runId, outcome: "ok" });
}

test("a child reserves its share in the commit that adds it, and what it did not use is free when it ends", async () => {
  const one = await started("one");
  // Five children and the session itself have the same.
  expect(await reserved()).toBeCloseTo(2);
  const two = await started("two");
  expect(await reserved()).toBeCloseTo(4);
  await spend(one, 1.5);
  expect(await reserved()).toBeCloseTo(2.5);
  await end(one);
  expect(await reserved()).toBeCloseTo(2);
  await end(two);
  expect(await reserved()).toBe(0);
});

test("a child keeps its share when others have used the rest, and they learn why they have to wait", async () => {
  const child = await started("long work");
  await spend(PARENT, 10);
  expect(await budgets.check({ ...PAYER, sessionKey: PARENT })).toMatchObject({
    state: "stop",
    text: "the rest of the budget per day is reserved for running sub-agents: $10.00 of $12.00 is used. Wait until they have finished, or raise usage.budgets[0] in the configuration.",
  });
  expect(await spawn("another")).toMatchObject({ status: "forbidden", error: expect.stringContaining("is reserved for running sub-agents") });
  expect((await budgets.check({ ...PAYER, sessionKey: child })).state).not.toBe("stop");
  await end(child);
  expect((await budgets.check({ ...PAYER, sessionKey: PARENT })).state).not.toBe("stop");
});

test("a child of a child gets a part of its parent's share, and gives back what is left", async () => {
  const parent = await started("branch");
  const child = await started("leaf", parent);
  expect(await reserved()).toBeCloseTo(2);
  expect(await reserved(child)).toBeCloseTo(2 - 2 / 6);
  await spend(child, 0.1);
  await end(child);
  expect(await reserved()).toBeCloseTo(1.9);
  await end(parent);
  expect(await reserved()).toBe(0);
});

test("a child that is steered keeps its share", async () => {
  const child = await started("turn around");
  const [row] = await store.read("subagents.list", { childSessionKey: child });
  await store.write("subagents.replace", { runId: row!.runId, by: "other", data: { task: "elsewhere" } });
  expect(await reserved()).toBeCloseTo(2);
});

test("of 200 spawns at once no more are started than the caps and the budgets allow", async () => {
  config = configOf({ maxChildrenPerAgent: 4, maxConcurrent: 2 }, [
    { per: "day", usd: 12, tokens: 1_000_000 },
    { per: "month", usd: 40 },
  ]);
  const results = await Promise.all(Array.from({ length: 200 }, (_, at) => spawn(`part ${at}`, `agent:main:chat-${at % 20}`)));
  const accepted = results.filter(({ status }) => status === "accepted");
  expect(accepted).toHaveLength(32);
  const rows = await store.read("subagents.list", { unfinished: true });
  expect(rows).toHaveLength(32);
  for (let at = 0; at < 20; at += 1) {
    expect(rows.filter(({ requesterSessionKey }) => requesterSessionKey === `agent:main:chat-${at}`).length).toBeLessThanOrEqual(4);
  }
  const held = await store.read("subagents.reserved", TODAY);
  expect(held.usd).toBeGreaterThan(0);
  expect(held.usd).toBeLessThan(12);
  expect(held.tokens).toBeLessThan(1_000_000);
  // Every child can use what it was promised, and nothing is left over that nobody may use.
  for (const { childSessionKey } of rows) expect((await budgets.check({ ...PAYER, sessionKey: childSessionKey })).state).not.toBe("stop");
});

test("when no token is left to share, nothing more is started", async () => {
  config = configOf({}, [{ per: "day", tokens: 8 }]);
  await started("one");
  await started("two");
  const results = [await spawn("three"), await spawn("four"), await spawn("five")];
  expect(results).toMatchObject([{ status: "accepted" }, { status: "accepted" }, { status: "accepted" }]);
  expect(await spawn("six", "agent:main:elsewhere")).toMatchObject({
    status: "forbidden",
    error: expect.stringContaining("the budget per day has nothing left"),
  });
  expect(await store.read("subagents.list", {})).toHaveLength(5);
});
