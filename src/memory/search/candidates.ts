import { documentOf, positionOf, RANK, type IndexDatabase } from "../storage/database.ts";
import { IN_ALLOWED, type Passages, type StoredPassage } from "../storage/passages.ts";
import type { Question, QuestionTerm } from "./question.ts";
import type { Span } from "./when.ts";

/** Which documents may be searched; undefined is all. */
export type Allowed = ReadonlySet<number> | undefined;

/** What embeddings know of a question. */
export interface Near {
  /** The nearest passages among those allowed, with their cosine. */
  top(most: number, isAllowed: (passage: number) => boolean): ReadonlyMap<number, number>;
  /** The cosine of any passage; undefined when it is not embedded yet. */
  cosine(passage: number): number | undefined;
  /** From a cosine to the scale that the ranking was trained with, the same for all models. */
  readonly scale: (cosine: number) => number;
}

/** A term of the question with how rare it is in this index. */
export interface WeightedTerm extends QuestionTerm {
  readonly idf: number;
  /** Passages that have one of its stems. */
  readonly found: number;
  /** Its stems that occur in texts; without any, all of them. */
  readonly sought: readonly string[];
}

export interface Candidate {
  readonly passage: StoredPassage;
  /** Of the words, higher is better; 0 when it was found in another way. */
  words: number;
  /** Of words with nearly the same meaning. */
  related: number;
  /** Cosine of the embeddings; undefined without them. */
  vector?: number;
  /** The same on the scale of the ranking. */
  nearness?: number;
}

export interface Pool {
  readonly candidates: ReadonlyMap<number, Candidate>;
  readonly terms: readonly WeightedTerm[];
  /** Spans around the event that the question names. */
  readonly anchors: readonly Span[];
  /** Passages beside the candidates. */
  readonly beside: ReadonlyMap<number, StoredPassage>;
  /** Passages in the whole index. */
  readonly total: number;
}

const BY_WORDS = 120;
const BY_RELATED = 60;
const BY_VECTORS = 24;
const NEIGHBOURS_OF = 40;
const REACH = 3;
/** Neighbours that a candidate is measured with. */
const BESIDE = 2;
/** Conversations with the best passages: everything near those is a candidate. */
const WHOLE_SESSIONS = 3;
const SESSION_REACH = 8;
/** A word in so few passages may be misspelt, or have another form there. */
const RARE = 3;
const MOST_VARIANTS = 6;
const IN_SPAN = 150;
const MOST_MEASURED = 130;
/** Rows that the words of a question may match in all before the most common ones are left out. */
const MOST_MATCHES = 8000;
const MOST_RELATED_MATCHES = 4000;

