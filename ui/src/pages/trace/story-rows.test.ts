import { expect, test } from "vitest";
import { sumsOf, waterfallOf, type Step, type Story } from "./story-rows.ts";

const T = 1_700_000_000_000;
const step = (kind: string, at: number, more: Partial<Step> = {}): Step => ({ at: T + at, kind, text: kind, lane: "turn", ...more });

function storyOf(steps: readonly Step[], verdict: Partial<Story["verdict"]> = {}): Story {
  return { about: {}, verdict: { outcome: "answered", level: "ok", text: "answered", ...verdict }, steps: [...steps], others: [] };
}

const answered = storyOf([
  step("received", 0, { lane: "arrival" }),
  step("queue", 0, { ms: 100, lane: "queue" }),
  step("hook", 5, {
    ms: 2,
    lane: "plugins",
    text: "before_dispatch by guard: no action",
    details: { hook: "before_dispatch", pluginId: "guard", decision: "ok" },
  }),
  step("start", 100),
  step("model", 110, { ms: 400, lane: "model", parent: 3, details: { model: "m1", input: 1000, output: 20, cost: 0.5, firstMs: 150 } }),
  step("attempt", 110, { ms: 50, lane: "model", parent: 4, details: { model: "m0", outcome: "rate_limit" } }),
  step("tool", 520, { ms: 80, lane: "tools", parent: 3, text: "read: done", details: { name: "read" } }),
  step("end", 700, { ms: 600, details: { outcome: "answered" } }),
  step("delivery", 700, { ms: 300, lane: "delivery", details: { state: "sent", attemptedAt: T + 950 } }),
]);

test("what is a part of something stands below it, and the turn is as long as its parts", () => {
  const { rows, length } = waterfallOf(answered, { now: T + 99_999 });
  expect(rows.map(({ name, depth }) => [name, depth])).toEqual([
    ["Received", 0],
    ["Queue", 0],
    ["Turn", 0],
    ["m1", 1],
    ["m0", 2],
    ["read", 1],
    ["Delivery", 0],
  ]);
  expect(rows.find(({ name }) => name === "Turn")).toMatchObject({ start: 100, end: 700, open: false, point: false });
  expect(length).toBe(1000);
});

test("the first token and the last attempt of a delivery are marked within their bars", () => {
  const { rows } = waterfallOf(answered, { now: T });
  expect(rows.find(({ name }) => name === "m1")).toMatchObject({ start: 110, first: 260, end: 510, note: "1K in, 20 out", bad: false });
  expect(rows.find(({ name }) => name === "Delivery")).toMatchObject({ start: 700, first: 950, end: 1000 });
  expect(rows.find(({ name }) => name === "m0")).toMatchObject({ bad: true, note: "rate_limit" });
});

test("an answer that came at once at the end of its call has waited all the time", () => {
  const late = storyOf([step("model", 0, { ms: 100, details: { firstMs: 101 } })]);
  expect(waterfallOf(late, { now: T }).rows[0]).toMatchObject({ start: 0, first: 100, end: 100 });
});

test("plugins that had nothing to say are counted, and shown when asked for", () => {
  expect(waterfallOf(answered, { now: T }).quiet).toBe(1);
  const { rows } = waterfallOf(answered, { now: T, quiet: true });
  expect(rows.find(({ name }) => name === "guard")).toMatchObject({ start: 5, end: 7, note: "before_dispatch: no action" });
});

test("calls that ran at the same time overlap, each on a line of its own", () => {
  const two = storyOf([step("tool", 0, { ms: 50, details: { name: "a" } }), step("tool", 10, { ms: 50, details: { name: "b" } })]);
  expect(waterfallOf(two, { now: T }).rows.map(({ start, end }) => [start, end])).toEqual([
    [0, 50],
    [10, 60],
  ]);
});

test("of a run in progress the turn grows until now, with the tool that runs", () => {
  const steps = [step("start", 0), step("model", 0, { ms: 100, parent: 0 }), step("tool", 110, { parent: 0, details: { name: "exec" } })];
  const { rows, length } = waterfallOf(storyOf(steps, { outcome: "running", level: "wait" }), { now: T + 900 });
  expect(rows.map(({ name, end, open }) => [name, end, open])).toEqual([
    ["Turn", 900, true],
    ["Model", 100, false],
    ["exec", 900, true],
  ]);
  expect(length).toBe(900);
});

test("of a run in progress in which nothing else runs, waiting for the model since the last step", () => {
  const steps = [step("received", 0), step("start", 10), step("model", 20, { ms: 80, parent: 1 })];
  const { rows } = waterfallOf(storyOf(steps, { outcome: "running", level: "wait" }), { now: T + 500 });
  expect(rows.at(-1)).toMatchObject({ index: -1, depth: 1, start: 100, end: 500, open: true });
});

test("a browser whose clock is behind does not turn time around", () => {
  const { rows, length } = waterfallOf(storyOf([step("start", 0), step("tool", 50, { parent: 0 })], { outcome: "running", level: "wait" }), {
    now: T - 60_000,
  });
  expect(length).toBe(50);
  for (const { start, end } of rows) expect(end).toBeGreaterThanOrEqual(start);
});

test("a story without steps has no rows and no negative length", () => {
  expect(waterfallOf(storyOf([]), { now: T })).toMatchObject({ rows: [], length: 1 });
});

test("sums: calls, tokens, cost and time by what it was spent on", () => {
  expect(sumsOf(answered)).toEqual({ calls: 1, tools: 1, tokens: 1020, cost: 0.5, waitedMs: 100, modelMs: 400, toolMs: 80 });
});

test("a message that waits has a bar that grows, with what it waits for", () => {
  const steps = [
    step("received", 0),
    step("queue", 0, { lane: "queue", text: "queued until in:4 is answered", details: { waiting: true, waitsFor: ["in:4"] } }),
  ];
  const story = storyOf(steps, { outcome: "waiting", level: "wait" });
  for (const now of [300, 900]) {
    const { rows, length } = waterfallOf(story, { now: T + now });
    expect(rows.at(-1)).toMatchObject({ name: "Queue", start: 0, end: now, open: true, point: false, note: "queued until in:4 is answered" });
    expect(length).toBe(now);
  }
});

test("a tool says what it was asked, and a command that ended badly is marked", () => {
  const tool = (text: string, gave: Readonly<Record<string, unknown>>): Step =>
    step("tool", 0, { ms: 5, text, details: { name: "exec", asked: { line: "ls x", arguments: { command: "ls x" } }, gave } });
  const notes = waterfallOf(storyOf([tool("exec: done", { exitCode: 0 }), tool("exec: done with exit code 2", { exitCode: 2 })]), { now: T }).rows;
  expect(notes.map(({ note, bad }) => [note, bad])).toEqual([
    ["ls x", false],
    ["done with exit code 2: ls x", true],
  ]);
});

test("a row knows its parts", () => {
  const { rows } = waterfallOf(answered, { now: T });
  expect(rows.find(({ name }) => name === "m1")!.parts.map(({ kind }) => kind)).toEqual(["attempt"]);
});
