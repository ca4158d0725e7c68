import { appendFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SYSTEM_EVENTS } from "../../src/sessions/index.ts";
import { openMethods, type MethodFixture } from "../harness/methods.ts";

let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods({
    config: {
      agents: {
        defaults: { model: { primary: "anthropic/claude-x" }, heartbeat: { every: "15m" } },
        list: [
          { id: "main", name: "Main" },
          { id: "ops", default: true, name: "Operations", identity: { name: "Otto", emoji: "🛠", avatar: "https://x.example/a.png" } },
        ],
      },
    },
  });
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function say(sessionKey: string): Promise<void> {
  await fixture.call("chat.send", { sessionKey, message: "hello", idempotencyKey: sessionKey });
  await fixture.echo.outcome(sessionKey);
}

test("health names agents, their sessions and their heartbeats", async () => {
  await say("agent:main:work");
  const health = await fixture.call("health", {});
  expect(health).toMatchObject({ ok: true, defaultAgentId: "ops", channels: {}, sessions: { count: 0 } });
  expect(health.agents).toMatchObject([
    {
      agentId: "main",
      name: "Main",
      isDefault: false,
      heartbeat: { enabled: false, every: "disabled", everyMs: null },
      sessions: { count: 1, recent: [{ key: "agent:main:work", age: 0 }] },
    },
    { agentId: "ops", isDefault: true, sessions: { count: 0, recent: [] } },
  ]);
});

test("status shows sessions to admins, and numbers only to others", async () => {
  await say("main");
  const full = await fixture.call("status", {});
  expect(full.sessions).toMatchObject({
    count: 1,
    defaults: { model: "claude-x" },
    recent: [{ key: "agent:ops:main", agentId: "ops", age: 0, percentUsed: null }],
  });
  expect(full.sessions.paths).toHaveLength(1);
  const reduced = await fixture.call("status", {}, { scopes: new Set(["operator.read"]) });
  expect(reduced.sessions).toMatchObject({ count: 1, paths: [], defaults: { model: null, contextTokens: null }, recent: [] });
  expect(reduced.sessions.byAgent).toMatchObject([
    { path: "", recent: [] },
    { count: 1, recent: [] },
  ]);
  expect(JSON.stringify(reduced)).not.toContain(fixture.folder);
});

test("a system event is queued for the main session, a repeated beacon is not", async () => {
  for (let n = 0; n < 2; n += 1) await fixture.call("system-event", { text: "Node: phone (10.0.0.2) · mode node" });
  await fixture.call("system-event", { text: "the door opened" });
  await fixture.call("system-event", { text: "the door opened" });
  expect((await fixture.call("status", {})).queuedSystemEvents).toEqual(["Node: phone (10.0.0.2) · mode node", "the door opened"]);
  expect(await fixture.store.read("injections.waiting", { sessionKey: "agent:ops:main", now: fixture.clock.now() })).toHaveLength(2);
});

test("a session has twenty queued events at most: the oldest go, and one that repeats the last does not come", async () => {
  for (let n = 1; n <= 25; n += 1) for (const text of [`event ${n}`, `event ${n}`]) await fixture.call("system-event", { text });
  expect((await fixture.call("status", {})).queuedSystemEvents).toEqual(Array.from({ length: 20 }, (_, n) => `event ${n + 6}`));
  await fixture.call("system-event", { text: "event 24" });
  expect((await fixture.call("status", {})).queuedSystemEvents.slice(-2)).toEqual(["event 25", "event 24"]);
});

test("an event with a key comes once, also when it repeated the one before it", async () => {
  const { store } = fixture;
  const add = (id: string, text: string, idempotencyKey: string) =>
    store.write("injections.add", { id, sessionKey: "agent:ops:main", pluginId: "p", placement: "system-event", text, idempotencyKey, most: 2 });
  expect(await add("1", "a", "k1")).toEqual({ id: "1", duplicate: false });
  expect(await add("2", "a", "k2")).toEqual({ id: "2", duplicate: true });
  await store.write("injections.drain", { sessionKey: "agent:ops:main", turnId: "t" });
  expect(await add("3", "a", "k2")).toEqual({ id: "2", duplicate: true });
  for (const n of [4, 5, 6]) await add(String(n), `text ${n}`, `k${n}`);
  expect(await add("7", "text 4", "k4")).toEqual({ id: "4", duplicate: true });
  const waiting = await store.read("injections.waiting", { sessionKey: "agent:ops:main", now: fixture.clock.now() });
  expect(waiting.map(({ text }) => text)).toEqual(["text 5", "text 6"]);
});