const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`;

/** Whether two words differ by one letter more, less or other, or by two neighbours swapped. */
export function isOneApart(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end += 1;
  const [left, right] = [short.length - start - end, long.length - start - end];
  return right <= 1 || (left === 2 && right === 2 && short[start] === long[start + 1] && short[start + 1] === long[start]);
}

/** Terms of the index that a rare word of the question may stand for: longer ones that begin with it, and misspellings. */
function variants(index: IndexDatabase, stem: string): readonly string[] {
  if (stem.length < 4 || !/^[a-z]+$/.test(stem)) return [];
  const near = index
    .sql("SELECT term, n FROM terms WHERE term >= ? AND term < ? ORDER BY n DESC LIMIT 200")
    .all(stem.slice(0, 3), `${stem.slice(0, 3)}\u{10ffff}`);
  const isVariant = (term: string): boolean =>
    term !== stem &&
    ((stem.length >= 5 && term.startsWith(stem)) || (term.length >= 5 && stem.startsWith(term)) || (stem.length >= 5 && isOneApart(stem, term)));
  return near
    .map((row) => String(row["term"]))
    .filter(isVariant)
    .slice(0, MOST_VARIANTS);
}

/** How rare the terms are. */
function weigh(index: IndexDatabase, passages: Passages, question: Question): { readonly terms: readonly WeightedTerm[]; readonly total: number } {
  const total = passages.count();
  const counts = passages.frequencies([...new Set(question.terms.flatMap(({ stems }) => stems))]);
  const terms = question.terms.map((term) => {
    const found = term.stems.reduce((sum, stem) => sum + (counts.get(stem) ?? 0), 0);
    const related = found >= RARE ? term.related : [...new Set([...term.related, ...variants(index, term.stems[0] ?? term.word)])];
    const indexed = term.stems.filter((stem) => (counts.get(stem) ?? 0) > 0);
    return { ...term, related, found, sought: indexed.length > 0 ? indexed : term.stems, idf: Math.log(1 + (total - found + 0.5) / (found + 0.5)) };
  });
  return { terms, total };
}

/** The terms to search with: the rarest, as many as stay below a number of matches. */
function affordable(terms: readonly Pick<WeightedTerm, "sought" | "found">[], most: number): readonly string[] {
  const chosen: string[] = [];
  let matches = 0;
  for (const { sought, found } of terms.toSorted((a, b) => a.found - b.found)) {
    if (found === 0) continue;
    if (matches > 0 && matches + found > most) break;
    chosen.push(...sought);
    matches += found;
  }
  // What no text has may be in headings, or the name of a speaker.
  return [...new Set(chosen.length > 0 ? chosen : terms.flatMap(({ sought }) => sought))];
}

function match(index: IndexDatabase, terms: readonly string[], allowed: Allowed, limit: number): readonly { readonly id: number; readonly score: number }[] {
  if (terms.length === 0) return [];
  const where = allowed ? ` AND ${IN_ALLOWED("rowid")}` : "";
  // `ORDER BY rank` sorts every match with its positions; the same function by name keeps only the best while it goes.
  const text = `SELECT rowid AS id, -${RANK} AS score FROM words WHERE words MATCH ?${where} ORDER BY score DESC LIMIT ?`;
  return index.sql(text).all(terms.map(quoted).join(" OR "), limit) as unknown as { id: number; score: number }[];
}

/** The documents of a search, where queries can see them. */
function setAllowed(index: IndexDatabase, allowed: Allowed): void {
  if (!allowed) return;
  index.db.exec("CREATE TEMP TABLE IF NOT EXISTS allowed (id INTEGER PRIMARY KEY); DELETE FROM allowed");
  const insert = index.sql("INSERT INTO allowed (id) VALUES (?)");
  for (const id of allowed) insert.run(id);
}

export interface Gathering {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly question: Question;
  readonly allowed: Allowed;
  /** When it is asked, in seconds since the epoch. */
  readonly now: number;
  /** Undefined without embeddings. */
  readonly near?: Near | undefined;
  /** Passages to find by their embeddings. */
  readonly byVectors?: number | undefined;
}

/** When the event that a question names happened: the times of the messages that fit it best. */
function anchorSpans({ index, passages, question, allowed }: Gathering, terms: readonly WeightedTerm[]): readonly Span[] {
  const { anchor } = question;
  if (!anchor) return [];
  const named = terms.filter(({ word }) => anchor.event.includes(word));
  const hits = match(index, affordable(named, MOST_RELATED_MATCHES), allowed, 3);
  const day = 86_400;
  return [...passages.get(hits.map(({ id }) => id)).values()].flatMap(({ at }) =>
    at === null ? [] : [anchor.before ? { from: at - anchor.days * day, to: at + day } : { from: at, to: at + anchor.days * day }],
  );
}

type Scores = ReadonlyMap<number, { readonly words: number; readonly related: number }>;

/** Everything that could be an answer: what has the words or related ones, their neighbours, and what was said at the time in question. */
export function gather(gathering: Gathering): Pool {
  const { index, passages, question, allowed, near } = gathering;
  const { terms, total } = weigh(index, passages, question);
  setAllowed(index, allowed);
  const counts = passages.frequencies([...new Set(terms.flatMap(({ related }) => related))]);
  const related = terms.flatMap((term) => term.related.map((stem) => ({ sought: [stem], found: counts.get(stem) ?? 0 })).filter(({ found }) => found > 0));
  const scores = new Map<number, { words: number; related: number }>();
  const at = (id: number) => scores.get(id) ?? scores.set(id, { words: 0, related: 0 }).get(id) ?? { words: 0, related: 0 };

  const byWords = match(index, [...affordable(terms, MOST_MATCHES), ...question.exact], allowed, BY_WORDS);
  for (const { id, score } of byWords) at(id).words = score;
  const byRelated = match(index, affordable(related, MOST_RELATED_MATCHES), allowed, BY_RELATED);
  for (const { id, score } of byRelated) at(id).related = score;
  const isAllowed = (id: number): boolean => allowed === undefined || allowed.has(documentOf(id));
  const byVectors = [...(near?.top(gathering.byVectors ?? BY_VECTORS, isAllowed).keys() ?? [])];
  for (const id of byVectors) at(id);

  const strongest = [...byWords.slice(0, NEIGHBOURS_OF), ...byRelated.slice(0, NEIGHBOURS_OF / 2)];
  for (const { id } of strongest) {
    const position = positionOf(id);
    for (let step = -REACH; step <= REACH; step += 1) if (position + step >= 0) at(id + step);
  }
  for (const document of bestDocuments(scores)) {
    for (const { id } of strongest) {
      if (documentOf(id) !== document) continue;
      for (let step = -SESSION_REACH; step <= SESSION_REACH; step += 1) if (positionOf(id) + step >= 0) at(id + step);
      break;
    }
  }
  const anchors = anchorSpans(gathering, terms);
  const chosen = promising(scores, new Set(byVectors));
  const beside = passages.get(chosen, BESIDE);
  const found = new Map<number, StoredPassage>();
  for (const id of chosen) {
    const passage = beside.get(id);
    if (passage) found.set(id, passage);
  }
  for (const span of [...(question.span ? [question.span] : []), ...anchors]) {
    for (const passage of passages.between(span.from, span.to, IN_SPAN)) {
      if (!allowed || allowed.has(documentOf(passage.id))) found.set(passage.id, passage);
    }
  }
  const candidates = new Map<number, Candidate>();
  for (const [id, passage] of found) {
    // What was said later than the question is no answer to it. Notes have only a day: they stand in the middle of it, and one may be about a day to come.
    const isLater = passage.role !== "note" && passage.at !== null && passage.at > gathering.now;
    if (isLater || !isAllowed(id)) continue;
    const cosine = near?.cosine(id);
    const nearness = near && cosine !== undefined ? { vector: cosine, nearness: near.scale(cosine) } : {};
    candidates.set(id, { passage, ...(scores.get(id) ?? { words: 0, related: 0 }), ...nearness });
  }
  return { candidates, beside, terms, anchors, total };
}

/**
 * The passages that are worth measuring, which costs far more than finding them: by their own words, those before and after them, and what their conversation
 * has in all.
 */
function promising(scores: Scores, always: ReadonlySet<number>): readonly number[] {
  if (scores.size <= MOST_MEASURED) return [...scores.keys()];
  const sums = new Map<number, number>();
  for (const [id, { words, related }] of scores) sums.set(documentOf(id), (sums.get(documentOf(id)) ?? 0) + words + related / 2);
  const own = (id: number): number => {
    const score = scores.get(id);
    return score ? score.words + score.related / 2 : 0;
  };
  const hope = (id: number): number =>
    (always.has(id) ? 1000 : 0) +
    own(id) +
    0.7 * Math.max(own(id - 1), 0.7 * own(id - 2), 0.5 * own(id + 1), 0.4 * own(id - 3)) +
    0.05 * (sums.get(documentOf(id)) ?? 0);
  return [...scores.keys()]
    .map((id) => ({ id, hope: hope(id) }))
    .toSorted((a, b) => b.hope - a.hope)
    .slice(0, MOST_MEASURED)
    .map(({ id }) => id);
}

/** The documents whose passages have most of the question together. */
function bestDocuments(scores: Scores): readonly number[] {
  const sums = new Map<number, number>();
  for (const [id, { words, related }] of scores) sums.set(documentOf(id), (sums.get(documentOf(id)) ?? 0) + words + related / 2);
  return [...sums]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, WHOLE_SESSIONS)
    .map(([document]) => document);
}
