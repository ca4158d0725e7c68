import { expect, test } from "vitest";
import { suggestionsOf, withSuggestion } from "./suggest.ts";

const recall = (n: number, over: object = {}) => ({
  sessionId: "s",
  entryId: `e${n}`,
  asked: `question ${n}`,
  query: "q",
  results: [
    {
      path: "memory/2026-10-02.md",
      startLine: 1,
      endLine: 3,
      score: 0.9,
      source: "memory",
      snippet: "# Day\n- 09:30 Tea at four.\n- Rye bread.\n\nSource: memory/2026-10-02.md#L1-L3",
    },
  ],
  ...over,
});

test("a note that was recalled in three turns is suggested with the lines that MEMORY.md lacks, as a diff", () => {
  const main = "# Memory\n\n- rye  BREAD.\n";
  expect(suggestionsOf([recall(1), recall(2)], main)).toEqual([]);
  // Two searches in one turn are one recall.
  expect(suggestionsOf([recall(1), recall(2), recall(2)], main)).toEqual([]);
  const [suggestion] = suggestionsOf([recall(1), recall(2), recall(3)], main);
  expect(suggestion).toMatchObject({ n: 1, recalls: 3, lines: ["Tea at four."] });
  expect(suggestion?.diff).toBe("--- MEMORY.md\n+++ MEMORY.md\n@@ -2,2 +2,3 @@\n \n - rye  BREAD.\n+- Tea at four. (memory/2026-10-02.md)");
  const accepted = withSuggestion(main, suggestion!);
  expect(accepted).toBe(`${main}- Tea at four. (memory/2026-10-02.md)\n`);
  expect(suggestionsOf([recall(1), recall(2), recall(3)], accepted)).toEqual([]);
  expect(withSuggestion("", suggestion!)).toBe("# Memory\n\n- Tea at four. (memory/2026-10-02.md)\n");
});

test("MEMORY.md itself and conversations are not suggested", () => {
  const own = { results: [{ path: "MEMORY.md", startLine: 1, endLine: 1, score: 1, source: "memory", snippet: "x" }] };
  const said = { results: [{ path: "sessions/a.jsonl", startLine: 1, endLine: 1, score: 1, source: "sessions", snippet: "x" }] };
  expect(
    suggestionsOf(
      [1, 2, 3].flatMap((n) => [recall(n, own), recall(n, said)]),
      "",
    ),
  ).toEqual([]);
});
