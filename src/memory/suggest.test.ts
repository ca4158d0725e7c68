import { expect, test } from "vitest";
import { suggestionsOf, withSuggestion } from "./suggest.ts";

const PATH = "memory/2026-10-02.md";
const NOTE = "# 2026-10-02\n\n- 09:30 Tea at four.\n- Rye bread.\n";

const passage = (over: object = {}) => ({
  path: PATH,
  startLine: 1,
  endLine: 3,
  score: 0.9,
  source: "memory",
  snippet: "# 2026-10-02\n\n- 09:30 Tea at four.\n- Rye bread.\n\nSource: memory/2026-10-02.md#L1-L4",
  ...over,
});
const recall = (n: number, ...results: ReturnType<typeof passage>[]) => ({
  sessionId: "s",
  entryId: `e${n}`,
  asked: `question ${n}`,
  query: "q",
  results: results.length === 0 ? [passage()] : results,
});
const thrice = (...results: ReturnType<typeof passage>[]) => [1, 2, 3].map((n) => recall(n, ...results));
const NOTES = new Map([[PATH, NOTE]]);

test("a note that was recalled in three turns is suggested with the lines that MEMORY.md lacks, as a diff", () => {
  const main = "# Memory\n\n- rye  BREAD.\n";
  expect(suggestionsOf([recall(1), recall(2)], main, NOTES)).toEqual([]);
  // Two searches in one turn are one recall.
  expect(suggestionsOf([recall(1), recall(2), recall(2)], main, NOTES)).toEqual([]);
  const [suggestion] = suggestionsOf(thrice(), main, NOTES);
  expect(suggestion).toMatchObject({ n: 1, recalls: 3, score: 0.9, lines: ["Tea at four."], startLine: 3, endLine: 3 });
  expect(suggestion?.diff).toBe("--- MEMORY.md\n+++ MEMORY.md\n@@ -2,2 +2,3 @@\n \n - rye  BREAD.\n+- Tea at four. (memory/2026-10-02.md)");
  const accepted = withSuggestion(main, suggestion!);
  expect(accepted).toBe(`${main}- Tea at four. (memory/2026-10-02.md)\n`);
  expect(suggestionsOf(thrice(), accepted, NOTES)).toEqual([]);
  expect(withSuggestion("", suggestion!)).toBe("# Memory\n\n- Tea at four. (memory/2026-10-02.md)\n");
});

test("a line that was forgotten or changed since it was recalled is not suggested", () => {
  expect(suggestionsOf(thrice(), "", new Map([[PATH, "# 2026-10-02\n\n- Rye bread.\n"]]))).toMatchObject([{ lines: ["Rye bread."], startLine: 3 }]);
  expect(suggestionsOf(thrice(), "", new Map())).toEqual([]);
  const erased = passage({ snippet: "[removed]\n- Rye bread." });
  expect(suggestionsOf(thrice(erased), "", new Map([[PATH, "[removed]\n- Rye bread.\n"]]))).toMatchObject([{ lines: ["Rye bread."] }]);
});

test("lines are suggested under their heading, in a section of that name when MEMORY.md has one", () => {
  const note = "# Workshop\n\nOpen on weekdays.\n\n## Alarm\n\n- 4471-B\n";
  const recalls = thrice(passage({ snippet: note }));
  const found = suggestionsOf(recalls, "# Memory\n", new Map([[PATH, note]]));
  expect(found.map(({ heading, lines }) => ({ heading, lines }))).toEqual([
    { heading: "Workshop", lines: ["Open on weekdays."] },
    { heading: "Alarm", lines: ["4471-B"] },
  ]);
  const alarm = found[1]!;
  expect(withSuggestion("# Memory\n", alarm)).toBe(`# Memory\n\n## Alarm\n\n- 4471-B (${PATH})\n`);
  const main = "# Memory\n\n## ALARM\n\n- Ask Nadia.\n\n## People\n\n- Nadia.\n";
  expect(withSuggestion(main, alarm)).toBe(`# Memory\n\n## ALARM\n\n- Ask Nadia.\n- 4471-B (${PATH})\n\n## People\n\n- Nadia.\n`);
  expect(suggestionsOf(recalls, main, new Map([[PATH, note]]))[1]?.diff).toBe(
    `--- MEMORY.md\n+++ MEMORY.md\n@@ -4,4 +4,5 @@\n \n - Ask Nadia.\n+- 4471-B (${PATH})\n \n ## People`,
  );
  // A line without a heading does not end up in whichever section is the last.
  expect(withSuggestion(main, { lines: ["Rye bread."], path: PATH })).toContain(`# Memory\n\n- Rye bread. (${PATH})\n\n## ALARM`);
});

test("scores count: weak passages are no recalls, and what helped more comes first", () => {
  expect(suggestionsOf(thrice(passage({ score: 0.2 })), "", NOTES)).toEqual([]);
  const notes = new Map([
    ["memory/a.md", "Weak fact.\n"],
    ["memory/b.md", "Strong fact.\n"],
  ]);
  const [weak, strong] = [passage({ path: "memory/a.md", snippet: "Weak fact.", score: 0.3 }), passage({ path: "memory/b.md", snippet: "Strong fact." })];
  expect(suggestionsOf([...thrice(weak, strong), recall(4, weak)], "", notes).map(({ lines, score }) => [lines[0], score])).toEqual([
    ["Strong fact.", 0.9],
    ["Weak fact.", 0.3],
  ]);
});

test("MEMORY.md itself and conversations are not suggested", () => {
  const own = passage({ path: "MEMORY.md", snippet: "x" });
  const said = passage({ path: "sessions/a.jsonl", source: "sessions", snippet: "x" });
  expect(suggestionsOf(thrice(own, said), "", new Map([["MEMORY.md", "x"]]))).toEqual([]);
});
