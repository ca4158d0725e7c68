import { expect, test } from "vitest";
import { reasonsOf, understoodText } from "./reasons.ts";

test("evidence is said in words, for and against, without what hardly counts", () => {
  const reasons = reasonsOf({
    words: ["plumber"],
    related: ["call → phone"],
    effects: [
      { feature: "rarest", effect: 0.9 },
      { feature: "outOfSpan", effect: -0.5 },
      { feature: "recent", effect: 0.001 },
      { feature: "echo", effect: 0.4 },
    ],
  });
  expect(reasons).toEqual([
    "+ words: plumber",
    "+ similar words: call → phone",
    "+ has the rarest word of the question",
    "− not from the time in the question",
  ]);
});

test("how a question was understood is one sentence", () => {
  const understood = {
    language: "en",
    terms: ["loft"],
    exact: ["4471-b"],
    kind: "when",
    span: { from: "2026-10-01T00:00:00.000Z", to: "2026-10-31T23:59:59.000Z" },
    wants: "newest",
  } as const;
  expect(understoodText(understood)).toBe("looks for loft; asks for a time; exactly 4471-b; between 2026-10-01 and 2026-10-31; wants the latest; language en");
});
