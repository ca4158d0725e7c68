import { expect, test } from "vitest";
import { askedOf, attemptText, factsOf, gaveOf, restOf, waitsFor } from "./step-facts.ts";
import type { Step } from "./story-rows.ts";

const step = (kind: string, details: Step["details"], more: Partial<Step> = {}): Step => ({
  at: 0,
  kind,
  text: kind,
  lane: "turn",
  ...(details ? { details } : {}),
  ...more,
});

test("a command is shown as it was given, other arguments as JSON", () => {
  const exec = step("tool", { name: "exec", asked: { line: "ls -la", arguments: { command: "ls\n-la" } } });
  expect(askedOf(exec)).toEqual({ line: "ls -la", text: "ls\n-la", command: true });
  const read = step("tool", { name: "read", asked: { line: "a.txt", arguments: { path: "a.txt", limit: 3 } } });
  expect(askedOf(read)).toEqual({ line: "a.txt", text: '{\n  "path": "a.txt",\n  "limit": 3\n}', command: false });
  expect(askedOf(step("tool", { name: "read", asked: { line: "", arguments: "too much…" } }))?.text).toBe("too much…");
  expect(askedOf(step("tool", { name: "read" }))).toBeUndefined();
});

test("what came back says how it ended, and where all of it is", () => {
  const gave = gaveOf(step("tool", { gave: { text: "no such file", chars: 5000, cut: true, exitCode: 2, pictures: 1, seq: 7 } }));
  expect(gave).toEqual({
    text: "no such file",
    chars: 5000,
    cut: true,
    notes: [
      { text: "Exit code 2", isEnd: true },
      { text: "1 picture", isEnd: false },
    ],
    failed: true,
    seq: 7,
  });
  expect(gaveOf(step("tool", { gave: { text: "", chars: 0, cut: false, exitCode: 0 } }))).toMatchObject({
    notes: [{ text: "Exit code 0", isEnd: true }],
    failed: false,
    seq: undefined,
  });
  expect(gaveOf(step("tool", { gave: { text: "", chars: 0, cut: false, signal: "SIGKILL" } }))).toMatchObject({
    notes: [{ text: "Signal SIGKILL", isEnd: true }],
    failed: true,
  });
});

test("of a call of a model: who, tokens, cost, and what ended it", () => {
  const details = { provider: "mock", model: "m1", input: 1200, output: 30, cacheRead: 0, cacheWrite: 0, cost: 0.5, stopReason: "length", failed: false };
  expect(factsOf(step("model", details))).toEqual([
    ["Provider", "mock"],
    ["Model", "m1"],
    ["Tokens in", (1200).toLocaleString()],
    ["Tokens out", "30"],
    ["Cost", "$0.50"],
    ["Stop reason", "Length limit"],
  ]);
  expect(factsOf(step("model", { ...details, cacheRead: 50 })).map(([name]) => name)).toContain("From cache");
  expect(factsOf(step("model", { provider: "mock", model: "m1", failed: true, input: 0, output: 0, cost: 0 })).map(([name]) => name)).toEqual([
    "Provider",
    "Model",
  ]);
});

test("of a plugin: its name, the hook, what it decided and said", () => {
  expect(factsOf(step("hook", { pluginId: "guard", hook: "before_tool_call", decision: "decided", said: "block: not on sundays" }))).toEqual([
    ["Plugin", "guard"],
    ["Hook", "before_tool_call"],
    ["Decision", "Decided"],
    ["Message", "block: not on sundays"],
  ]);
});

test("what has a place of its own is not among the rest", () => {
  expect(restOf(step("tool", { name: "exec", callId: "c1", isError: false, asked: {}, gave: {} }))).toEqual({ callId: "c1" });
  expect(restOf(step("model", { provider: "mock", firstMs: 3, novel: 1 }))).toEqual({ novel: 1 });
  expect(restOf(step("gate", { path: "channels.x" }))).toEqual({ path: "channels.x" });
});

test("an attempt that failed says who it was, when it gave up, and why", () => {
  const details = { provider: "mock", model: "m0", outcome: "rate_limit", error: "429: too many" };
  expect(attemptText(step("attempt", details, { ms: 1500 }))).toEqual({ who: "mock/m0", what: "rate_limit after 1.5 s: 429: too many" });
});

test("a message in a queue names those in front of it", () => {
  expect(waitsFor(step("queue", { waiting: true, waitsFor: ["in:4", "in:5"] }))).toEqual(["in:4", "in:5"]);
  expect(waitsFor(step("queue", undefined))).toEqual([]);
});