test("an event that someone waits for is never dropped: notes do not push it out, and more of them than fit are refused", async () => {
  const { store } = fixture;
  const sessionKey = "agent:ops:main";
  const about = { sessionKey, pluginId: SYSTEM_EVENTS, placement: "system-event", most: 2 };
  const remind = (n: number) => store.write("injections.add", { ...about, id: `r${n}`, text: `remind ${n}`, payload: { wake: "cron", now: false }, limit: 5 });
  const waiting = async () => (await store.read("injections.waiting", { sessionKey, now: fixture.clock.now() })).map(({ text }) => text);
  await remind(1);
  for (const n of [1, 2, 3]) await store.write("injections.add", { ...about, id: `n${n}`, text: `note ${n}` });
  for (const n of [2, 3]) await remind(n);
  expect(await waiting()).toEqual(["remind 1", "note 2", "note 3", "remind 2", "remind 3"]);
  await expect(remind(4)).rejects.toMatchObject({
    code: "OVERLOADED",
    message: expect.stringContaining("5 lines are already waiting for the next turn of agent:ops:main"),
  });
  await store.write("injections.drain", { sessionKey, turnId: "t" });
  await remind(4);
  expect(await waiting()).toEqual(["remind 4"]);
});

test("presence is a list", async () => {
  expect(await fixture.call("system-presence", {})).toMatchObject([{ mode: "gateway" }]);
});

test("agents are listed with who they are", async () => {
  expect(await fixture.call("agents.list", {})).toEqual({
    defaultId: "ops",
    mainKey: "main",
    scope: "per-sender",
    agents: [
      { id: "main", name: "Main" },
      { id: "ops", name: "Operations", identity: { name: "Otto", emoji: "🛠", avatar: "https://x.example/a.png", avatarUrl: "https://x.example/a.png" } },
    ],
  });
});

test("an agent's identity is found by id or by session", async () => {
  const otto = { agentId: "ops", name: "Otto", emoji: "🛠", avatar: "https://x.example/a.png" };
  expect(await fixture.call("agent.identity.get", {})).toEqual(otto);
  expect(await fixture.call("agent.identity.get", { sessionKey: "agent:main:work" })).toEqual({ agentId: "main", name: "Main" });
  expect(await fixture.call("agent.identity.get", { agentId: "OPS" })).toEqual(otto);
  await expect(fixture.call("agent.identity.get", { agentId: "nobody" })).rejects.toThrow('unknown agent id "nobody"');
  await expect(fixture.call("agent.identity.get", { agentId: "ops", sessionKey: "agent:main:x" })).rejects.toThrow("does not match");
});

test("the log is read from a byte offset on, and from the start again when it was rotated", async () => {
  expect(await fixture.call("logs.tail", {})).toMatchObject({ cursor: 0, size: 0, lines: [] });
  writeFileSync(fixture.logFile, "eins\nzwölf\nhalb");
  const first = await fixture.call("logs.tail", {});
  expect(first).toEqual({ file: fixture.logFile, cursor: 12, size: 16, lines: ["eins", "zwölf"] });
  appendFileSync(fixture.logFile, "fertig\n");
  const next = await fixture.call("logs.tail", { cursor: first.cursor });
  expect(next).toMatchObject({ cursor: 23, lines: ["halbfertig"] });
  expect(await fixture.call("logs.tail", { limit: 1 })).toMatchObject({ lines: ["halbfertig"], truncated: true });
  // The read begins inside the two bytes of the umlaut; the cursor is right all the same.
  expect(await fixture.call("logs.tail", { maxBytes: 15 })).toMatchObject({ cursor: 23, lines: ["halbfertig"], truncated: true });
  writeFileSync(fixture.logFile, "neu\n");
  expect(await fixture.call("logs.tail", { cursor: next.cursor })).toMatchObject({ cursor: 4, lines: ["neu"], reset: true });
});

