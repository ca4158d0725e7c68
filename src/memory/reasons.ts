import type { Feature } from "./search/features.ts";
import type { Explanation, Understood } from "./types.ts";
import { localTime } from "./zone.ts";

/** `+` and `−` only when the evidence moved the score that way; `=` for facts that may count either way. */
type Side = "+" | "−" | "=";
/** What is said of a feature from this value on. An empty phrase is not worth saying. */
type Level = readonly [from: number, phrase: string, side: Side];

const yes = (phrase: string, side: Side = "+"): readonly Level[] => [
  [0.5, phrase, side],
  [-2, "", "="],
];
const either = (from: number, high: string, low: string): readonly Level[] => [
  [from, high, "+"],
  [-2, low, "−"],
];
const between = (from: number, high: string, below: number, low: string, sides: readonly [Side, Side] = ["+", "−"]): readonly Level[] => [
  [from, high, sides[0]],
  [below, "", "="],
  [-2, low, sides[1]],
];

/**
 * What each kind of evidence says, by its value: a phrase is true of the passage whatever the ranking made of it. Highest level first. Evidence with the
 * value 0 is not there at all, so nothing here speaks of what is missing, unless a value of its own stands for it.
 */
const PHRASES: Readonly<Record<Feature, readonly Level[]>> = {
  words: [[0.999, "best match by words", "+"], ...between(0.5, "good match by words", 0.3, "weak match by words")],
  wordsRank: either(0.5, "among the best matches by words", "others match better by words"),
  relatedWords: yes("words with a similar meaning"),
  coverage: either(0.5, "covers much of the question", "covers little of the question"),
  coverageRelated: either(0.5, "covers much of the question, counting similar words", "covers little of the question, even counting similar words"),
  coverageAbout: either(0.5, "text and heading or speaker cover much of the question", "text and heading or speaker cover little of the question"),
  rarest: yes("contains the rarest word of the question"),
  matched: yes("contains several words of the question"),
  closeness: either(0.5, "the words are close together", "the words are far apart"),
  pairs: yes("the words are adjacent, as in the question"),
  previous: between(0.4, "the passage before matches", 0.2, "the passage before hardly matches"),
  previous2: between(0.4, "the passage two before matches", 0.2, "the passage two before hardly matches"),
  next: between(0.4, "the passage after matches", 0.2, "the passage after hardly matches"),
  around: either(0.5, "it and its neighbors cover much of the question", "it and its neighbors cover little of the question"),
  aroundGain: [
    [0.25, "its neighbors have what it lacks", "="],
    [-2, "", "="],
  ],
  answersQuestion: [
    [0.3, "answers a question that was asked just before", "+"],
    [-2, "", "="],
  ],
  isQuestion: yes("is a question itself", "="),
  session: between(0.6, "its conversation or note is about this", 0.3, "its conversation or note is about something else"),
  sessionWords: between(0.7, "its conversation or note has several good matches", 0.45, "little else in its conversation or note matches"),
  user: yes("a person wrote it", "="),
  assistant: yes("the assistant wrote it", "="),
  note: yes("from a note", "="),
  askedOfAssistant: either(0, "asked for what the assistant said", "asked for what the assistant said, and this is from someone else"),
  askedOfUser: either(0, "asked for what the person said", "asked for what the person said, and the assistant said this"),
  speaker: yes("said by the person in the question"),
  otherSpeaker: yes("said by someone other than the person in the question", "−"),
  length: between(1, "long", 0.55, "short", ["=", "="]),
  short: yes("very short", "="),
  number: yes("has a number", "="),
  numberWanted: either(0, "asked for an amount, and it has a number", "asked for an amount, and it has no number"),
  timeWanted: either(0, "asked when, and it mentions a time", "asked when, and it mentions no time"),
  capital: yes("has a name", "="),
  capitalWanted: either(0, "asked for a name or place, and it has one", "asked for a name or place, and it has none"),
  firstPerson: yes("someone speaks about themselves"),
  recent: between(0.5, "recent", 0.1, "long ago", ["=", "="]),
  newestWanted: between(0.7, "asked for the latest, and it is newer than most matches", 0.3, "asked for the latest, and it is older than most matches"),
  oldestWanted: between(0.7, "asked for the earliest, and it is older than most matches", 0.3, "asked for the earliest, and it is newer than most matches"),
  newest: between(0.7, "newer than most matches", 0.3, "older than most matches", ["=", "="]),
  oldest: between(0.7, "older than most matches", 0.3, "newer than most matches", ["=", "="]),
  inSpan: yes("from the time in the question"),
  outOfSpan: yes("not from the time in the question", "−"),
  inAnchor: yes("from around the event in the question"),
  spanOnly: yes("from the time that was asked about"),
  exact: [
    [0.999, "has the exact number or name", "+"],
    [-2, "has some of the exact numbers or names", "+"],
  ],
  exactMissing: yes("lacks the exact number or name", "−"),
  echo: yes("repeats the question rather than answering it", "−"),
  replaces: yes("says that something changed"),
  vector: between(0.5, "close in meaning by its embedding", 0.3, "far in meaning by its embedding"),
  vectorRank: either(0.5, "among the closest in meaning", "others are closer in meaning"),
};

