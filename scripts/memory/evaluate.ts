/** `node scripts/memory/evaluate.ts <folder with conversations.jsonl and questions.jsonl> [ranker.json]`: how well messages are found, against plain FTS5. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { gather } from "../../src/memory/search/candidates.ts";
import { measure } from "../../src/memory/search/features.ts";
import { readQuestion } from "../../src/memory/search/question.ts";
import { fixedRanker, loadRanker, type Ranker } from "../../src/memory/search/ranker.ts";
import { createPool, readConversations, readQuestions, type Asked, type Conversation, type Pool } from "./pool.ts";

/** For each question the first numbers of what was found, best first. */
export type Found = readonly (readonly number[])[];

/** What SQLite finds by itself: the words of the question, ordered by bm25. */
export function plainSearch(conversations: readonly Conversation[], questions: readonly Asked[], pool: Pool): Found {
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE plain USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2')");
  const insert = db.prepare("INSERT INTO plain (rowid, text) VALUES (?, ?)");
  for (const { sessionId, messages } of conversations) for (const { id, text } of messages) insert.run(pool.passageOf(sessionId, id) ?? 0, text);
  const find = db.prepare("SELECT rowid AS id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10");
  return questions.map(({ query }) => {
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    return words.length === 0 ? [] : find.all(words.map((word) => `"${word}"`).join(" OR ")).map(({ id }) => Number(id));
  });
}

export function rankedSearch(
  questions: readonly Asked[],
  pool: Pool,
  ranker: Ranker,
): { readonly found: Found; readonly ms: readonly number[]; readonly reachable: number } {
  const ms: number[] = [];
  let [reached, wanted] = [0, 0];
  const found = questions.map(({ query, now, expect }) => {
    const started = performance.now();
    const seconds = Math.floor(Date.parse(now) / 1000);
    const question = readQuestion(query, { analyser: pool.analyser, concepts: pool.concepts, now: seconds, zoneSeconds: 0 });
    const gathered = gather({ index: pool.index, passages: pool.passages, question, allowed: undefined, now: seconds });
    const features = measure(question, gathered, { analyser: pool.analyser, now: seconds, neighbour: (id) => pool.passages.get([id]).get(id) });
    const ranked = [...features].map(([id, measured]) => ({ id, score: ranker.score(measured) })).toSorted((a, b) => b.score - a.score);
    ms.push(performance.now() - started);
    for (const { sessionId, entryId } of expect) {
      wanted += 1;
      if (gathered.candidates.has(pool.passageOf(sessionId, entryId) ?? -1)) reached += 1;
    }
    return ranked.slice(0, 10).map(({ id }) => id);
  });
  return { found, ms, reachable: reached / wanted };
}

export function recall(questions: readonly Asked[], found: Found, pool: Pool, most: number, kind?: string): number {
  const values = questions.flatMap((question, index) => {
    if (kind !== undefined && question.kind !== kind) return [];
    const ids = found[index]?.slice(0, most) ?? [];
    const hits = question.expect.filter(({ sessionId, entryId }) => ids.includes(pool.passageOf(sessionId, entryId) ?? -1)).length;
    return [hits / question.expect.length];
  });
  return values.reduce((sum, value) => sum + value, 0) / (values.length || 1);
}

const percentile = (values: readonly number[], part: number): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;

function main([folder, weights]: readonly string[]): void {
  if (folder === undefined) throw new Error("expected a folder with conversations.jsonl and questions.jsonl");
  const conversations = readConversations(join(folder, "conversations.jsonl"));
  const questions = readQuestions(join(folder, "questions.jsonl"));
  using pool = createPool(conversations);
  const learned = loadRanker(weights);
  const plain = plainSearch(conversations, questions, pool);
  const fixed = rankedSearch(questions, pool, fixedRanker());
  const trained = learned && rankedSearch(questions, pool, learned);
  const rows = [undefined, ...new Set(questions.map(({ kind }) => kind))].map((kind) => ({
    kind: kind ?? "all",
    n: questions.filter((question) => kind === undefined || question.kind === kind).length,
    "plain@10": recall(questions, plain, pool, 10, kind).toFixed(3),
    "fixed@10": recall(questions, fixed.found, pool, 10, kind).toFixed(3),
    ...(trained
      ? { "learned@5": recall(questions, trained.found, pool, 5, kind).toFixed(3), "learned@10": recall(questions, trained.found, pool, 10, kind).toFixed(3) }
      : {}),
  }));
  console.table(rows);
  const { ms, reachable } = trained ?? fixed;
  console.log(
    `${pool.size} messages; ${questions.length} questions; among the candidates ${reachable.toFixed(3)}; p50 ${percentile(ms, 0.5).toFixed(2)} ms, p99 ${percentile(ms, 0.99).toFixed(2)} ms`,
  );
}

if (import.meta.main) main(process.argv.slice(2));
