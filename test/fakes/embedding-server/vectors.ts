/** Words that mean the same here, so that a question can be near a text without sharing a word with it. */
const SAME: readonly (readonly string[])[] = [
  ["car", "automobile", "vehicle"],
  ["doctor", "physician", "surgery"],
  ["house", "home", "flat", "apartment"],
  ["dog", "puppy", "hound"],
  ["money", "budget", "salary"],
  // Words that nothing but an embedding can know.
  ["zorblat", "quimby", "flemwick"],
];
const MEANING = new Map(SAME.flatMap(([first = "", ...others]) => [first, ...others].map((word): [string, string] => [word, first])));

function hash(text: string): number {
  let value = 2_166_136_261;
  for (const sign of text) value = Math.imul(value ^ (sign.codePointAt(0) ?? 0), 16_777_619);
  return value >>> 0;
}

/** A vector that depends on the text alone: the sum of one random direction for each meaning. */
export function vectorOf(text: string, dims: number): number[] {
  const vector = Array.from({ length: dims }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let state = hash(MEANING.get(word) ?? word) || 1;
    for (let at = 0; at < dims; at += 1) {
      state = Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e_37_79_b9;
      vector[at] = (vector[at] ?? 0) + ((state >>> 8) / 2 ** 24 - 0.5);
    }
  }
  return vector;
}
