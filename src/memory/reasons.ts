import type { Feature } from "./search/features.ts";
import type { Explanation, Understood } from "./types.ts";

/** What each kind of evidence says when it speaks for a hit, and when it speaks against it. An empty phrase is not worth saying. */
const PHRASES: Readonly<Record<Feature, readonly [pro: string, contra: string]>> = {
  words: ["its words fit the question best", "its words fit only loosely"],
  wordsRank: ["among the best by words", "others fit better by words"],
  relatedWords: ["words with a similar meaning", "no words with a similar meaning"],
  coverage: ["has much of the question", "has little of the question"],
  coverageRelated: ["has much of the question, also in other words", "has little of the question, even in other words"],
  coverageAbout: ["its heading or speaker fits", "neither text nor heading fit well"],
  rarest: ["has the rarest word of the question", "lacks the rarest word of the question"],
  matched: ["several words of the question", "few words of the question"],
  closeness: ["the words stand close together", "the words stand far apart"],
  pairs: ["the words stand side by side, as in the question", "the words stand apart"],
  previous: ["the message before fits", "the message before does not fit"],
  previous2: ["the message two before fits", "the message two before does not fit"],
  next: ["the message after fits", "the message after does not fit"],
  around: ["its neighbours fit", "its neighbours do not fit"],
  aroundGain: ["its neighbours have what it lacks", "only its neighbours fit"],
  answersQuestion: ["answers a question that was asked just before", ""],
  isQuestion: ["is a question itself", "is a question itself"],
  session: ["its conversation or note is about this", "its conversation or note is about something else"],
  sessionWords: ["its conversation or note has several good passages", "nothing else there fits"],
  user: ["a person wrote it", "a person wrote it"],
  assistant: ["the assistant wrote it", "the assistant wrote it"],
  note: ["from a note", "from a note"],
  askedOfAssistant: ["asked for what the assistant said", "asked for what the assistant said, and a person said this"],
  askedOfUser: ["asked for what the person said", "asked for what the person said, and the assistant said this"],
  speaker: ["said by the person in the question", ""],
  otherSpeaker: ["", "said by someone else"],
  length: ["a good length", "an unusual length"],
  short: ["short", "very short"],
  number: ["has a number", "has a number"],
  numberWanted: ["asked for an amount, and it has a number", "asked for an amount, and it has no number"],
  timeWanted: ["asked when, and it names a time", "asked when, and it names no time"],
  capital: ["has a name", "has a name"],
  capitalWanted: ["asked for a name or place, and it has one", "asked for a name or place, and it has none"],
  firstPerson: ["someone speaks about themselves", ""],
  recent: ["recent", "long ago"],
  newestWanted: ["asked for the latest, and it is new", "asked for the latest, and it is old"],
  oldestWanted: ["asked for the earliest, and it is old", "asked for the earliest, and it is new"],
  newest: ["newer than most that fit", "older than most that fit"],
  oldest: ["older than most that fit", "newer than most that fit"],
  inSpan: ["from the time in the question", ""],
  outOfSpan: ["", "not from the time in the question"],
  inAnchor: ["from around the event in the question", ""],
  spanOnly: ["from the time that was asked about", ""],
  exact: ["has the exact number or name", "lacks the exact number or name"],
  exactMissing: ["", "lacks the exact number or name"],
  echo: ["", "repeats the question rather than answering it"],
  replaces: ["says that something changed", ""],
  vector: ["close in meaning by its embedding", "far in meaning by its embedding"],
  vectorRank: ["among the closest in meaning", "others are closer in meaning"],
};

/** Weaker evidence than this is noise. */
const LEAST = 0.02;

/** The evidence for a hit in words, strongest first: the words themselves, then everything else. */
export function reasonsOf({ words, related, effects }: Explanation): readonly string[] {
  const phrases = effects.flatMap(({ feature, effect }) => {
    const phrase = PHRASES[feature]?.[effect >= 0 ? 0 : 1] ?? "";
    return phrase === "" || Math.abs(effect) < LEAST ? [] : [effect >= 0 ? `+ ${phrase}` : `− ${phrase}`];
  });
  return [
    ...(words.length === 0 ? [] : [`+ words: ${words.join(", ")}`]),
    ...(related.length === 0 ? [] : [`+ similar words: ${related.join(", ")}`]),
    ...new Set(phrases),
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

const dayOf = (iso: string): string => iso.slice(0, 10);

/** How a question was understood, in one sentence. */
export function understoodText({ language, terms, exact, kind, span, wants }: Understood): string {
  const parts = [
    terms.length === 0 ? "no words to look for" : `looks for ${terms.join(", ")}`,
    ...(KINDS[kind] === undefined ? [] : [KINDS[kind]]),
    ...(exact.length === 0 ? [] : [`exactly ${exact.join(", ")}`]),
    ...(span ? [dayOf(span.from) === dayOf(span.to) ? `on ${dayOf(span.from)}` : `between ${dayOf(span.from)} and ${dayOf(span.to)}`] : []),
    ...(wants === undefined ? [] : [wants === "newest" ? "wants the latest" : "wants the earliest"]),
    `language ${language}`,
  ];
  return parts.join("; ");
}
