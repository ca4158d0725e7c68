import { expect, test } from "vitest";
import { channelLines, programsOf, summaryOf, type ChannelsStatus, type Overview } from "./overview-facts.ts";
import { byAgent, byDay, bySession, daysUntil, type UsageAnswer } from "./usage-series.ts";

const overview = (more: Partial<Overview> = {}): Overview => ({
  ts: 1,
  version: "1",
  startedAt: 0,
  answering: { model: "acme/m1", offline: false, why: "" },
  runs: [],
  queues: [],
  problems: [],
  store: { engine: "sqlite", sessions: 0 },
  memory: { rssBytes: 1, heapUsedBytes: 1 },
  ...more,
});

const status = (accounts: ChannelsStatus["channelAccounts"]): ChannelsStatus => ({
  ts: 1,
  channelOrder: Object.keys(accounts),
  channelLabels: { telegram: "Telegram" },
  channels: {},
  channelAccounts: accounts,
  channelDefaultAccountId: {},
});

test("channels are described by what they do now, with their error only while it matters", () => {
  const lines = channelLines(
    status({
      telegram: [
        { accountId: "default", running: true, connected: true, lastError: "an old one", lastInboundAt: 5, lastOutboundAt: 9 },
        { accountId: "work", running: false, lastError: "401 from the platform" },
      ],
      irc: [{ accountId: "default", enabled: false, lastError: "x" }],
    }),
  );
  expect(lines).toEqual([
    { id: "telegram:default", name: "Telegram (default)", state: "connected", level: "good", lastAt: 9 },
    { id: "telegram:work", name: "Telegram (work)", state: "stopped", level: "bad", error: "401 from the platform" },
    { id: "irc:default", name: "irc", state: "off", level: "" },
  ]);
});

test("in one sentence: normal, warnings, problems, no model", () => {
  const problem = { id: "a", at: 1, text: "x", count: 1 };
  expect(summaryOf(overview(), [])).toMatchObject({ level: "good", more: "acme/m1 · no channels connected · idle" });
  expect(summaryOf(overview({ problems: [{ ...problem, level: "warn" }] }), [])).toMatchObject({ level: "warn", text: "1 warning" });
  const both = [
    { ...problem, level: "warn" as const },
    { ...problem, level: "error" as const },
  ];
  expect(summaryOf(overview({ problems: both }), [])).toMatchObject({ level: "bad", text: "1 problem" });
  expect(summaryOf(overview({ answering: { model: null, offline: false, why: "no key" } }), [])).toMatchObject({ level: "bad", text: "No model available" });
  expect(summaryOf(overview(), [{ id: "t", name: "t", state: "stopped", level: "bad" }])).toMatchObject({ level: "bad", text: "A channel is disconnected" });
});

test("programs that are alike stand on one line, with the time of the newest", () => {
  const page = { host: "Control UI", mode: "ui" };
  const lines = programsOf([
    { ...page, ts: 3 },
    { ...page, ts: 9 },
    { host: "vm", ts: 1 },
    { ...page, ts: 4, reason: "disconnect" },
  ]);
  expect(lines.map(({ entry, count }) => [entry.host, entry.ts, count])).toEqual([
    ["Control UI", 9, 2],
    ["vm", 1, 1],
    ["Control UI", 4, 1],
  ]);
});

test("days are those of UTC, and the last is today", () => {
  expect(daysUntil(Date.UTC(2026, 2, 1, 0, 30), 3)).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
});

const usage = {
  sessions: [
    { key: "agent:main:a", usage: { totalCost: 0, totalTokens: 10 } },
    { key: "agent:main:b", label: "Groceries", usage: { totalCost: 2, totalTokens: 5 } },
    { key: "agent:main:c", usage: null },
  ],
  aggregates: {
    byAgent: [{ agentId: "main", count: 3, totals: { totalCost: 2, totalTokens: 15 } }],
    modelDaily: [
      { date: "2026-02-28", provider: "acme", model: "m1", tokens: 5, cost: 2 },
      { date: "2026-03-01", provider: "acme", model: "m2", tokens: 10, cost: 0 },
      { date: "2025-01-01", provider: "acme", model: "m1", tokens: 99, cost: 99 },
    ],
  },
} as unknown as UsageAnswer;

test("what was used by day and model, as cost or tokens", () => {
  const days = ["2026-02-28", "2026-03-01"];
  expect(byDay(usage, days, "cost")).toEqual([{ name: "acme/m1", values: [2, 0] }]);
  expect(byDay(usage, days, "tokens")).toEqual([
    { name: "acme/m2", values: [0, 10] },
    { name: "acme/m1", values: [5, 0] },
  ]);
});

test("what was used by agent", () => {
  expect(byAgent(usage)).toEqual([{ name: "main", cost: 2, tokens: 15, calls: 3 }]);
});

test("shares of sessions add up: the largest, all others together, and those that were removed", () => {
  const totals = (totalCost: number, totalTokens: number) => ({ totalCost, totalTokens });
  const rows = ["a", "b", "c", "d"].map((key, at) => ({ key: `agent:main:${key}`, name: key.toUpperCase(), count: 1, totals: totals(4 - at, at) }));
  const all = {
    ...usage,
    aggregates: { bySession: { rows, others: { sessions: 3, totals: totals(1.5, 7) }, removed: { sessions: 2, totals: totals(3, 0) } } },
  };
  const answer = all as unknown as UsageAnswer;
  const byCost = bySession(answer, "cost", 4);
  expect(byCost.map(({ name, value }) => [name, value])).toEqual([
    ["A", 4],
    ["B", 3],
    ["5 others", 4.5],
    ["2 removed conversations", 3],
  ]);
  expect(byCost.map(({ href }) => href)).toEqual([expect.stringContaining("chat/"), expect.stringContaining("chat/"), undefined, undefined]);
  expect(bySession(answer, "tokens", 4).map(({ name, value }) => [name, value])).toEqual([
    ["D", 3],
    ["C", 2],
    ["B", 1],
    ["3 others", 7],
  ]);
  expect(bySession(answer, "cost", 9)).toHaveLength(6);
});
