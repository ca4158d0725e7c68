import type { Analyser } from "../text/analyser.ts";
import type { Concepts } from "../text/concepts.ts";
import { documentOf, MAX_POSITIONS, passageId, type IndexDatabase } from "../storage/database.ts";
import { ROLES, type Passages, type StoredPassage } from "../storage/passages.ts";
import { citationOf, type Explanation, type RankingSettings, type SearchAnswer, type SearchHit, type SearchRequest, type Understood } from "../types.ts";
import { gather, type Allowed, type Near, type Pool, type WeightedTerm } from "./candidates.ts";
import { createSimilarity, measure, type Features, type Similarity } from "./features.ts";
import { factsOf, present, type DocumentFacts } from "./present.ts";
import { readQuestion, type Question } from "./question.ts";
import type { Ranker } from "./ranker.ts";

export interface SearchDeps {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly analyser: Analyser;
  readonly concepts: Concepts;
  readonly learned: Ranker | undefined;
  readonly fixed: Ranker;
  /** What embeddings know of the question; undefined without them. */
  readonly near?: Near | undefined;
  /** False when a hit is no longer what the file or the transcript says: it is left out. */
  readonly isTrue: (passage: StoredPassage, document: DocumentFacts) => boolean;
}

interface Ranked {
  readonly passage: StoredPassage;
  readonly features: Features;
  /** By its evidence alone; `score` also counts its age, where the configuration wants that. */
  readonly evidence: number;
  score: number;
  /** Vectors alone decided. */
  readonly byVector: boolean;
}

/** What a passage scores at least that has every word of the question. */
const WHOLE_QUESTION = 0.3;
const DAY = 86_400;
/** Documented: candidates per side. */
const MOST_BY_VECTORS = 200;
/** Evidence that is named of a hit. */
const MOST_EFFECTS = 12;
/** Two texts that share this much of their words speak of the same thing. */
const SAME_THING = 0.4;

/** The documents that a request may see; undefined is all of them. */
function allowedDocuments(index: IndexDatabase, { scope, sources }: SearchRequest): Allowed {
  const notes = scope.notes && sources.includes("memory");
  const sessions = sources.includes("sessions") ? scope.sessions : "none";
  if (notes && sessions === "all") return undefined;
  const ids = new Set<number>();
  const take = (text: string, ...values: string[]): void => {
    for (const row of index.sql(text).all(...values)) ids.add(Number(row["id"]));
  };
  if (notes) take("SELECT id FROM documents WHERE source = 'memory'");
  if (sessions === "all") take("SELECT id FROM documents WHERE source = 'sessions'");
  else if (sessions !== "none") for (const key of sessions) take("SELECT id FROM documents WHERE source = 'sessions' AND session_key = ?", key);
  return ids;
}

/** The message that is being answered, and what followed it: no evidence for its own question. */
function answeredFrom(index: IndexDatabase, { answering }: SearchRequest): { readonly first: number; readonly last: number } | undefined {
  if (answering === undefined) return undefined;
  const document = index.sql("SELECT id FROM documents WHERE source = 'sessions' AND session_id = ? ORDER BY id DESC LIMIT 1").get(answering)?.["id"];
  if (typeof document !== "number") return undefined;
  const range = [passageId(document, 0), passageId(document, MAX_POSITIONS - 1)] as const;
  const found = index.sql("SELECT max(id) AS id FROM passages WHERE id BETWEEN ? AND ? AND role = ?").get(...range, ROLES.indexOf("user"))?.["id"];
  return typeof found === "number" ? { first: found, last: range[1] } : undefined;
}

/** Older notes count less, if the configuration says so; what has no date counts whole. */
function decay(ranked: readonly Ranked[], { ranking, now }: SearchRequest): void {
  if (ranking.halfLifeDays === undefined) return;
  for (const entry of ranked) {
    const { at } = entry.passage;
    if (at !== null) entry.score *= 2 ** (-Math.max(0, now / 1000 - at) / DAY / ranking.halfLifeDays);
  }
}

/** Documented: relevance against likeness to what is already chosen. */
function diversify(ranked: readonly Ranked[], lambda: number, count: number, similarity: Similarity): readonly Ranked[] {
  const left = ranked.slice(0, count * 4);
  const chosen: Ranked[] = [];
  const value = (entry: Ranked): number =>
    lambda * entry.score - (1 - lambda) * Math.max(0, ...chosen.map((other) => similarity(entry.passage, other.passage)));
  while (left.length > 0 && chosen.length < count) {
    const next = left.reduce((best, entry) => (value(entry) > value(best) ? entry : best));
    left.splice(left.indexOf(next), 1);
    chosen.push(next);
  }
  return chosen;
}

/** What a passage scores at least for how much of the question it has. */
const leastFor = ({ coverageRelated, spanOnly, isQuestion }: Features): number =>
  isQuestion === 1 ? 0 : WHOLE_QUESTION * Math.max(coverageRelated ** 2, spanOnly);

