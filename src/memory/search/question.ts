import { compoundsOf, folded, wordsOf, type Analyser } from "../text/analyser.ts";
import type { Concepts } from "../text/concepts.ts";
import { languageOf, type Language } from "../text/languages.ts";
import { anchorIn, spanIn, type Anchor, type Span } from "./when.ts";

/** A word of the question that says what it is about. */
export interface QuestionTerm {
  readonly word: string;
  /** The forms under which the index may have it. */
  readonly stems: readonly string[];
  /** Stems of words with nearly the same meaning. */
  readonly related: readonly string[];
  readonly isName: boolean;
}

export type QuestionKind = "who" | "when" | "where" | "amount" | "name" | "why" | "yes-no" | "list" | "other";

/** Everything that is read from the text of a question. */
export interface Question {
  readonly text: string;
  readonly language: Language;
  readonly terms: readonly QuestionTerm[];
  /** Ids, addresses and numbers, as they are indexed. */
  readonly exact: readonly string[];
  readonly kind: QuestionKind;
  readonly span: Span | undefined;
  readonly anchor: Anchor | undefined;
  /** It asks for what holds now, or for what held before or came first. */
  readonly wants: "newest" | "oldest" | undefined;
  /** It asks for what the assistant said, or for what the person said or is. */
  readonly about: "assistant" | "user" | "other";
}

const KINDS: readonly (readonly [QuestionKind, RegExp])[] = [
  [
    "when",
    /^(?:when|since when|what (?:day|date|time|year|month)|which (?:day|date|month|year)|wann|seit wann|um wie viel uhr|cuando|quand|quando|a que hora|wanneer)\b|什么时候|几点|哪天|いつ|когда|متى/,
  ],
  [
    "amount",
    /^(?:how (?:much|many|long|old|far|big|tall|often|heavy|large)|what (?:size|price|percentage)|wie ?viele?|wie (?:lange|alt|weit|gross|hoch|oft|teuer)|cuant[oa]s?|combien|quant[oaie]|hoeveel)\b|多少|几个|いくら|いくつ|сколько|كم/,
  ],
  ["where", /^(?:where|in which (?:city|town|country|place)|wo|wohin|woher|donde|adonde|ou|dove|onde|waar)\b|哪里|哪儿|どこ|где|куда|أين/],
  ["who", /^(?:who|whom|whose|with whom|which (?:person|friend)|wer|wen|wem|wessen|mit wem|quien|quienes|qui|avec qui|chi|quem|wie)\b|谁|誰|だれ|кто|من/],
  ["why", /^(?:why|how come|warum|wieso|weshalb|por que|pourquoi|perche|waarom)\b|为什么|なぜ|почему/],
  ["name", /\b(?:name|called|heisst|heissen|llama|llamaba|appelle|appelait|chiama|chamava|heet)\b|叫什么|名前|зовут/],
  ["list", /\b(?:list|which (?:ones|things)|what are (?:all|the)|welche sachen|all(?:es)? was)\b/],
  [
    "yes-no",
    /^(?:do|does|did|is|are|was|were|have|has|had|can|could|will|would|should|am|hab|habe|hat|ist|war|kann|bin|tiene|es|era|he|est-ce|as-tu|ai-je|ho|ha|tenho)\b|吗[？?]?$/,
  ],
];

const NEWEST =
  /\b(?:now|current|currently|latest|newest|these days|at the moment|nowadays|still|most recent|recently|aktuell|jetzt|derzeit|inzwischen|neueste|zuletzt|ahora|actual|actualmente|ultim[oa]|maintenant|actuel|actuelle|actuellement|dernier|adesso|attuale|agora|atual|nu|huidige)\b|现在|目前|今の|сейчас/;
const OLDEST =
  /\b(?:before|previous|previously|former|formerly|old|originally|original|first|used to|initially|at first|earliest|back then|fruher|vorher|zuerst|ursprunglich|ehemalig\w*|damals|antes|anterior|primer[oa]?|avant|ancien|ancienne|premier|premiere|prima|precedente|primeir[oa])\b|以前|之前|最初|第一次|раньше/;
const ASSISTANT =
  /\b(?:did you|you (?:recommend|suggest|advise|tell|told|say|said|give|gave|propose|mention|explain|write|wrote)\w*|your (?:recommendation|suggestion|advice|tip|answer|idea|estimate)s?|hast du|du mir|dein(?:e[nr]?)? (?:vorschlag|rat|tipp|empfehlung)|empfohlen|vorgeschlagen|me (?:recomendaste|sugeriste|dijiste|aconsejaste)|tu m'as|m'as-tu|tu as (?:recommande|propose|suggere|conseille)|mi hai|voce (?:recomendou|sugeriu))\b|你(?:推荐|建议|说)|おすすめ|ты (?:посовет|рекоменд)/;
const USER =
  /\b(?:i|my|me|mine|we|our|us|ich|mein\w*|mir|mich|wir|unser\w*|yo|mi|mis|me|nuestr[oa]s?|je|mon|ma|mes|moi|nous|notre|nos|io|mio|mia|meu|minha|ik|mijn)\b|我|私|мой|моя|мне|я/;

const kindOf = (text: string): QuestionKind => KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? "other";

const MOST_WORDS = 48;
const MOST_CHARS = 4000;

/** Reads a question. Text beyond some thousand characters is left out: it only repeats itself. */
export function readQuestion(
  written: string,
  deps: { readonly analyser: Analyser; readonly concepts: Concepts; readonly now: number; readonly zoneSeconds: number },
): Question {
  const { analyser, concepts, now, zoneSeconds } = deps;
  const text = written.slice(0, MOST_CHARS);
  const plain = folded(text).trim();
  const words = wordsOf(text);
  const language = languageOf(
    words.map(({ word }) => word),
    "en",
  );
  const seen = new Set<string>();
  const terms: QuestionTerm[] = [];
  for (const { word, start } of words) {
    if (terms.length >= MOST_WORDS) break;
    if (seen.has(word) || analyser.isCommon(word, language) || (word.length === 1 && /[a-z]/.test(word))) continue;
    seen.add(word);
    const stems = analyser.stems(word, language);
    const initial = text[start] ?? "";
    const isName = start > 0 && language !== "de" && initial !== initial.toLowerCase();
    const related = isName ? [] : concepts.related(word, stems[0] ?? word, language).filter((stem) => !stems.includes(stem));
    terms.push({ word, stems, related, isName });
  }
  return {
    text,
    language,
    // A question of nothing but common words is still searched for.
    terms:
      terms.length > 0 ? terms : words.slice(0, MOST_WORDS).map(({ word }) => ({ word, stems: analyser.stems(word, language), related: [], isName: false })),
    exact: [...new Set([...compoundsOf(text), ...words.flatMap(({ word }) => (/\d/.test(word) ? [word] : []))])],
    kind: kindOf(plain),
    span: spanIn(text, now, zoneSeconds),
    anchor: anchorIn(text),
    wants: NEWEST.test(plain) ? "newest" : OLDEST.test(plain) ? "oldest" : undefined,
    about: ASSISTANT.test(plain) ? "assistant" : USER.test(plain) ? "user" : "other",
  };
}
