import { expect, test } from "vitest";
import { seededRandom } from "../../base/random.ts";
import { makeCode } from "./pairing.ts";

test("codes are drawn evenly from 32 characters", () => {
  const random = seededRandom(3);
  const counts = new Map<string, number>();
  for (let turn = 0; turn < 4000; turn++) for (const sign of makeCode(random, new Set())!) counts.set(sign, (counts.get(sign) ?? 0) + 1);
  expect([...counts.keys()].sort().join("")).toBe("23456789ABCDEFGHJKLMNPQRSTUVWXYZ");
  // 1000 of each are expected; five standard deviations are 156.
  expect([...counts.values()].every((count) => Math.abs(count - 1000) < 160)).toBe(true);
});

test("a source that always repeats itself ends without a code", () => {
  expect(makeCode({ bytes: (size) => Buffer.alloc(size) }, new Set(["AAAAAAAA"]))).toBeUndefined();
});
