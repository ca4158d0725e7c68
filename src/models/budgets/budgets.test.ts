import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createBudgets, type Budgets } from "./index.ts";

type Listed = NonNullable<NonNullable<OpenClawConfig["usage"]>["budgets"]>;

const NOON = Date.parse("2026-11-15T12:00:00Z");
const HOUR = 3_600_000;
const CALLER = { agentId: "main", senderId: "+4366", provider: "anthropic" };

let folder: string;
let clock: ManualClock;
let store: Store;
let config: OpenClawConfig;
let budgets: Budgets;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "budgets-"));
  clock = manualClock(NOON);
  store = await openStore({ stateDir: folder, clock });
  config = { agents: { defaults: { userTimezone: "Europe/Vienna" } } };
  budgets = createBudgets({ store, clock, config: () => config });
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const limit = (...listed: Listed): void => void (config = { ...config, usage: { budgets: listed } });

async function spend(cost: number, over: Partial<{ agentId: string; sender: string; provider: string; input: number; at: number }> = {}): Promise<void> {
  const facts = { sessionKey: "agent:main:main", agentId: "main", provider: "anthropic", model: "m", output: 0, cacheRead: 0, cacheWrite: 0, durationMs: 1 };
  await store.write("usage.add", { ...facts, input: 0, cost, at: clock.now(), ...over });
}

test("without budgets every call is allowed", async () => {
  await spend(1000);
  expect(await budgets.check(CALLER)).toEqual({ state: "ok" });
  expect(await budgets.report()).toEqual({ timeZone: "Europe/Vienna", budgets: [] });
});

test("a budget allows calls, warns from its threshold on, and stops at its limit", async () => {
  limit({ per: "day", usd: 10 });
  await spend(7.99);
  expect(await budgets.check(CALLER)).toEqual({ state: "ok" });
  await spend(0.01);
  expect(await budgets.check(CALLER)).toMatchObject({
    state: "warn",
    text: "the budget per day is used to 80 %: $8.00 of $10.00. It resets at midnight (Europe/Vienna).",
    budget: { path: "usage.budgets[0]", period: { name: "2026-11-15" }, used: { usd: 8 }, limit: { usd: 10 } },
  });
  await spend(2);
  expect(await budgets.check(CALLER)).toMatchObject({
    state: "stop",
    text: "the budget per day is used up: $10.00 of $10.00. It resets at midnight (Europe/Vienna); to go on now, raise usage.budgets[0] in the configuration.",
  });
});

test("a budget that only warns allows calls at its limit, and reports that it is used up", async () => {
  limit({ per: "month", usd: 1, onLimit: "warn" });
  await spend(3);
  const { state, text } = await budgets.check(CALLER);
  expect([state, text]).toEqual(["warn", expect.stringContaining("used up: $3.00 of $1.00. Calls go on, as usage.budgets[0] says")]);
});

test("tokens of every kind count", async () => {
  limit({ per: "day", tokens: 4000, warnAt: 0.5 });
  const tokens = { input: 500, output: 500, cacheRead: 500, cacheWrite: 500 };
  await store.write("usage.add", { sessionKey: "s", agentId: "main", provider: "p", model: "m", ...tokens, cost: 0, durationMs: 1 });
  expect(await budgets.check(CALLER)).toMatchObject({ state: "warn", text: expect.stringContaining("2,000 tokens of 4,000 tokens") });
});

test("the day ends at the user's midnight, the month with its last day there", async () => {
  limit({ per: "day", usd: 1 }, { per: "month", usd: 2 });
  await spend(1);
  expect(await budgets.check(CALLER)).toMatchObject({ state: "stop", budget: { per: "day" } });
  clock.advance(11 * HOUR - 1);
  expect((await budgets.check(CALLER)).state).toBe("stop");
  clock.advance(1);
  expect((await budgets.check(CALLER)).state).toBe("ok");
  await spend(0.9);
  clock.advance(24 * HOUR);
  expect(await budgets.check(CALLER)).toMatchObject({ state: "warn", budget: { per: "month", used: { usd: 1.9 } } });
  clock.advance(14 * 24 * HOUR);
  expect((await budgets.check(CALLER)).state).toBe("ok");
});

test("agent, sender and provider narrow what counts and what is stopped", async () => {
  limit({ per: "day", usd: 1, agent: "Work" }, { per: "day", usd: 1, sender: "+4366" }, { per: "day", usd: 1, provider: "OpenAI" });
  await spend(5);
  expect((await budgets.check(CALLER)).state).toBe("ok");
  await spend(1, { agentId: "work" });
  expect((await budgets.check(CALLER)).state).toBe("ok");
  expect(await budgets.check({ ...CALLER, agentId: "work" })).toMatchObject({ state: "stop", text: expect.stringContaining("(agent work)") });
  await spend(1, { provider: "openai" });
  expect((await budgets.check({ ...CALLER, provider: "openai" })).state).toBe("stop");
  await spend(1, { sender: "+4366" });
  expect((await budgets.check(CALLER)).state).toBe("stop");
  expect((await budgets.check({ agentId: "main", provider: "anthropic" })).state).toBe("ok");
  expect((await budgets.check({ ...CALLER, senderId: "+4377" })).state).toBe("ok");
});

test("a star gives everyone their own budget", async () => {
  limit({ per: "day", usd: 1, sender: "*" });
  await spend(1, { sender: "+4366" });
  await spend(0.25, { sender: "+4377" });
  await spend(9);
  expect((await budgets.check(CALLER)).state).toBe("stop");
  expect((await budgets.check({ ...CALLER, senderId: "+4377" })).state).toBe("ok");
  expect((await budgets.report()).budgets).toMatchObject([
    { sender: "+4366", state: "stop", share: 1 },
    { sender: "+4377", state: "ok", share: 0.25 },
  ]);
});

test("of several budgets the worst one decides", async () => {
  limit({ per: "month", usd: 11 }, { per: "day", tokens: 5 }, { per: "day", usd: 12 });
  await spend(10, { input: 7 });
  expect(await budgets.check(CALLER)).toMatchObject({ state: "stop", budget: { path: "usage.budgets[1]", share: 1.4 } });
});

test("a raised budget applies at once", async () => {
  limit({ per: "day", usd: 1 });
  await spend(1);
  expect((await budgets.check(CALLER)).state).toBe("stop");
  limit({ per: "day", usd: 10 });
  expect((await budgets.check(CALLER)).state).toBe("ok");
});

test("the report includes unused budgets", async () => {
  limit({ per: "month", usd: 20, agent: "main" });
  expect((await budgets.report()).budgets).toMatchObject([{ agent: "main", used: { usd: 0, tokens: 0 }, share: 0, state: "ok" }]);
});
