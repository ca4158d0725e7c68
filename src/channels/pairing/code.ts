import type { Random } from "../../base/random.ts";

/** 32 signs that nobody takes for another: no 0, O, 1 and I. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;
const TRIES = 500;

/** A code that is not among `taken`; undefined when none was found, which only a broken source of randomness brings about. */
export function makeCode(random: Pick<Random, "bytes">, taken: ReadonlySet<string>): string | undefined {
  for (let turn = 0; turn < TRIES; turn++) {
    // 32 signs: five bits of each byte are drawn evenly.
    const code = Array.from(random.bytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]!).join("");
    if (!taken.has(code)) return code;
  }
  return undefined;
}

/** A code as people type it. */
export const readCode = (typed: string): string => typed.trim().toUpperCase();