const DAY = 86_400_000;

async function use(sessionKey: string, daysAgo: number, cost: number): Promise<void> {
  const at = fixture.clock.now() - daysAgo * DAY;
  const tokens = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1 };
  await fixture.store.write("usage.add", {
    sessionKey,
    agentId: "ops",
    provider: "anthropic",
    model: "claude-x",
    ...tokens,
    cost,
    costs: { input: cost / 2, output: cost / 4, cacheRead: cost / 8, cacheWrite: cost / 8 },
    durationMs: 100,
    channel: "webchat",
    at,
  });
}

test("cost is reported by day and in total, for the last 30 days or those asked for", async () => {
  for (const [days, cost] of [
    [0, 1],
    [1, 2],
    [29, 4],
    [30, 8],
  ] as const)
    await use("agent:ops:main", days, cost);
  const month = await fixture.call("usage.cost", {});
  expect([month.days, month.daily.length, month.totals.totalCost, month.totals.totalTokens]).toEqual([30, 3, 7, 54]);
  expect((await fixture.call("usage.cost", { days: 1 })).totals).toMatchObject({
    totalCost: 1,
    inputCost: 0.5,
    outputCost: 0.25,
    cacheReadCost: 0.125,
    cacheWriteCost: 0.125,
  });
  const day = month.daily.at(-2)!.date;
  expect((await fixture.call("usage.cost", { startDate: day, endDate: day })).daily).toMatchObject([{ date: day, totalCost: 2 }]);
  await expect(fixture.call("usage.cost", { startDate: "2026-02-30" })).rejects.toThrow("startDate is not a day: 2026-02-30");
  expect(await fixture.call("usage.status", {})).toMatchObject({ providers: [] });
});

test("usage of sessions that were removed, and of those that are not named one by one, is not lost", async () => {
  await use("agent:ops:gone", 0, 5);
  await Promise.all(Array.from({ length: 45 }, (_, at) => say(`one-${at}`)));
  for (let at = 0; at < 45; at += 1) await use(`agent:ops:one-${at}`, 0, at + 1);
  const { totals, aggregates } = await fixture.call("sessions.usage", {});
  const { rows, others, removed } = aggregates.bySession!;
  expect(removed).toMatchObject({ sessions: 1, totals: { totalCost: 5 } });
  expect(rows[0]).toMatchObject({ key: "agent:ops:one-44", totals: { totalCost: 45 } });
  expect(rows.length + others.sessions).toBe(45);
  const all = [...rows, others, removed].reduce((sum, one) => sum + one.totals.totalCost, 0);
  expect([all, others.sessions > 0]).toEqual([totals.totalCost, true]);
});

test("usage is reported by session, over time, and line by line", async () => {
  await say("main");
  await use("agent:ops:main", 1, 2);
  await use("agent:ops:main", 0, 1);
  const usage = await fixture.call("sessions.usage", {});
  expect(usage.sessions).toMatchObject([{ key: "agent:ops:main", agentId: "ops", usage: { totalCost: 3, totalTokens: 36 } }]);
  expect(usage.aggregates).toMatchObject({
    byModel: [
      { provider: "anthropic", model: "claude-x", count: 2 },
      { provider: "test", model: "echo", count: 1 },
    ],
    bySession: { rows: [{ key: "agent:ops:main", count: 3, totals: { totalCost: 3 } }], others: { sessions: 0 }, removed: { sessions: 0 } },
    latency: { count: 3, avgMs: 67 },
    daily: [{ cost: 2 }, { cost: 1 }],
  });
  expect((await fixture.call("sessions.usage", { key: "nobody" })).sessions).toEqual([]);
  const { points } = await fixture.call("sessions.usage.timeseries", { key: "main" });
  expect(points.map(({ cost, cumulativeCost, cumulativeTokens }) => [cost, cumulativeCost, cumulativeTokens])).toEqual([
    [2, 2, 18],
    [0, 2, 18],
    [1, 3, 36],
  ]);
  expect((await fixture.call("sessions.usage.logs", { key: "main" })).logs).toMatchObject([
    { role: "user", content: "hello" },
    { role: "assistant", content: "hello", tokens: 0 },
  ]);
});
