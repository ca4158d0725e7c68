import { wordsOf, type Analyser } from "../text/analyser.ts";
import { documentOf, positionOf } from "../storage/database.ts";
import type { StoredPassage } from "../storage/passages.ts";
import type { Candidate, Pool, WeightedTerm } from "./candidates.ts";
import type { Question } from "./question.ts";
import { createReader, type Occurrence, type Read } from "./reading.ts";
import { namesTime, type Span } from "./when.ts";

/** What the ranker looks at, in its order. Adding or moving one means training again (`scripts/memory/train.ts`). */
export const FEATURES = [
  "words",
  "wordsRank",
  "relatedWords",
  "coverage",
  "coverageRelated",
  "coverageAbout",
  "rarest",
  "matched",
  "closeness",
  "pairs",
  "previous",
  "previous2",
  "next",
  "around",
  "aroundGain",
  "answersQuestion",
  "isQuestion",
  "session",
  "sessionWords",
  "user",
  "assistant",
  "note",
  "askedOfAssistant",
  "askedOfUser",
  "speaker",
  "otherSpeaker",
  "length",
  "short",
  "number",
  "numberWanted",
  "timeWanted",
  "capital",
  "capitalWanted",
  "firstPerson",
  "recent",
  "newestWanted",
  "oldestWanted",
  "newest",
  "oldest",
  "inSpan",
  "outOfSpan",
  "inAnchor",
  "spanOnly",
  "exact",
  "exactMissing",
  "echo",
  "replaces",
  "vector",
  "vectorRank",
] as const;
export type Feature = (typeof FEATURES)[number];
export type Features = Readonly<Record<Feature, number>>;

/** How much of the question a text has, weighted by how rare the words are. */
interface Coverage {
  readonly own: number;
  readonly related: number;
  readonly about: number;
  readonly matched: readonly WeightedTerm[];
  /** The matched terms by their positions in the question, as bits; of the first thirty. */
  readonly mask: number;
}

const FIRST_PERSON =
  /\b(?:i|i'm|my|me|we|our|ich|mein\w*|mir|wir|yo|mi|mis|soy|tengo|je|j'|mon|ma|mes|nous|io|mio|mia|ho|eu|meu|minha|tenho)\b|我|私|僕|俺|мой|моя|у меня|я /;
const REPLACES =
  /\b(?:now|new|changed|moved|switched|instead|actually|no longer|not anymore|update|correction|since|jetzt|neu\w*|geandert|umgezogen|statt|doch nicht|inzwischen|ahora|nuev[oa]|cambi\w+|mud\w+|maintenant|nouveau|nouvelle|change|demenage|finalement|adesso|nuov[oa]|agora|nov[oa])\b|现在|换|改|新/;
