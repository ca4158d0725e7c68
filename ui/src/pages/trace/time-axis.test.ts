import { describe, expect, test } from "vitest";
import { atOf, focused, isWhole, panned, ticksOf, wholeView, xOf, zoomed } from "./time-axis.ts";

const whole = wholeView(10_000);

describe("ticks", () => {
  test("stand at round times that fit, whatever the length", () => {
    for (const length of [3, 40, 950, 4200, 61_000, 3_700_000, 400_000_000]) {
      const view = wholeView(length);
      const ticks = ticksOf(view, 600);
      const places = ticks.map(({ at }) => xOf(at, view, 600));
      const gaps = places.slice(1).map((x, index) => x - places[index]!);
      expect(ticks.length, String(length)).toBeGreaterThanOrEqual(2);
      expect(Math.min(...gaps), String(length)).toBeGreaterThanOrEqual(80);
      expect(new Set(ticks.map(({ label }) => label)).size, String(length)).toBe(ticks.length);
    }
  });

  test("are written in the unit of their step", () => {
    const labels = (length: number): readonly string[] => ticksOf(wholeView(length), 600).map(({ label }) => label);
    expect(labels(40)).toEqual(["0", "10 ms", "20 ms", "30 ms", "40 ms"]);
    expect(labels(1800)).toEqual(["0", "0.5 s", "1.0 s", "1.5 s"]);
    expect(labels(10_000)).toEqual(["0", "2 s", "4 s", "6 s", "8 s", "10 s"]);
    expect(labels(120_000)).toEqual(["0", "30 s", "1:00", "1:30", "2:00"]);
    expect(labels(1_200_000)).toEqual(["0", "5 min", "10 min", "15 min", "20 min"]);
  });

  test("are never before the beginning", () => {
    expect(ticksOf(wholeView(1000), 600)[0]).toEqual({ at: 0, label: "0" });
  });
});

describe("zoom", () => {
  test("keeps the moment under the pointer where it is", () => {
    const view = zoomed(whole, whole, 4, 3000);
    expect(xOf(3000, view, 800)).toBeCloseTo(xOf(3000, whole, 800));
    expect(view.to - view.from).toBeCloseTo((whole.to - whole.from) / 4);
  });

  test("out again ends at the whole, and in ends at two milliseconds", () => {
    let view = zoomed(whole, whole, 4, 9000);
    view = zoomed(view, whole, 0.01);
    expect(view).toEqual(whole);
    expect(isWhole(view, whole)).toBe(true);
    view = zoomed(view, whole, 1e9, 500);
    expect(view.to - view.from).toBeCloseTo(2);
    expect(isWhole(view, whole)).toBe(false);
  });

  test("to a step shows all of it with a margin", () => {
    const view = focused(whole, 4000, 4500);
    expect(view).toEqual({ from: 3900, to: 4600 });
  });
});

describe("pan", () => {
  test("stops at both ends and keeps its length", () => {
    const view = zoomed(whole, whole, 5);
    const length = view.to - view.from;
    const left = panned(view, whole, -1e9);
    const right = panned(view, whole, 1e9);
    expect(left.from).toBe(whole.from);
    expect(right.to).toBeCloseTo(whole.to);
    expect(left.to - left.from).toBeCloseTo(length);
    expect(right.to - right.from).toBeCloseTo(length);
  });
});

test("a place in pixels and its moment are each other's inverse", () => {
  for (const x of [0, 17, 400, 800]) expect(xOf(atOf(x, whole, 800), whole, 800)).toBeCloseTo(x);
});
