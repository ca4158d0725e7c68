/**
 * Ids as parts of a session key. Ids come from strangers, so no two of them may become the same part, and none may become a word that keys are
 * made of. Whatever platforms use stays as it is; only what could be mistaken is written with a `%`:
 *
 * - `%<hex>;` is one character: invisible ones, letters whose lower case is another letter's, and a `%` that would look like one of these;
 * - `%!<word>` is the word itself, where it would stand for something else;
 * - `%~<sha256>` ends what was too long.
 */

/** Longer parts are cut. With four of them a key stays below 1,024 characters. */
const MAX_PART = 200;
const KEPT_OF_LONG = 120;

/** Visible ASCII without `%`: nothing to look at twice. */
const PLAIN = /^[\x21-\x24\x26-\x7e]*$/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u;
const LOOKS_WRITTEN = /[0-9a-f~!]/i;

const written = (char: string): string => `%${char.codePointAt(0)!.toString(16)};`;

function foldCharacter(char: string, next: string | undefined, isEdge: boolean): string {
  if (char === "%") return next !== undefined && LOOKS_WRITTEN.test(next) ? written(char) : char;
  if (char === " " && !isEdge) return char;
  if (INVISIBLE.test(char)) return written(char);
  const lower = char.toLowerCase();
  // The Kelvin sign becomes a plain k: two ids, one key.
  return lower === char || lower.toUpperCase() === char ? lower : written(char);
}

function folded(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const characters = Array.from(text);
  const last = characters.length - 1;
  return characters.map((char, at) => foldCharacter(char, characters[at + 1], at === 0 || at === last)).join("");
}

function shortened(part: string): string {
  if (part.length <= MAX_PART) return part;
  const head = part.slice(0, KEPT_OF_LONG).replace(/[\uD800-\uDBFF]$/, "");
  return `${head}%~${process.getBuiltinModule("node:crypto").createHash("sha256").update(part).digest("hex")}`;
}

/** Marks a part as being itself, where it would be taken for something else. */
export const itself = (part: string): string => `%!${part}`;

/** An id that may have colons in it. Segments that are one of `words` are marked. */
export function idPart(id: string, words: ReadonlySet<string>): string {
  const whole = folded(id);
  const segments = whole.split(":");
  return shortened(segments.some((segment) => words.has(segment)) ? segments.map((one) => (words.has(one) ? itself(one) : one)).join(":") : whole);
}

/** A name that is one segment of a key: it has no colon, and is none of `words`. */
export function namePart(name: string, words: ReadonlySet<string>): string {
  const whole = folded(name).replaceAll(":", "%3a;");
  return shortened(words.has(whole) ? itself(whole) : whole);
}
