import { expect, test } from "vitest";
import { reasonsOf, understoodText } from "./reasons.ts";

test("evidence is said in words, for and against, without what hardly counts", () => {
  const reasons = reasonsOf({
    words: ["plumber"],
    about: ["bathroom"],
    related: ["call → phone"],
    ranked: 0.4,
    effects: [
      { feature: "rarest", effect: 0.9, value: 1 },
      { feature: "outOfSpan", effect: -0.5, value: 1 },
      { feature: "recent", effect: 0.001, value: 0.9 },
      { feature: "echo", effect: 0.4, value: 0.9 },
    ],
  });
  expect(reasons).toEqual([
    "+ words: plumber",
    "+ words of its heading or speaker: bathroom",
    "+ similar words: call → phone",
    "+ contains the rarest word of the question",
    "− not from the time in the question",
  ]);
});

test("a phrase follows what was measured, never the direction in which the ranking moved alone", () => {
  const said = (...effects: Parameters<typeof reasonsOf>[0]["effects"]) => reasonsOf({ words: [], about: [], related: [], ranked: 0.4, effects });
  // The best by words is not called a loose fit because the network weighed it against something else.
  expect(said({ feature: "words", effect: -0.3, value: 1 })).toEqual([]);
  expect(said({ feature: "rarest", effect: -0.3, value: 1 })).toEqual([]);
  expect(said({ feature: "coverage", effect: 0.3, value: 0.2 })).toEqual([]);
  expect(said({ feature: "coverage", effect: -0.3, value: 0.2 })).toEqual(["− covers little of the question"]);
  // An undated note is neither recent nor long ago.
  expect(said({ feature: "recent", effect: -0.3, value: 0.3 })).toEqual([]);
  // Two features that say the same count together, with one sign.
  expect(said({ feature: "newest", effect: 0.3, value: 1 }, { feature: "oldest", effect: -0.1, value: 0.01 })).toEqual(["+ newer than most matches"]);
});

test("how a question was understood is one sentence", () => {
  const understood = {
    language: "en",
    terms: ["loft"],
    exact: ["4471-b"],
    kind: "when",
    span: { from: "2026-09-30T22:00:00.000Z", to: "2026-10-31T23:00:00.000Z" },
    wants: "newest",
  } as const;
  expect(understoodText(understood, "Europe/Berlin")).toBe(
    "looks for loft; asks for a time; exactly 4471-b; from 2026-10-01 to 2026-10-31; wants the latest; language en",
  );
  const day = { ...understood, span: { from: "2026-11-15T23:00:00.000Z", to: "2026-11-16T23:00:00.000Z" } };
  expect(understoodText(day, "Europe/Berlin")).toContain("; on 2026-11-16;");
});
