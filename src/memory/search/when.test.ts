import { expect, test } from "vitest";
import { anchorIn, spanIn } from "./when.ts";

/** Tuesday, 17 November 2026, noon. */
const NOW = Date.UTC(2026, 10, 17, 12) / 1000;
const days = (question: string): readonly [string, string] | undefined => {
  const span = spanIn(question, NOW);
  return span && [new Date(span.from * 1000).toISOString().slice(0, 10), new Date(span.to * 1000).toISOString().slice(0, 10)];
};

test.each([
  ["what did I say yesterday?", "2026-11-16", "2026-11-17"],
  ["was habe ich gestern erzählt", "2026-11-16", "2026-11-17"],
  ["what did we plan last spring", "2026-03-01", "2026-06-01"],
  ["¿qué hice el verano pasado?", "2026-06-01", "2026-09-01"],
  ["what happened last winter", "2025-12-01", "2026-03-01"],
  ["what did I buy in March", "2026-03-01", "2026-04-01"],
  ["which book did I read in December", "2025-12-01", "2026-01-01"],
  ["was war im Mai 2025", "2025-05-01", "2025-06-01"],
  ["on 3 October I met someone", "2026-10-03", "2026-10-04"],
  ["what was on 2026-02-14", "2026-02-14", "2026-02-15"],
  ["am 5.9.2026", "2026-09-05", "2026-09-06"],
  ["last week's dinner", "2026-11-09", "2026-11-16"],
  ["what did I eat last month", "2026-10-01", "2026-11-01"],
  ["last year's holiday", "2025-01-01", "2026-01-01"],
  ["on Friday I called", "2026-11-13", "2026-11-14"],
  ["last weekend", "2026-11-14", "2026-11-16"],
  ["back in 2024", "2024-01-01", "2025-01-01"],
])("%s", (question, from, to) => {
  expect(days(question)).toEqual([from, to]);
});

test.each(["three weeks ago", "vor drei Wochen", "hace tres semanas", "il y a trois semaines"])("%s is about twenty-one days back", (question) => {
  const span = spanIn(question, NOW)!;
  const middle = (span.from + span.to) / 2;
  expect((NOW - middle) / 86_400).toBeCloseTo(21, 0);
});

test.each(["may I ask you something", "what is my dog called", "spring a surprise on someone"])("%s names no time", (question) => {
  expect(spanIn(question, NOW)).toBeUndefined();
});

test("days begin where the person is", () => {
  const span = spanIn("yesterday", NOW, 9 * 3600)!;
  expect(new Date(span.from * 1000).toISOString()).toBe("2026-11-15T15:00:00.000Z");
});

test("an event that a time is counted from is recognised", () => {
  expect(anchorIn("What did I tell you the week before my birthday?")).toEqual({ event: "my birthday", before: true, days: 8 });
  expect(anchorIn("what is my name")).toBeUndefined();
});