/**
 * The score that is shown: at least that of a passage which has all that the question names, and never less than that of a passage further down. The ranker
 * alone knows how likely an answer is among thousands of passages; the one note about plumbers is a good hit for "plumber" all the same.
 */
function shownScores(sorted: readonly Ranked[]): ReadonlyMap<Ranked, number> {
  const scores = new Map<Ranked, number>();
  let least = 0;
  for (const entry of sorted.toReversed()) {
    least = Math.max(least, entry.score, leastFor(entry.features));
    scores.set(entry, Math.min(1, least));
  }
  return scores;
}

/** Overlapping passages of one note say the same thing twice. */
function withoutOverlaps(ranked: readonly Ranked[]): readonly Ranked[] {
  const kept: Ranked[] = [];
  for (const entry of ranked) {
    const { id, first, last, role } = entry.passage;
    const overlaps =
      role === "note" &&
      kept.some(
        ({ passage: other }) => documentOf(other.id) === documentOf(id) && Math.min(last, other.last) - Math.max(first, other.first) >= (last - first) / 2,
      );
    if (!overlaps) kept.push(entry);
  }
  return kept;
}

/** Smaller differences between the score by evidence and the one that is shown need no explanation. */
const SAME_SCORE = 0.005;

/** Why a score is shown that is not the one by evidence. */
function adjustmentOf(entry: Ranked, shown: number): Explanation["adjusted"] {
  if (entry.byVector) return "vectors";
  if (shown > entry.score + SAME_SCORE) return leastFor(entry.features) >= shown - SAME_SCORE ? "question" : "order";
  return entry.score < entry.evidence - SAME_SCORE ? "age" : undefined;
}

interface Explaining {
  readonly pool: Pool;
  readonly ranker: Ranker;
  readonly analyser: Analyser;
  readonly ranking: RankingSettings;
}

function explanationOf(entry: Ranked, shown: number, { pool, ranker, analyser, ranking }: Explaining): Explanation {
  const { text, about, language } = entry.passage;
  const stemsOf = (written: string | null): ReadonlySet<string> => new Set(written === null ? [] : analyser.analyse(written, { known: language }).terms);
  const [stems, heading] = [stemsOf(text), stemsOf(about)];
  const has = (all: ReadonlySet<string>) => (term: WeightedTerm) => term.stems.some((stem) => all.has(stem));
  const adjusted = adjustmentOf(entry, shown);
  // Where the configuration adds words and vectors itself, the ranker has its share of the score.
  const share = ranking.weights && entry.features.vectorRank > 0 ? ranking.weights.text : 1;
  const effects = entry.byVector ? [] : ranker.explain(entry.features).slice(0, MOST_EFFECTS);
  return {
    words: pool.terms.filter(has(stems)).map(({ word }) => word),
    about: pool.terms.filter((term) => has(heading)(term) && !has(stems)(term)).map(({ word }) => word),
    related: pool.terms.flatMap((term) => term.related.filter((stem) => stems.has(stem)).map((stem) => `${term.word} → ${stem}`)),
    effects: effects.map(({ effect, ...rest }) => ({ ...rest, effect: effect * share })),
    ranked: Math.round(entry.evidence * 1000) / 1000,
    ...(adjusted === undefined ? {} : { adjusted }),
  };
}

/** Of a note the lines that have words of the question; of a message all of it. */
function relevantPart(passage: StoredPassage, { terms }: Pool, analyser: Analyser): StoredPassage {
  if (passage.role !== "note") return passage;
  const lines = passage.text.split("\n").filter((line) => {
    const stems = new Set(analyser.analyse(line, { known: passage.language }).terms);
    return !line.startsWith("#") && terms.some((term) => term.stems.some((stem) => stems.has(stem)));
  });
  return lines.length === 0 ? passage : { ...passage, text: lines.join("\n") };
}

interface Comparing {
  readonly question: Question;
  readonly pool: Pool;
  readonly analyser: Analyser;
  readonly similarity: Similarity;
}

/** A newer statement about the same thing stands before the one it replaces, and both say so. */
function markReplaced(entries: { readonly ranked: Ranked; hit: SearchHit }[], { question, pool, analyser, similarity }: Comparing): void {
  const isStatement = ({ passage, features }: Ranked): boolean => passage.at !== null && passage.role !== "assistant" && features.isQuestion === 0;
  const parts = new Map(entries.map(({ ranked: { passage } }) => [passage.id, relevantPart(passage, pool, analyser)]));
  for (const newer of entries) {
    for (const older of entries) {
      const [a, b] = [newer.ranked.passage, older.ranked.passage];
      if (!isStatement(newer.ranked) || !isStatement(older.ranked) || (a.at ?? 0) <= (b.at ?? 0)) continue;
      if (newer.hit.supersedes !== undefined || older.hit.supersededBy !== undefined) continue;
      // In a group everyone speaks for themselves.
      if (a.role !== "note" && b.role !== "note" && a.about !== b.about) continue;
      const [now, before] = [parts.get(a.id) ?? a, parts.get(b.id) ?? b];
      if (now.text === before.text || similarity(now, before) < SAME_THING) continue;
      newer.hit = { ...newer.hit, supersedes: citationOf(older.hit) };
      older.hit = { ...older.hit, supersededBy: citationOf(newer.hit) };
      const [at, first] = [entries.indexOf(newer), entries.indexOf(older)];
      if (at < first || question.wants === "oldest") continue;
      // What stands first never has the lower score.
      if (newer.hit.score < older.hit.score) newer.hit = rescored(newer.hit, older.hit.score);
      entries.splice(first, 0, ...entries.splice(at, 1));
    }
  }
}

