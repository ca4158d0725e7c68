import { LANGUAGES, languageOf, PARTICLES, STOP_WORDS, type Language } from "./languages.ts";
import { stemOf } from "./stems.ts";

/** A word of a text, in lower case and without diacritics. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Changes whenever the same message would give another text, or the same text other terms: an index made with another version is made again. */
export const ANALYSIS_VERSION = 5;

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Scripts that do not put blanks between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const TRIGRAMS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const HAS_UNSPACED = /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF\u{20000}-\u{3FFFF}]/u;
/** Ids, addresses, versions, times: also indexed as a whole, without their punctuation. */
const COMPOUND = /[\p{L}\p{N}]+(?:[-_.@:/#+][\p{L}\p{N}]+)+/gu;
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\x00-\x7f]*$/;
const MARKS = /[\u0300-\u036f\u064b-\u0652]/g;
const MAX_TERM = 64;
/** The bit that makes a letter of ASCII a small one; digits have it too. */
const SMALL = 32;

/** Lower case, without diacritics. May be longer or shorter than the text. */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replace(MARKS, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll("ø", "o")
    .replaceAll("æ", "ae")
    .replaceAll("ł", "l");
}

/** The overlapping pieces of a run of signs without blanks: pairs for Chinese and Japanese, threes for the scripts of Southeast Asia. */
function* pieces(run: string): Generator<string> {
  const signs = Array.from(run);
  const size = TRIGRAMS.test(run) ? 3 : 2;
  if (signs.length <= size) yield run;
  else for (let at = 0; at + size <= signs.length; at += 1) yield signs.slice(at, at + size).join("");
}

const isLetterOrDigit = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90);

/** The same words as the pattern finds, for plain text: most texts are, and a loop takes a fifth of the time. */
function plainWords(text: string): readonly Word[] {
  const lower = text.toLowerCase();
  const words: Word[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (!isLetterOrDigit(text.charCodeAt(at))) continue;
    const start = at;
    while (at < text.length && isLetterOrDigit(text.charCodeAt(at))) at += 1;
    words.push({ word: lower.slice(start, Math.min(at, start + MAX_TERM)), start, end: at });
  }
  return words;
}

/** Without anything but ASCII: every word is a run of letters and digits. */
export const isPlain = (text: string): boolean => ASCII.test(text);

/** Words with their positions. Runs without blanks come as pieces. */
export function wordsOf(text: string): readonly Word[] {
  if (isPlain(text)) return plainWords(text);
  const words: Word[] = [];
  for (const { 0: found, index } of text.matchAll(WORD)) {
    if (!HAS_UNSPACED.test(found)) {
      words.push({ word: folded(found).slice(0, MAX_TERM), start: index, end: index + found.length });
      continue;
    }
    let at = 0;
    for (const run of found.matchAll(UNSPACED)) {
      if (run.index > at) words.push({ word: folded(found.slice(at, run.index)), start: index + at, end: index + run.index });
      let offset = run.index;
      for (const piece of pieces(run[0])) {
        words.push({ word: piece.normalize("NFKC"), start: index + offset, end: index + offset + piece.length });
        offset += 1;
      }
      at = run.index + run[0].length;
    }
    if (at < found.length) words.push({ word: folded(found.slice(at)), start: index + at, end: index + found.length });
  }
  return words;
}

/** Whether a word may be wanted that begins with these characters in lower case; 0 stands for those that a shorter word does not have. */
export type Beginning = (first: number, second: number, third: number) => boolean;

export interface PlacedWord {
  readonly word: string;
  /** Words of the text before it. */
  readonly at: number;
}

/** The words of a text that begin as wanted, and how many it has in all. The others are only counted, which is far cheaper than making them. */
export function wordsBeginning(text: string, isWanted: Beginning): { readonly words: readonly PlacedWord[]; readonly count: number } {
  const words: PlacedWord[] = [];
  if (!isPlain(text)) {
    const all = wordsOf(text);
    for (const [at, { word }] of all.entries()) {
      if (isWanted(word.charCodeAt(0), word.charCodeAt(1) || 0, word.charCodeAt(2) || 0)) words.push({ word, at });
    }
    return { words, count: all.length };
  }
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!isLetterOrDigit(text.charCodeAt(at))) continue;
    const start = at;
    while (at < text.length && isLetterOrDigit(text.charCodeAt(at))) at += 1;
    const small = (offset: number): number => (start + offset < at ? text.charCodeAt(start + offset) | SMALL : 0);
    if (isWanted(small(0), small(1), small(2))) words.push({ word: text.slice(start, Math.min(at, start + MAX_TERM)).toLowerCase(), at: count });
    count += 1;
  }
  return { words, count };
}

/** Ids and the like as one word each. */
export function compoundsOf(text: string): readonly string[] {
  if (!/[\d@_]/.test(text)) return [];
  const found: string[] = [];
  for (const [compound] of text.matchAll(COMPOUND)) {
    if (compound.length > MAX_TERM || !/[\d@_]/.test(compound)) continue;
    found.push(folded(compound).replace(/[^\p{L}\p{N}]/gu, ""));
  }
  return found;
}

export interface Analysed {
  readonly language: Language;
  /** Stems in the order of the text, common words included, then compounds. */
  readonly terms: readonly string[];
}

/** Turns text into terms. Holds the stems of the words it saw last. */
export interface Analyser {
  /** With the language given, the same text always gives the same terms. */
  analyse(text: string, language: { readonly known: Language } | { readonly fallback: Language }): Analysed;
  stem(word: string, language: Language): string;
  /** Every stem that a word may have in the index, the one of `language` first. */
  stems(word: string, language: Language): readonly string[];
  /** Says nothing about a topic in this language. */
  isCommon(word: string, language: Language): boolean;
}

const MOST_STEMS = 20_000;

/** The stems of the words that were seen last. What is full becomes the older half, so that common words are never forgotten. */
function createStems(language: Language): (word: string) => string {
  let recent = new Map<string, string>();
  let older = new Map<string, string>();
  return (word) => {
    const known = recent.get(word);
    if (known !== undefined) return known;
    const made = older.get(word) ?? stemOf(word, language);
    if (recent.size >= MOST_STEMS) [older, recent] = [recent, new Map()];
    recent.set(word, made);
    return made;
  };
}

export function createAnalyser(): Analyser {
  const stems = Object.fromEntries(LANGUAGES.map((language) => [language, createStems(language)])) as Readonly<Record<Language, (word: string) => string>>;
  const stem = (word: string, language: Language): string => stems[language](word);

  return {
    stem,
    stems: (word, language) => [...new Set([stem(word, language), ...LANGUAGES.map((other) => stem(word, other))])],
    isCommon(word, language) {
      if (STOP_WORDS[language].has(word)) return true;
      return !isPlain(word) && HAS_UNSPACED.test(word) && Array.from(word).every((sign) => PARTICLES.has(sign));
    },
    analyse(text, wish) {
      const words = wordsOf(text);
      const language =
        "known" in wish
          ? wish.known
          : languageOf(
              words.map(({ word }) => word),
              wish.fallback,
            );
      return { language, terms: [...words.map(({ word }) => stem(word, language)), ...compoundsOf(text)] };
    },
  };
}
