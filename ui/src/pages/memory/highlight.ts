import type { Hit } from "./memory-facts.ts";

/** A piece of a text: one of the words that were looked for, or what stands between them. */
export interface Piece {
  readonly text: string;
  readonly found: boolean;
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that put no space between words: there a word may stand anywhere in a run of letters. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Shorter words with an ending look like another word. */
const SHORT = 3;
const STEM = 4;
/** The longest ending of a word. */
const ENDING = 4;

const plainForm = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** True when two words differ at most in their endings. */
function isSameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length <= SHORT) return long === `${short}s`;
  const common = commonLength(short, long);
  return common >= STEM && common >= short.length - 2 && long.length - common <= ENDING;
}

interface Wanted {
  readonly words: readonly string[];
  readonly stems: readonly string[];
  readonly unspaced: readonly string[];
}

function wantedOf({ words, related }: NonNullable<Hit["why"]>): Wanted {
  const all = words.flatMap((word) => word.match(WORD) ?? []);
  return {
    words: all.filter((word) => !UNSPACED.test(word)).map(plainForm),
    // `word → stem`: another word of nearly the same meaning.
    stems: related.flatMap((pair) => plainForm(pair.split(" → ")[1] ?? "").match(WORD) ?? []),
    unspaced: all.filter((word) => UNSPACED.test(word)),
  };
}

function isFound(word: string, { words, stems }: Wanted): boolean {
  const form = plainForm(word);
  if (words.some((wanted) => isSameWord(form, wanted))) return true;
  return stems.some((stem) => stem.length >= 2 && form.startsWith(stem) && form.length - stem.length <= ENDING);
}

/** Where wanted words stand in a run of letters without spaces. */
function* insideOf(run: string, unspaced: readonly string[]): Generator<readonly [from: number, to: number]> {
  for (let at = 0; at < run.length;) {
    const found = unspaced.find((word) => run.startsWith(word, at));
    if (found !== undefined) yield [at, at + found.length];
    at += found?.length ?? 1;
  }
}

/** A text in pieces, with the words that led to it apart. Joined, the pieces are the text. */
export function highlighted(text: string, why: Hit["why"]): readonly Piece[] {
  if (!why) return [{ text, found: false }];
  const wanted = wantedOf(why);
  const pieces: Piece[] = [];
  let done = 0;
  const add = (from: number, to: number): void => {
    if (from > done) pieces.push({ text: text.slice(done, from), found: false });
    pieces.push({ text: text.slice(from, to), found: true });
    done = to;
  };
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const [from, to] of insideOf(word, wanted.unspaced)) add(index + from, index + to);
    else if (isFound(word, wanted)) add(index, index + word.length);
  }
  if (done < text.length) pieces.push({ text: text.slice(done), found: false });
  return pieces;
}
