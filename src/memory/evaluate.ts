import { createTextMatcher } from "../base/erase-text.ts";
import { messageOf } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { SearchHit } from "./types.ts";

/** Where an answer stands: a line of a note, an entry of a transcript, or any passage with a text. */
export type Expected = { readonly path: string; readonly line: number } | { readonly sessionId: string; readonly entryId: string } | { readonly text: string };

export interface EvalQuestion {
  /** In the file of questions, counted from 1. */
  readonly line: number;
  readonly query: string;
  /** When it is asked: milliseconds since the epoch. */
  readonly now?: number;
  readonly expect: readonly Expected[];
}

export interface BadLine {
  readonly line: number;
  readonly why: string;
}

export interface EvalReport {
  readonly n: number;
  readonly recall: { readonly "5": number; readonly "10": number };
  readonly ndcg10: number;
  readonly msP50: number;
  /** Questions for which not all that was expected is among the first ten. */
  readonly misses: readonly { readonly line: number; readonly query: string; readonly found: number; readonly expected: number; readonly best?: string }[];
  readonly badLines?: readonly BadLine[];
}

function expectedOf(value: unknown): Expected {
  if (isRecord(value)) {
    const { path, line, sessionId, entryId, text } = value;
    if (typeof path === "string" && typeof line === "number" && Number.isInteger(line) && line >= 1) return { path, line };
    if (typeof sessionId === "string" && typeof entryId === "string") return { sessionId, entryId };
    if (typeof text === "string" && text.trim() !== "") return { text };
  }
  throw new Error(`each of "expect" is {path, line}, {sessionId, entryId} or {text}, not ${JSON.stringify(value)?.slice(0, 120)}`);
}

function timeOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const time = typeof value === "string" ? Date.parse(value) : value;
  if (typeof time !== "number" || !Number.isFinite(time) || time < 0)
    throw new Error(`"now" is an ISO time or milliseconds, not ${JSON.stringify(value)?.slice(0, 80)}`);
  return time;
}

function questionOf(text: string, line: number): EvalQuestion {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new Error("expected an object {query, expect}");
  const { query, now, expect } = value;
  if (typeof query !== "string" || query.trim() === "") throw new Error('"query" is missing: expected a non-empty text');
  if (!Array.isArray(expect) || expect.length === 0) throw new Error('"expect" is missing: expected a list of locations of the answer');
  const at = timeOf(now);
  return { line, query, expect: expect.map(expectedOf), ...(at === undefined ? {} : { now: at }) };
}

/** Reads questions, one JSON object per line. Blank lines are left out; lines that cannot be read are named. */
export function parseQuestions(content: string): { readonly questions: readonly EvalQuestion[]; readonly badLines: readonly BadLine[] } {
  const questions: EvalQuestion[] = [];
  const badLines: BadLine[] = [];
  for (const [index, text] of content
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (text.trim() === "") continue;
    try {
      questions.push(questionOf(text, index + 1));
    } catch (error) {
      badLines.push({ line: index + 1, why: messageOf(error) });
    }
  }
  return { questions, badLines };
}

type Hit = Pick<SearchHit, "path" | "startLine" | "endLine" | "snippet" | "sessionId" | "entryId">;

function isMet(expected: Expected, hit: Hit): boolean {
  if ("path" in expected) return hit.path === expected.path && hit.startLine <= expected.line && hit.endLine >= expected.line;
  if ("entryId" in expected) return hit.sessionId === expected.sessionId && hit.entryId === expected.entryId;
  return createTextMatcher([expected.text])(hit.snippet);
}

/** The rank of each expected passage among the hits, from 0; -1 when it is not there. */
const ranksOf = (expect: readonly Expected[], hits: readonly Hit[]): readonly number[] =>
  expect.map((expected) => hits.findIndex((hit) => isMet(expected, hit)));

const share = (ranks: readonly number[], first: number): number => ranks.filter((rank) => rank >= 0 && rank < first).length / ranks.length;

/** Gain discounted by rank, of the best that was possible. A passage that meets several expectations counts once. */
function ndcg(ranks: readonly number[], first: number): number {
  const gain = (positions: Iterable<number>): number => [...positions].reduce((sum, rank) => sum + 1 / Math.log2(rank + 2), 0);
  const met = ranks.filter((rank) => rank >= 0 && rank < first);
  const found = new Set(met);
  const wanted = Math.min(ranks.length - (met.length - found.size), first);
  return gain(found) / gain(Array.from({ length: wanted }, (_, rank) => rank));
}

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length);
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

/** Asks every question and measures the answers. `ask` gives the ten best and how long that took. */
export async function evaluate(
  { questions, badLines }: ReturnType<typeof parseQuestions>,
  ask: (question: EvalQuestion) => Promise<{ readonly results: readonly Hit[]; readonly ms: number }>,
  progress: (done: number) => void = () => {},
): Promise<EvalReport> {
  const [at5, at10, gains, times]: [number[], number[], number[], number[]] = [[], [], [], []];
  const misses: EvalReport["misses"][number][] = [];
  for (const [index, question] of questions.entries()) {
    const { results, ms } = await ask(question);
    const ranks = ranksOf(question.expect, results.slice(0, 10));
    at5.push(share(ranks, 5));
    at10.push(share(ranks, 10));
    gains.push(ndcg(ranks, 10));
    times.push(ms);
    const found = ranks.filter((rank) => rank >= 0).length;
    const best = results[0];
    if (found < ranks.length) {
      misses.push({ line: question.line, query: question.query, found, expected: ranks.length, ...(best ? { best: `${best.path}#L${best.startLine}` } : {}) });
    }
    progress(index + 1);
  }
  const sorted = times.toSorted((a, b) => a - b);
  return {
    n: questions.length,
    recall: { "5": rounded(mean(at5)), "10": rounded(mean(at10)) },
    ndcg10: rounded(mean(gains)),
    msP50: Math.round((sorted[Math.floor(sorted.length / 2)] ?? 0) * 100) / 100,
    misses,
    ...(badLines.length === 0 ? {} : { badLines }),
  };
}
