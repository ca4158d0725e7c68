import { compoundsOf, folded, wordsBeginning, type Analyser, type Beginning } from "../text/analyser.ts";
import type { StoredPassage } from "../storage/passages.ts";
import type { Language } from "../text/languages.ts";

/** A term of the question in a text, and how many terms stand before it. */
export interface Occurrence {
  readonly stem: string;
  readonly at: number;
}

/** What a passage has of the question. */
export interface Read {
  /** In the order of the text. */
  readonly occurrences: readonly Occurrence[];
  /** The terms that occur. */
  readonly stems: ReadonlySet<string>;
  /** Terms of the text in all. */
  readonly length: number;
  /** Terms of who said it, or of the headings above it. */
  readonly about: ReadonlySet<string>;
  /** In lower case, without diacritics. */
  readonly plain: () => string;
}

/** A longer passage is read up to here. */
const READ_CHARS = 4000;
const ASCII = 128;

/**
 * Which words may have one of these stems. A stem begins as its word does, but for its last letter ("buys" is "bui"). Words of other scripts are all taken.
 * Per pair of letters the thirds that may follow, as bits; letters that share a bit are taken too.
 */
function beginningOf(stems: ReadonlySet<string>): Beginning {
  const thirds = new Int32Array(ASCII * ASCII);
  for (const stem of stems) {
    const [first, second, third] = [stem.charCodeAt(0), stem.charCodeAt(1), stem.charCodeAt(2)];
    if (first >= ASCII) continue;
    if (stem.length < 3 || second >= ASCII) thirds.fill(-1, first * ASCII, (first + 1) * ASCII);
    else thirds[first * ASCII + second]! |= stem.length > 3 && third < ASCII ? 1 << third : -1;
  }
  return (first, second, third) => first >= ASCII || second >= ASCII || third >= ASCII || ((thirds[first * ASCII + second] ?? 0) & (1 << third)) !== 0;
}

/** Reads passages for the terms of one question, each once. */
export function createReader(analyser: Analyser, stems: ReadonlySet<string>): (passage: StoredPassage) => Read {
  const read = new Map<number, Read>();
  const mayBegin = beginningOf(stems);
  const headings = new Map<string, ReadonlySet<string>>();

  function aboutOf(about: string, language: Language): ReadonlySet<string> {
    const key = `${language} ${about}`;
    const known = headings.get(key);
    if (known) return known;
    const made = new Set(analyser.analyse(about, { known: language }).terms);
    headings.set(key, made);
    return made;
  }

  function readText(text: string, language: Language): Pick<Read, "occurrences" | "length"> {
    const { words, count } = wordsBeginning(text, mayBegin);
    const compounds = compoundsOf(text);
    const terms = [
      ...words.map(({ word, at }) => ({ stem: analyser.stem(word, language), at })),
      ...compounds.map((stem, index) => ({ stem, at: count + index })),
    ];
    return { occurrences: terms.filter(({ stem }) => stems.has(stem)), length: count + compounds.length };
  }

  return (passage) => {
    const known = read.get(passage.id);
    if (known) return known;
    const text = passage.text.slice(0, READ_CHARS);
    const found = readText(text, passage.language);
    const made = {
      ...found,
      stems: new Set(found.occurrences.map(({ stem }) => stem)),
      about: passage.about === null ? NOTHING : aboutOf(passage.about, passage.language),
      plain: () => folded(text),
    };
    read.set(passage.id, made);
    return made;
  };
}

const NOTHING: ReadonlySet<string> = new Set();
