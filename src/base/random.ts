import { randomBytes } from "node:crypto";

/** Randomness as a dependency. */
export interface Random {
  bytes(size: number): Buffer;
  /** A float in [0, 1). */
  float(): number;
}

export const systemRandom: Random = {
  bytes: (size) => randomBytes(size),
  float: () => Math.random(),
};

/** The same sequence for the same seed (mulberry32). For tests and reproducible campaigns; never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  function float(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  return { float, bytes: (size) => Buffer.from(Array.from({ length: size }, () => Math.floor(float() * 256))) };
}
