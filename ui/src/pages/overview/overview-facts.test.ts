import { expect, test } from "vitest";
import { limitOf, sumsOf, type Budgets } from "./cost-card.ts";
import { axisLabels, messageSeries, stripText } from "./history-facts.ts";
import { channelLines, fixOf, headlineOf, programsOf, summaryOf, type ChannelsStatus, type Overview } from "./overview-facts.ts";
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
    { id: "telegram:default", name: "Telegram (default)", state: "Connected", level: "good", lastAt: 9 },
    { id: "telegram:work", name: "Telegram (work)", state: "Stopped", level: "bad", error: "401 from the platform" },
    { id: "irc:default", name: "irc", state: "Off", level: "" },
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

test("the headline is the newest error, else the newest warning, and each problem has one thing to do", () => {
  const problem = { id: "a", at: 1, text: "x", count: 1, level: "warn" as const };
  const error = { ...problem, id: "channel:telegram:work", level: "error" as const, page: "channels" };
  expect(headlineOf([problem, error])).toBe(error);
  expect(headlineOf([])).toBeUndefined();
  expect(fixOf(error, true)).toEqual({ kind: "link", label: "Fix connection", href: "channels/telegram/work" });
  expect(fixOf({ ...error, level: "warn" }, true)).toEqual({ kind: "reconnect", label: "Reconnect", channel: "telegram", accountId: "work" });
  expect(fixOf({ ...error, level: "warn" }, false)).toMatchObject({ kind: "link", href: "channels/telegram/work" });
  expect(fixOf({ ...problem, why: "in:4", page: "trace" }, true)).toMatchObject({ href: "trace/in%3A4" });
  expect([fixOf({ ...problem, page: "setup" }, true), fixOf(problem, true)]).toMatchObject([{ href: "start" }, { href: "logs" }]);
});

const HOUR = 3_600_000;

test("a strip is described by what was wrong, newest first, and says when there is no history", () => {
  const from = new Date(2026, 2, 1, 8).getTime();
  const span = (start: number, end: number, state: "ok" | "slow" | "down" | "unknown") => ({ from: from + start * HOUR, to: from + end * HOUR, state });
  expect(stripText("Signal", undefined)).toBe("Signal: no history yet");
  expect(stripText("Signal", [span(0, 9, "ok"), span(9, 10, "unknown")])).toBe("Signal: no problems");
  const words = stripText("Signal", [span(0, 1, "slow"), span(1, 2, "ok"), span(2, 3, "down")]);
  expect(words.replaceAll(/\s?[AP]M/g, "")).toBe("Signal: down from 10:00 to 11:00, degraded from 08:00 to 09:00");
  const axis = axisLabels({ from, to: from + 23.4 * HOUR, stepMs: HOUR, parts: [], messages: { from, total: 0, answered: 0, failed: 0, channels: [] } });
  expect(axis.map((label) => label.replace(/\s?[AP]M/, ""))).toEqual(["08:00", "02:00", "08:00", "02:00", "Now"]);
});

test("messages of many channels are five series at most, and the page's own are called Web", () => {
  const channels = ["gateway", "telegram", "a", "b", "c", "d"].map((channel, at) => ({ channel, counts: [10 - at, 1] }));
  const history = { from: 0, to: 2 * HOUR, stepMs: HOUR, parts: [], messages: { from: 0, total: 1, answered: 1, failed: 0, channels } };
  expect(messageSeries(history, { telegram: "Telegram" }).map(({ name, values }) => [name, ...values])).toEqual([
    ["Web", 10, 1],
    ["Telegram", 9, 1],
    ["a", 8, 1],
    ["b", 7, 1],
    ["2 others", 11, 2],
  ]);
});

test("cost is summed for today, this month, and a day on average since the first one with usage", () => {
  const row = (date: string, cost: number) => ({ date, provider: "acme", model: "m1", tokens: 1, cost });
  const modelDaily = [row("2026-02-27", 4), row("2026-02-28", 1), row("2026-03-02", 3)];
  const answer = { ...usage, updatedAt: Date.UTC(2026, 2, 2, 12), aggregates: { ...usage.aggregates, modelDaily } } as unknown as UsageAnswer;
  expect(sumsOf(answer, "cost")).toEqual({ today: 3, average: 2, month: 3 });
});

test("the limit that is shown is the one on everything, the day's before the month's", () => {
  const budget = (more: object) => ({ per: "month", ...more });
  const budgets = (...all: object[]) => ({ budgets: all }) as unknown as Budgets;
  expect(limitOf(budgets(budget({ agent: "main", per: "day" }), budget({}), budget({ per: "day", share: 0.5 })))).toMatchObject({ per: "day", share: 0.5 });
  expect(limitOf(budgets(budget({ sender: "x" })))).toBeUndefined();
});
