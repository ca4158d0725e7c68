import { SyntaxProblem } from "./syntax.ts";

/** The text of UTF-8 bytes. Throws `SyntaxProblem` naming the first byte that is not UTF-8 (its offset counts characters before it). */
export function decodeText(bytes: Uint8Array): string {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new BadText("", new SyntaxProblem(0, "the file is UTF-16", "UTF-8 text; save it as UTF-8"));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const valid = validLength(bytes);
    const before = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, valid));
    const byte = (bytes[valid] ?? 0).toString(16).padStart(2, "0");
    throw new BadText(before, new SyntaxProblem(before.length, `byte 0x${byte} is not UTF-8`, "UTF-8 text; this may be a binary file"));
  }
}

/** A problem with the bytes, together with the text before it, so that its line can be named. */
export class BadText extends Error {
  readonly before: string;
  readonly problem: SyntaxProblem;

  constructor(before: string, problem: SyntaxProblem) {
    super(problem.message);
    this.before = before;
    this.problem = problem;
  }
}

/** How many leading bytes are whole UTF-8 characters. */
function validLength(bytes: Uint8Array): number {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let low = 0;
  let high = bytes.length;
  // Bisection over prefixes: a prefix is fine when everything but an unfinished last character decodes.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (decodes(strict, bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low - unfinished(bytes, low);
}

function decodes(strict: TextDecoder, bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes.subarray(0, bytes.length - unfinished(bytes, bytes.length)));
    return true;
  } catch {
    return false;
  }
}

/** Bytes at the end of the first `length` that begin a character but do not finish it. */
function unfinished(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= 3 && back <= length; back += 1) {
    const byte = bytes[length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 && byte < 0xf5 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte >= 0xc2 && byte < 0xf5 && size > back ? back : 0;
  }
  return 0;
}
