import { expect, test } from "vitest";
import { createStyle } from "../../output/style.ts";
import { quotaLines } from "./quota.ts";

const NOW = 1_770_000_000_000;
const lines = (...providers: Parameters<typeof quotaLines>[0]["providers"]) =>
  quotaLines({ updatedAt: NOW, providers }, { style: createStyle(false), columns: 100, now: NOW })
    .split("\n")
    .map((line) => line.trim().split(/\s{2,}/))
    .filter(([first]) => first !== "");

test("each window has a line: how much is used, and when it resets", () => {
  const claude = {
    provider: "anthropic",
    displayName: "Claude",
    plan: "Max",
    windows: [
      { label: "5h", usedPercent: 42, resetAt: NOW + 90 * 60_000 },
      { label: "Week", usedPercent: 100 },
    ],
  };
  const [, first, second] = lines(claude);
  expect(first?.slice(0, 3)).toEqual(["Claude (Max)", "5h", "████░░░░░░ 42 %"]);
  expect(first?.[3]).toMatch(/^resets in 1\s?h/);
  expect(second?.slice(0, 2)).toEqual(["Week", "██████████ 100 %"]);
});

test("a provider that tells nothing, and one that could not be asked, say so", () => {
  const text = lines(
    { provider: "xiaomi", displayName: "Xiaomi", windows: [] },
    { provider: "zai", displayName: "z.ai", windows: [], error: "no answer within 5000 ms" },
  );
  expect(text.flat()).toEqual(expect.arrayContaining(["no data", "unknown", "no answer within 5000 ms"]));
});

test("without any provider that is said", () => expect(lines().flat().join(" ")).toBe("No provider in use reports usage limits"));
