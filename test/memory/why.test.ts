/** What `memory why` says, against what `memory search` answers and against the passages themselves, over a thousand hits of real questions. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createPool, readConversations, readQuestions, type Pool } from "../../scripts/memory/pool.ts";
import { reasonsOf } from "../../src/memory/index.ts";
import { fixedRanker, loadRanker, type Ranker } from "../../src/memory/search/ranker.ts";
import { search } from "../../src/memory/search/search.ts";
import type { RankingSettings, SearchAnswer, SearchHit } from "../../src/memory/types.ts";

const FOLDER = join(import.meta.dirname, "..", "fixtures", "memory", "training");
const DAY = 86_400_000;
const questions = readQuestions(join(FOLDER, "written-questions.jsonl")).filter((_, index) => index % 4 === 0);

let pool: Pool;
let learned: Ranker | undefined;
beforeAll(() => {
  pool = createPool(readdirSync(join(FOLDER, "written")).flatMap((file) => readConversations(join(FOLDER, "written", file))));
  learned = loadRanker();
});
afterAll(() => pool?.[Symbol.dispose]());

type Answer = Pick<SearchAnswer, "hits" | "understood">;

function ask(query: string, now: number, explain: boolean, ranking: Partial<RankingSettings> = {}): Answer {
  const deps = { ...pool, learned, fixed: fixedRanker(), isTrue: () => true };
  const scope = { notes: true, sessions: "all" } as const;
  return search(deps, {
    query,
    now,
    explain,
    scope,
    sources: ["memory", "sessions"],
    maxResults: 10,
    minScore: 0.02,
    zoneSeconds: 0,
    ranking: { candidateMultiplier: 4, ...ranking },
  });
}

const plain = ({ why: _why, ...hit }: SearchHit): object => hit;
const saying = (reasons: readonly string[], phrase: string): boolean => reasons.some((reason) => reason.slice(2) === phrase);

/** Phrases that can be checked against the hit alone; each says when it is true. */
const TRUE_WHEN: Readonly<Record<string, (hit: SearchHit, now: number) => boolean>> = {
  "a person wrote it": ({ role }) => role === "user",
  "the assistant wrote it": ({ role }) => role === "assistant",
  "from a note": ({ source }) => source === "memory",
  "has a number": ({ snippet }) => /\d/.test(snippet) || snippet.endsWith("…"),
  "asked for an amount, and it has a number": ({ snippet }) => /\d/.test(snippet) || snippet.endsWith("…"),
  "asked for an amount, and it has no number": ({ snippet }) => !/\d/.test(snippet),
  "is a question itself": ({ snippet }) => /[?？؟]\W*$/.test(snippet) || snippet.endsWith("…"),
  "answers a question that was asked just before": ({ before }) => /[?？؟]\W*$/.test(before?.text ?? "") || before?.text.endsWith("…") === true,
  recent: ({ at }, now) => now - Date.parse(at ?? "") < 42 * DAY,
  "long ago": ({ at }, now) => now - Date.parse(at ?? "") > 130 * DAY,
  "very short": ({ snippet }) => snippet.length < 30,
  long: ({ snippet }) => snippet.length >= 699,
};

test("why lists what search lists, in the same order with the same scores, and no phrase is untrue or said twice", () => {
  let hits = 0;
  const wrong: string[] = [];
  for (const { query, now: asked } of questions) {
    const now = Date.parse(asked);
    const [found, why] = [ask(query, now, false), ask(query, now, true)];
    expect(why.hits.map(plain), query).toEqual(found.hits.map(plain));
    const scores = why.hits.map(({ score }) => score);
    expect(scores, query).toEqual(scores.toSorted((a, b) => b - a));
    for (const [place, hit] of why.hits.entries()) {
      hits += 1;
      const { why: explained } = hit;
      const reasons = reasonsOf(explained!);
      const complain = (text: string): void => void wrong.push(`${text} — ${query} — ${hit.snippet.slice(0, 60)} — ${reasons.join(" | ")}`);
      const phrases = reasons.map((reason) => reason.slice(2));
      if (new Set(phrases).size !== phrases.length) complain("said twice");
      for (const [phrase, holds] of Object.entries(TRUE_WHEN)) if (saying(reasons, phrase) && !holds(hit, now)) complain(`untrue: ${phrase}`);
      for (const word of explained!.words) if (!why.understood!.terms.includes(word)) complain(`not asked for: ${word}`);
      if (explained!.words.length === 0 && saying(reasons, "contains the rarest word of the question")) complain("no words, but the rarest");
      if (explained!.words.length === why.understood!.terms.length && saying(reasons, "covers little of the question")) complain("all words, but little");
      if (why.understood!.exact.length > 0 && saying(reasons, "lacks the exact number or name") && saying(reasons, "has the exact number or name"))
        complain("has and lacks");
      if (saying(reasons, "newer than most matches") && saying(reasons, "older than most matches")) complain("newer and older");
      if (why.understood!.span === undefined && reasons.some((reason) => reason.includes("the time in the question"))) complain("no time was asked for");
      // A score that is not the evidence's own says so.
      if (Math.abs(hit.score - explained!.ranked) > 0.01 && explained!.adjusted === undefined) complain(`${place}: ${hit.score}, but ${explained!.ranked}`);
      if (Math.abs(hit.score - explained!.ranked) < 0.004 && explained!.adjusted !== undefined) complain(`${place}: adjusted, but the same`);
    }
  }
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(hits).toBeGreaterThan(700);
});

test("where age counts, a hit that lost by it says so", () => {
  const lost = questions.flatMap(({ query, now }) => ask(query, Date.parse(now), true, { halfLifeDays: 10 }).hits);
  const byAge = lost.filter(({ why }) => why!.adjusted === "age");
  expect(byAge.length).toBeGreaterThan(20);
  for (const { score, why } of byAge) expect(score).toBeLessThan(why!.ranked);
  expect(reasonsOf(byAge[0]!.why!)).toContain("− ranked lower for its age (query.hybrid.temporalDecay)");
});
