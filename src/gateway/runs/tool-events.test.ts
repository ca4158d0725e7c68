import { expect, test } from "vitest";
import { shownToolEvent, shownValue } from "./tool-events.ts";

const call = { name: "read", toolCallId: "t1" };

test("small values are shown as they are", () => {
  const value = { path: "a.txt", list: [1, true, null, "x"], nested: { a: { b: [] } } };
  expect(shownValue(value)).toEqual(value);
});

test("long texts are cut, and the whole stays bounded however many there are", () => {
  expect(shownValue("x".repeat(8001))).toBe(`${"x".repeat(8000)}\n...(truncated)...`);
  const many = Array.from({ length: 10_000 }, (_, n) => ({ [`key ${n}`]: "y".repeat(5000) }));
  expect(JSON.stringify(shownValue(many)).length).toBeLessThan(200_000);
  expect(JSON.stringify(shownValue({ ["k".repeat(1_000_000)]: 1 })).length).toBeLessThan(10_000);
  expect(JSON.stringify(shownValue(Array.from({ length: 1_000_000 }, () => 1))).length).toBeLessThan(20_000);
});

test("images become their size", () => {
  expect(shownValue({ content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] })).toEqual({
    content: [{ type: "image", mimeType: "image/png", omitted: true, bytes: 5 }],
  });
});

test("what JSON cannot hold is shown all the same", () => {
  const cyclic: Record<string, unknown> = { big: 1n, run: () => 1, mark: Symbol("x"), gone: undefined };
  cyclic["self"] = cyclic;
  const text = JSON.stringify(shownValue(cyclic));
  expect(text).toContain('"big":"1"');
  expect(text.length).toBeLessThan(2000);
  let deep: unknown = "end";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(JSON.stringify(shownValue(deep))).toBe(`${"[".repeat(12)}"..."${"]".repeat(12)}`);
});

test("what a tool answers is shown at full only; what it is asked always", () => {
  const result = { ...call, phase: "result", isError: true, result: { content: [] } } as const;
  const update = { ...call, phase: "update", partialResult: "so far" } as const;
  const start = { ...call, phase: "start", args: { path: "a" } } as const;
  for (const verbose of ["off", "on", undefined]) {
    expect(shownToolEvent(result, verbose)).toEqual({ ...call, phase: "result", isError: true });
    expect(shownToolEvent(update, verbose)).toEqual({ ...call, phase: "update" });
    expect(shownToolEvent(start, verbose)).toEqual(start);
  }
  expect([result, update, start].map((event) => shownToolEvent(event, "full"))).toEqual([result, update, start]);
});
