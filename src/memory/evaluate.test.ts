import { expect, test } from "vitest";
import { evaluate, parseQuestions } from "./evaluate.ts";

const hit = (path: string, startLine: number, snippet = "") => ({ path, startLine, endLine: startLine, snippet });

test("questions are read line by line; what cannot be read is named with its number", () => {
  const { questions, badLines } = parseQuestions(
    [
      '\uFEFF{"query":"a","expect":[{"text":"x"}]}',
      "",
      "no json",
      '{"query":"","expect":[]}',
      '{"query":"b","expect":[{"path":"M","line":0}]}',
      '{"query":"c","now":"never","expect":[{"text":"x"}]}',
      "[]",
    ].join("\r\n"),
  );
  expect(questions).toEqual([{ line: 1, query: "a", expect: [{ text: "x" }] }]);
  expect(badLines.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
  expect(badLines[1]?.why).toContain('"query" is missing');
});

test("recall counts what is among the first, and the ranking how high it stands", async () => {
  const parsed = parseQuestions(
    [
      { query: "first", expect: [{ path: "M", line: 1 }] },
      { query: "seventh", expect: [{ path: "M", line: 7 }] },
      { query: "half", expect: [{ text: "YES  indeed" }, { sessionId: "s", entryId: "e" }] },
      { query: "none", now: 5, expect: [{ path: "M", line: 99 }] },
    ]
      .map((question) => JSON.stringify(question))
      .join("\n"),
  );
  const hits = Array.from({ length: 12 }, (_, at) => hit("M", at + 1, at === 0 ? "oh yes indeed" : ""));
  const asked: (number | undefined)[] = [];
  const report = await evaluate(parsed, async ({ now }) => {
    asked.push(now);
    return { results: hits, ms: asked.length };
  });
  expect(report).toMatchObject({ n: 4, recall: { "5": 0.375, "10": 0.625 }, msP50: 3 });
  // 1, 1/3, 1/(1 + 1/log2(3)) and 0, in the mean.
  expect(report.ndcg10).toBeCloseTo((1 + 1 / 3 + 1 / (1 + 1 / Math.log2(3))) / 4, 3);
  expect(report.misses.map(({ line, found, expected }) => [line, found, expected])).toEqual([
    [3, 1, 2],
    [4, 0, 1],
  ]);
  expect(asked).toEqual([undefined, undefined, undefined, 5]);
  expect(report.badLines).toBeUndefined();
});

test("one passage that meets two expectations is a full answer", async () => {
  const parsed = parseQuestions(JSON.stringify({ query: "q", expect: [{ path: "M", line: 1 }, { text: "tea" }] }));
  expect(await evaluate(parsed, async () => ({ results: [hit("M", 1, "tea")], ms: 1 }))).toMatchObject({ recall: { "5": 1 }, ndcg10: 1, misses: [] });
});