const rescored = (hit: SearchHit, score: number): SearchHit => ({ ...hit, score, ...(hit.why ? { why: { ...hit.why, adjusted: "order" } } : {}) });

function understood({ language, terms, exact, kind, span, wants }: Question): Understood {
  const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
  return {
    language,
    terms: terms.map(({ word }) => word),
    exact,
    kind,
    ...(span ? { span: { from: iso(span.from), to: iso(span.to) } } : {}),
    ...(wants ? { wants } : {}),
  };
}

/** Without vectors everything is scored by its words, whatever the configuration wants. */
function rankingOf({ ranking }: SearchRequest, near: Near | undefined): RankingSettings {
  return near ? ranking : { ...ranking, vectorsOnly: false };
}

function scoreAll(pool: Pool, features: ReadonlyMap<number, Features>, ranker: Ranker, ranking: RankingSettings): Ranked[] {
  const ranked: Ranked[] = [];
  for (const [id, measured] of features) {
    const candidate = pool.candidates.get(id);
    if (!candidate) continue;
    const { vector } = candidate;
    if (ranking.vectorsOnly && vector === undefined) continue;
    const text = ranker.score(measured);
    const mixed = ranking.weights && vector !== undefined ? ranking.weights.vector * vector + ranking.weights.text * text : text;
    const byVector = ranking.vectorsOnly === true && vector !== undefined;
    const evidence = byVector ? vector : mixed;
    ranked.push({ passage: candidate.passage, features: measured, evidence, score: evidence, byVector });
  }
  return ranked;
}

/** Answers a question from the index. */
export function search(deps: SearchDeps, request: SearchRequest): Omit<SearchAnswer, "ms" | "indexing"> {
  const { index, passages, analyser, concepts, near, isTrue } = deps;
  const ranker = request.fixed ? deps.fixed : (deps.learned ?? deps.fixed);
  const now = Math.floor(request.now / 1000);
  const question = readQuestion(request.query, { analyser, concepts, now, zoneSeconds: request.zoneSeconds });
  const mode = near === undefined ? "fts-only" : request.ranking.vectorsOnly === true ? "vector" : "hybrid";
  const base = { mode, ranker: ranker.kind, ...(request.explain ? { understood: understood(question) } : {}) } as const;
  const allowed = allowedDocuments(index, request);
  if ((question.terms.length === 0 && !near) || allowed?.size === 0) return { ...base, hits: [] };
  const pool = gather({
    index,
    passages,
    question,
    allowed,
    now,
    near,
    byVectors: Math.min(MOST_BY_VECTORS, request.maxResults * request.ranking.candidateMultiplier),
  });
  const beside = new Map<number, StoredPassage | undefined>();
  const neighbour = (id: number): StoredPassage | undefined => {
    if (!beside.has(id)) beside.set(id, passages.get([id]).get(id));
    return beside.get(id);
  };
  const features = measure(question, pool, { analyser, now, neighbour });
  const ranked = scoreAll(pool, features, ranker, rankingOf(request, near));
  decay(ranked, request);
  const sorted = withoutOverlaps(ranked.toSorted((a, b) => b.score - a.score).slice(0, Math.max(60, request.maxResults * 2)));
  const similarity = createSimilarity(analyser);
  const chosen = request.ranking.mmrLambda === undefined ? sorted : diversify(sorted, request.ranking.mmrLambda, request.maxResults, similarity);
  const shown = shownScores(chosen);
  const at = (id: number): StoredPassage | undefined => pool.candidates.get(id)?.passage ?? pool.beside.get(id) ?? neighbour(id);
  const entries: { readonly ranked: Ranked; hit: SearchHit }[] = [];
  const answered = answeredFrom(index, request);
  const explaining = { pool, ranker, analyser, ranking: request.ranking };
  for (const entry of chosen) {
    if (answered !== undefined && entry.passage.id >= answered.first && entry.passage.id <= answered.last) continue;
    const score = shown.get(entry) ?? entry.score;
    if (entries.length >= request.maxResults || score < request.minScore) break;
    const document = factsOf(index, documentOf(entry.passage.id));
    if (!document || !isTrue(entry.passage, document)) continue;
    const hit = present(entry.passage, document, Math.round(score * 1000) / 1000, { analyser, terms: pool.terms, at });
    entries.push({ ranked: entry, hit: request.explain ? { ...hit, why: explanationOf(entry, score, explaining) } : hit });
  }
  markReplaced(entries, { question, pool, analyser, similarity });
  return { ...base, hits: entries.map(({ hit }) => hit) };
}
