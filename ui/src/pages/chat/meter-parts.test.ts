import { expect, test } from "vitest";
import { meterParts, percentOf, type ContextAnswer } from "./meter-parts.ts";

const part = (kind: ContextAnswer["parts"][number]["kind"], tokens: number) => ({ kind, label: kind, chars: tokens * 4, tokens });

test("the meter says how full the memory is, never more than full, and nothing when it is unknown", () => {
  expect(percentOf(50, 200)).toBe(25);
  expect(percentOf(500, 200)).toBe(100);
  expect(percentOf(undefined, 200)).toBeUndefined();
  expect(percentOf(5, null)).toBeUndefined();
  expect(percentOf(5, 0)).toBeUndefined();
});

test("kinds of parts lie one behind the other and end where the use does", () => {
  const parts = [part("tools", 300), part("system", 0), part("messages", 200), part("messages", 300)];
  const shown = meterParts({ key: "k", contextTokens: 1000, usedTokens: 400, measured: true, parts });
  expect(shown.map(({ label, tokens, from, size }) => [label, tokens, from, size])).toEqual([
    ["Messages", 500, 0, 25],
    ["Tools", 300, 25, 15],
  ]);
});

test("a memory that is fuller than it can be fills the bar and no more", () => {
  const parts = meterParts({ key: "k", contextTokens: 100, usedTokens: 900, measured: false, parts: [part("other", 900)] });
  expect(parts[0]!.size).toBeCloseTo(100);
});
