import { expect, test } from "vitest";
import { largest, linePoints, percentages, piles, roundUp, shownLabels, topOf, valueTicks } from "./chart-scale.ts";

test("a scale ends at a round number", () => {
  expect([0, 0.003, 0.7, 1, 3, 24, 26, 99, 101].map(roundUp)).toEqual([1, 0.005, 1, 1, 5, 25, 50, 100, 200]);
});

test("its ticks begin at nothing, are evenly apart and reach the top", () => {
  for (const top of [0.0042, 0.9, 7, 33, 1234, 99_999]) {
    const ticks = valueTicks(top);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)!, String(top)).toBeGreaterThanOrEqual(top * 0.999);
    expect(ticks.length, String(top)).toBeLessThanOrEqual(5);
  }
});

test("values are stacked, and zero takes no space", () => {
  const all = piles(
    [
      { name: "a", values: [1, 0, 2] },
      { name: "b", values: [3, 4] },
    ],
    3,
  );
  expect(all).toEqual([
    [
      { series: 0, from: 0, to: 1 },
      { series: 1, from: 1, to: 4 },
    ],
    [{ series: 1, from: 0, to: 4 }],
    [{ series: 0, from: 0, to: 2 }],
  ]);
  expect(topOf(all)).toBe(4);
  expect(topOf([])).toBe(0);
});

test("the largest stand by themselves and the rest together", () => {
  const items = [1, 5, 3, 0, 2].map((value, index) => ({ name: `n${index}`, value }));
  expect(largest(items, 3)).toEqual([
    { name: "n1", value: 5 },
    { name: "n2", value: 3 },
    { name: "2 others", value: 3 },
  ]);
  expect(largest(items, 9)).toHaveLength(4);
});

test("labels are left out evenly where there is no space, never the last", () => {
  expect([...shownLabels(5, 10)]).toEqual([0, 1, 2, 3, 4]);
  expect([...shownLabels(30, 5)]).toEqual([5, 11, 17, 23, 29]);
});

test("a line goes from left to right within its box", () => {
  expect(linePoints([0, 2, 1], 100, 20)).toBe("0.0,20.0 50.0,0.0 100.0,10.0");
  expect(linePoints([5], 100, 20)).toBe("0.0,0.0");
});

test("percentages are whole and make a hundred", () => {
  expect(percentages([1, 1, 1])).toEqual([34, 33, 33]);
  expect(percentages([99.6, 0.4])).toEqual([100, 0]);
  expect([percentages([0, 0]), percentages([])]).toEqual([[0, 0], []]);
});
