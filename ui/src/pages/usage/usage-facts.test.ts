import { expect, test } from "vitest";
import type { UsageAnswer } from "../overview/usage-series.ts";
import { configuredBudgets, csvOf, parseBudget, rowsBy, scopeWords } from "./usage-facts.ts";

const totals = (cost: number, tokens: number) => ({
  input: tokens,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: tokens,
  totalCost: cost,
  inputCost: 0,
  outputCost: 0,
  cacheReadCost: 0,
  cacheWriteCost: 0,
  missingCostEntries: 0,
});

const usage = {
  updatedAt: 0,
  startDate: "2026-11-01",
  endDate: "2026-11-02",
  sessions: [],
  totals: totals(3, 300),
  aggregates: {
    messages: {},
    tools: {},
    byModel: [
      { provider: "a", model: "small", count: 1, totals: totals(1, 200) },
      { provider: "a", model: "large", count: 2, totals: totals(2, 100) },
      { provider: "a", model: "unused", count: 0, totals: totals(0, 0) },
    ],
    byProvider: [],
    byAgent: [{ agentId: "=cmd", count: 3, totals: totals(3, 300) }],
    byChannel: [
      { channel: "media", count: 1, totals: totals(1, 100) },
      { count: 2, totals: totals(2, 200) },
    ],
    byWork: [
      { work: "heartbeat", count: 1, totals: totals(1, 100) },
      { work: "message", count: 2, totals: totals(2, 200) },
    ],
    bySession: {
      rows: [{ key: "agent:main:main", name: "agent:main:main", count: 1, totals: totals(1, 100) }],
      others: { sessions: 0, totals: totals(0, 0) },
      removed: { sessions: 2, totals: totals(2, 200) },
    },
    modelDaily: [{ date: "2026-11-02", provider: "a", model: "large", count: 2, tokens: 100, cost: 2 }],
    daily: [],
  },
} as unknown as UsageAnswer;

test("rows are ranked by what is measured, and what was not used is left out", () => {
  expect(rowsBy(usage, "model", "cost").map(({ name }) => name)).toEqual(["a/large", "a/small"]);
  expect(rowsBy(usage, "model", "tokens").map(({ name }) => name)).toEqual(["a/small", "a/large"]);
});

test("work without a person has its own name", () => {
  expect(rowsBy(usage, "work", "cost").map(({ name }) => name)).toEqual(["Messages", "Heartbeats"]);
  expect(rowsBy(usage, "channel", "cost").map(({ name }) => name)).toEqual(["No channel", "Files and pictures"]);
});

test("sessions add up with those that were removed", () => {
  const rows = rowsBy(usage, "session", "cost");
  expect(rows.map(({ name }) => name)).toEqual(["2 removed conversations", "Main chat"]);
  expect(rows.reduce((sum, { cost }) => sum + cost, 0)).toBe(3);
});

test("the export has every figure once per dimension, and no cell is a formula", () => {
  const lines = csvOf(usage).trim().split("\r\n");
  expect(lines[0]).toBe("dimension,date,name,calls,input,output,cached,tokens,cost_usd");
  expect(lines[1]).toBe("day_model,2026-11-02,a/large,2,,,,100,2");
  expect(lines).toContain("agent,,'=cmd,3,300,0,0,300,3");
});

test("budgets are read from the configuration and named by what they count", () => {
  expect(configuredBudgets({ usage: { budgets: [{ per: "day", usd: 5 }, { per: "year" }] } })).toEqual([{ per: "day", usd: 5 }]);
  expect(configuredBudgets({})).toEqual([]);
  expect(scopeWords({})).toBe("Everything");
  expect(scopeWords({ agent: "main", sender: "*" })).toBe("agent main, each sender");
});

test("a form makes a budget, or says what is missing", () => {
  const form = { per: "month", unit: "usd", limit: "12,50", onLimit: "stop", agent: "" };
  expect(parseBudget(form)).toEqual({ per: "month", usd: 12.5 });
  expect(parseBudget({ ...form, unit: "tokens", limit: "1000", onLimit: "warn", agent: "main" })).toEqual({
    per: "month",
    tokens: 1000,
    agent: "main",
    onLimit: "warn",
  });
  expect(parseBudget({ ...form, limit: "0" })).toBe("Enter a limit above 0.");
  expect(parseBudget({ ...form, unit: "tokens", limit: "1.5" })).toBe("Enter a whole number of tokens.");
});