const QUESTION = /[?？؟]\s*["')\]]*\s*$/;
const DAY = 86_400;

const inSpan = (at: number | null, spans: readonly Span[]): boolean => at !== null && spans.some(({ from, to }) => at >= from && at <= to);
const clamp = (value: number): number => Math.max(0, Math.min(1, value));

export interface FeatureDeps {
  readonly analyser: Analyser;
  /** Seconds since the epoch. */
  readonly now: number;
  /** A neighbour that is no candidate itself. */
  readonly neighbour: (id: number) => StoredPassage | undefined;
}

/** Everything that is known about a pool as a whole, and how its passages are read. */
interface Measuring {
  readonly question: Question;
  readonly pool: Pool;
  readonly now: number;
  readonly read: (passage: StoredPassage) => Read;
  readonly covers: (passage: StoredPassage) => Coverage;
  /** A passage beside another; undefined at the ends of a conversation. */
  readonly beside: (passage: StoredPassage, step: number) => StoredPassage | undefined;
  readonly all: number;
  readonly rarest: WeightedTerm | undefined;
  readonly words: ReadonlySet<string>;
  readonly mostWords: number;
  readonly mostRelated: number;
  readonly ranks: ReadonlyMap<number, number>;
  readonly vectorRanks: ReadonlyMap<number, number>;
  readonly sessions: ReadonlyMap<number, { readonly coverage: number; readonly words: number }>;
  readonly ages: ReadonlyMap<number, number>;
}

function measuring(question: Question, pool: Pool, { analyser, now, neighbour }: FeatureDeps): Measuring {
  const { terms, candidates } = pool;
  const list = [...candidates.values()];
  const read = createReader(analyser, new Set([...terms.flatMap(({ stems, related }) => [...stems, ...related]), ...question.exact]));
  const all = terms.reduce((sum, { idf }) => sum + idf, 0) || 1;
  const covers = createCoverage(terms, all, read);
  const mostWords = list.reduce((most, { words }) => Math.max(most, words), 0) || 1;
  const at = (id: number): StoredPassage | undefined => candidates.get(id)?.passage ?? pool.beside.get(id) ?? neighbour(id);
  return {
    question,
    pool,
    now,
    read,
    covers,
    beside: ({ id }, step) => (positionOf(id) + step < 0 ? undefined : at(id + step)),
    all,
    rarest: terms.reduce<WeightedTerm | undefined>((best, term) => (!best || term.idf > best.idf ? term : best), undefined),
    words: new Set(terms.flatMap(({ stems }) => stems)),
    mostWords,
    mostRelated: list.reduce((most, { related }) => Math.max(most, related), 0) || 1,
    ranks: ranksBy(list, ({ words }) => words),
    vectorRanks: ranksBy(list, ({ vector }) => vector ?? 0),
    sessions: sessionEvidence(list, covers, mostWords),
    ages: agesOfMatches(list, covers),
  };
}

/** How much of the question each passage has, computed once. */
function createCoverage(terms: readonly WeightedTerm[], all: number, read: Measuring["read"]): Measuring["covers"] {
  const found = new Map<number, Coverage>();
  return (passage) => {
    const known = found.get(passage.id);
    if (known) return known;
    const text = read(passage);
    let [own, related, about, mask] = [0, 0, 0, 0];
    const matched: WeightedTerm[] = [];
    for (const [position, term] of terms.entries()) {
      if (term.stems.some((stem) => text.stems.has(stem))) {
        own += term.idf;
        matched.push(term);
        if (position < 30) mask |= 1 << position;
      } else if (term.stems.some((stem) => text.about.has(stem))) about += term.idf;
      else if (term.related.some((stem) => text.stems.has(stem))) related += term.idf;
    }
    const made = { own: own / all, related: related / all, about: about / all, matched, mask };
    found.set(passage.id, made);
    return made;
  };
}

/** The words of a passage against those of the question. */
function byWords(on: Measuring, candidate: Candidate, text: Read, own: Coverage, isQuestion: boolean) {
  const { pool, question, words } = on;
  const { id } = candidate.passage;
  const exact = question.exact.filter((term) => text.stems.has(term)).length;
  const shared = text.occurrences.filter(({ stem }) => words.has(stem));
  return {
    words: candidate.words / on.mostWords,
    wordsRank: candidate.words > 0 ? 1 / (1 + (on.ranks.get(id) ?? 0) / 5) : 0,
    relatedWords: candidate.related / on.mostRelated,
    coverage: own.own,
    coverageRelated: clamp(own.own + own.related * 0.6),
    coverageAbout: clamp(own.own + own.about),
    rarest: on.rarest && own.matched.includes(on.rarest) ? 1 : 0,
    matched: Math.min(own.matched.length, 4) / 4,
    closeness: closeness(shared),
    pairs: pairs(pool.terms, shared),
    exact: question.exact.length === 0 ? 0 : exact / question.exact.length,
    exactMissing: question.exact.length > 0 && exact === 0 ? 1 : 0,
    echo: pool.terms.length >= 3 ? clamp((shared.length / Math.max(text.length, 1)) * own.own * (isQuestion ? 1.5 : 0.5)) : 0,
    vector: candidate.nearness ?? 0,
    vectorRank: candidate.vector === undefined ? 0 : 1 / (1 + (on.vectorRanks.get(id) ?? 0) / 5),
  };
}

/** The weights of the terms in a mask, together. */
function weightOf(mask: number, terms: readonly WeightedTerm[]): number {
  let sum = 0;
  for (let position = 0; mask >> position > 0; position += 1) if ((mask >> position) & 1) sum += terms[position]?.idf ?? 0;
  return sum;
}

/** What stands beside a passage, and in the rest of its conversation. */
function bySurroundings({ beside, covers, all, sessions, pool }: Measuring, passage: StoredPassage, own: Coverage, isQuestion: boolean) {
  const [before, before2, after, after2] = [beside(passage, -1), beside(passage, -2), beside(passage, 1), beside(passage, 2)];
  const coverageOf = (other: StoredPassage | undefined): number => (other ? covers(other).own + covers(other).related * 0.5 : 0);
  let mask = own.mask;
  for (const other of [before, before2, after, after2]) if (other) mask |= covers(other).mask;
  const around = weightOf(mask, pool.terms) / all;
  const session = sessions.get(documentOf(passage.id));
  return {
    previous: coverageOf(before),
    previous2: coverageOf(before2),
    next: coverageOf(after),
    around,
    aroundGain: around - own.own,
    answersQuestion: before && QUESTION.test(before.text) && !isQuestion ? coverageOf(before) : 0,
    isQuestion: isQuestion ? 1 : 0,
    session: session?.coverage ?? 0,
    sessionWords: session?.words ?? 0,
  };
}

/** Who wrote it, and whether it has what an answer of this kind has. */
function byForm({ question, pool: { terms } }: Measuring, passage: StoredPassage, text: Read) {
  const isSaid = passage.about !== null && passage.role !== "note";
  const speaker = isSaid && terms.some(({ stems }) => stems.some((stem) => text.about.has(stem)));
  const hasNumber = /\d/.test(passage.text);
  const hasCapital = /[^.!?\s]\s+\p{Lu}\p{Ll}+/u.test(passage.text) || /^\p{Lu}\p{Ll}+\W*$/u.test(passage.text);
  const isNamed = question.kind === "who" || question.kind === "where" || question.kind === "name";
  return {
    user: passage.role === "user" ? 1 : 0,
    assistant: passage.role === "assistant" ? 1 : 0,
    note: passage.role === "note" ? 1 : 0,
    askedOfAssistant: question.about === "assistant" ? (passage.role === "assistant" ? 1 : -1) : 0,
    askedOfUser: question.about === "user" ? (passage.role === "assistant" ? -1 : 1) : 0,
    speaker: speaker ? 1 : 0,
    otherSpeaker: !speaker && isSaid && terms.some(({ isName }) => isName) ? 1 : 0,
    length: Math.min(Math.log1p(passage.text.length) / 7, 1.2),
    short: passage.text.length < 30 ? 1 : 0,
    number: hasNumber ? 1 : 0,
    numberWanted: question.kind === "amount" ? (hasNumber ? 1 : -1) : 0,
    timeWanted: question.kind === "when" ? (namesTime(text.plain()) ? 1 : -1) : 0,
    capital: hasCapital ? 1 : 0,
    capitalWanted: isNamed ? (hasCapital ? 1 : -1) : 0,
    firstPerson: question.about === "user" && FIRST_PERSON.test(text.plain()) ? 1 : 0,
    replaces: question.wants === "newest" && REPLACES.test(text.plain()) ? 1 : 0,
  };
}

/** When it was said. */
function byTime({ question, pool, ages, now }: Measuring, { id, at }: StoredPassage) {
  const order = at === null ? 0.5 : (ages.get(id) ?? 0.5);
  const isThen = inSpan(at, question.span ? [question.span] : []);
  return {
    recent: at === null ? 0.3 : Math.exp(-Math.max(0, now - at) / DAY / 60),
    newestWanted: question.wants === "newest" ? order : 0,
    oldestWanted: question.wants === "oldest" ? 1 - order : 0,
    newest: order,
    oldest: 1 - order,
    inSpan: isThen ? 1 : 0,
    outOfSpan: question.span && !isThen ? 1 : 0,
    inAnchor: inSpan(at, pool.anchors) ? 1 : 0,
    spanOnly: isThen && pool.terms.length <= 2 ? 1 : 0,
  };
}

/** Measures every candidate of a pool against the question. */
export function measure(question: Question, pool: Pool, deps: FeatureDeps): ReadonlyMap<number, Features> {
  const on = measuring(question, pool, deps);
  const measured = new Map<number, Features>();
  for (const [id, candidate] of pool.candidates) {
    const { passage } = candidate;
    const text = on.read(passage);
    const own = on.covers(passage);
    const isQuestion = QUESTION.test(passage.text);
    measured.set(id, {
      ...byWords(on, candidate, text, own, isQuestion),
      ...bySurroundings(on, passage, own, isQuestion),
      ...byForm(on, passage, text),
      ...byTime(on, passage),
    });
  }
  return measured;
}

function ranksBy(list: readonly Candidate[], score: (candidate: Candidate) => number): ReadonlyMap<number, number> {
  return new Map(list.toSorted((a, b) => score(b) - score(a)).map(({ passage }, rank) => [passage.id, rank]));
}

/** What each document has of the question in all, and how strong its best three passages are. */
function sessionEvidence(
  list: readonly Candidate[],
  covers: (passage: StoredPassage) => Coverage,
  mostWords: number,
): ReadonlyMap<number, { readonly coverage: number; readonly words: number }> {
  const groups = Map.groupBy(list, ({ passage }) => documentOf(passage.id));
  const evidence = new Map<number, { coverage: number; words: number }>();
  let all = 0;
  for (const [document, members] of groups) {
    const union = new Set(members.flatMap(({ passage }) => covers(passage).matched));
    const coverage = [...union].reduce((sum, { idf }) => sum + idf, 0);
    all = Math.max(all, coverage);
    const best = members.map(({ words }) => words).toSorted((a, b) => b - a);
    evidence.set(document, { coverage, words: ((best[0] ?? 0) + (best[1] ?? 0) / 2 + (best[2] ?? 0) / 3) / (mostWords * 1.84) });
  }
  for (const entry of evidence.values()) entry.coverage /= all || 1;
  return evidence;
}

/** From 0, the oldest, to 1, the newest, among the passages that have about as much of the question as the best one. */
function agesOfMatches(list: readonly Candidate[], covers: (passage: StoredPassage) => Coverage): ReadonlyMap<number, number> {
  const best = list.reduce((most, { passage }) => Math.max(most, covers(passage).own), 0);
  const matches = list.filter(({ passage }) => passage.at !== null && covers(passage).own >= best * 0.6);
  const times = matches.map(({ passage }) => passage.at ?? 0).toSorted((a, b) => a - b);
  const ages = new Map<number, number>();
  for (const { passage } of list) {
    if (passage.at === null || times.length === 0) continue;
    const older = times.findLastIndex((time) => time <= (passage.at ?? 0)) + 1;
    ages.set(passage.id, times.length === 1 ? (older >= 1 ? 1 : 0) : Math.max(0, older - 1) / (times.length - 1));
  }
  return ages;
}

/** 1 when the words of the question stand side by side, less the further they are apart. */
function closeness(shared: readonly Occurrence[]): number {
  let best = Number.POSITIVE_INFINITY;
  let last: Occurrence | undefined;
  for (const occurrence of shared) {
    if (last && last.stem !== occurrence.stem) best = Math.min(best, occurrence.at - last.at);
    last = occurrence;
  }
  return 1 / best;
}

/** Words that stand so near to each other are a pair. */
const PAIR_REACH = 2;

/** The share of neighbouring words of the question that are neighbours in the text too. */
function pairs(terms: readonly WeightedTerm[], shared: readonly Occurrence[]): number {
  if (terms.length < 2) return 0;
  let found = 0;
  for (const [at, { stems: first }] of terms.entries()) {
    const second = terms[at + 1]?.stems;
    const isPair = shared.some(
      (one) => first.includes(one.stem) && shared.some((two) => two.at > one.at && two.at <= one.at + PAIR_REACH && second?.includes(two.stem) === true),
    );
    if (isPair) found += 1;
  }
  return found / (terms.length - 1);
}

/** Whether two texts speak of the same thing, roughly: the share of stems they have in common. Numbers are left out: they are what changes. */
export type Similarity = (one: Pick<StoredPassage, "text" | "language">, other: Pick<StoredPassage, "text" | "language">) => number;

/** Reads each text once. */
export function createSimilarity(analyser: Analyser): Similarity {
  const read = new Map<string, ReadonlySet<string>>();
  const stemsOf = ({ text, language }: Parameters<Similarity>[0]): ReadonlySet<string> => {
    const known = read.get(text);
    if (known) return known;
    const words = wordsOf(text).filter(({ word }) => !/\d/.test(word) && !analyser.isCommon(word, language));
    const stems = new Set(words.map(({ word }) => analyser.stem(word, language)));
    read.set(text, stems);
    return stems;
  };
  return (one, other) => {
    const [a, b] = [stemsOf(one), stemsOf(other)];
    let common = 0;
    for (const stem of a) if (b.has(stem)) common += 1;
    return common / (a.size + b.size - common || 1);
  };
}