/** Weaker evidence than this is noise. */
const LEAST = 0.02;

/**
 * Phrases with how much they moved the score, strongest first. What the ranking made of evidence in combination with other evidence can go against what
 * the evidence says by itself; that is left out, since "− its words fit best" explains nothing. Two features with the same phrase count together.
 */
function weighed(effects: Explanation["effects"]): readonly (readonly [phrase: string, effect: number])[] {
  const sums = new Map<string, number>();
  for (const { feature, effect, value } of effects) {
    const [, phrase, side] = PHRASES[feature]?.find(([from]) => value >= from) ?? [0, "", "="];
    const fits = side === "=" || (side === "+") === effect > 0;
    if (phrase !== "" && fits) sums.set(phrase, (sums.get(phrase) ?? 0) + effect);
  }
  return [...sums].filter(([, effect]) => Math.abs(effect) >= LEAST).toSorted(([, a], [, b]) => Math.abs(b) - Math.abs(a));
}

/** Why a score is shown that is not the ranker's own. */
const SCORED: Readonly<Record<NonNullable<Explanation["adjusted"]>, string>> = {
  question: "+ has everything the question asks for",
  order: "+ ranks before results with this score",
  age: "− ranked lower for its age (query.hybrid.temporalDecay)",
  vectors: "+ ranked by its embedding alone (query.hybrid.enabled is false)",
};

/** The evidence for a hit in words, strongest first: the words themselves, then everything else. */
export function reasonsOf({ words, about, related, effects, adjusted }: Explanation): readonly string[] {
  const listed = (label: string, all: readonly string[]): readonly string[] => (all.length === 0 ? [] : [`+ ${label}: ${all.join(", ")}`]);
  return [
    ...listed("words", words),
    ...listed("words of its heading or speaker", about),
    ...listed("similar words", related),
    ...(adjusted === undefined ? [] : [SCORED[adjusted]]),
    ...weighed(effects).map(([phrase, effect]) => `${effect > 0 ? "+" : "−"} ${phrase}`),
  ];
}

const KINDS: Readonly<Record<string, string>> = {
  who: "asks for a person",
  when: "asks for a time",
  where: "asks for a place",
  amount: "asks for an amount",
  name: "asks for a name",
  why: "asks for a reason",
  "yes-no": "asks yes or no",
  list: "asks for several things",
};

/** The days of a span in a zone: the last one is the one before its end, which is exclusive. */
function daysText({ from, to }: NonNullable<Understood["span"]>, timeZone: string): string {
  const first = localTime(Date.parse(from), timeZone).day;
  const last = localTime(Math.max(Date.parse(from), Date.parse(to) - 1000), timeZone).day;
  return first === last ? `on ${first}` : `from ${first} to ${last}`;
}

/** How a question was understood, in one sentence. Days are those of the zone. */
export function understoodText({ language, terms, exact, kind, span, wants }: Understood, timeZone: string): string {
  const parts = [
    terms.length === 0 ? "no search words" : `looks for ${terms.join(", ")}`,
    ...(KINDS[kind] === undefined ? [] : [KINDS[kind]]),
    ...(exact.length === 0 ? [] : [`exactly ${exact.join(", ")}`]),
    ...(span ? [daysText(span, timeZone)] : []),
    ...(wants === undefined ? [] : [wants === "newest" ? "wants the latest" : "wants the earliest"]),
    `language ${language}`,
  ];
  return parts.join("; ");
}
