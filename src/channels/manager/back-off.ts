import type { Random } from "../../base/random.ts";

const FIRST_MS = 5000;
const MOST_MS = 5 * 60_000;
const JITTER = 0.1;
/** Restarts in a row; then an account stays down. */
export const MAX_RESTARTS = 10;
/** A run of this length was a good one: the next restarts are counted anew. */
export const GOOD_RUN_MS = 60_000;

/** How long to wait before the restart with this number, counted from 1. `least`: what the platform asked for. */
export function restartDelay(attempt: number, random: Pick<Random, "float">, least = 0): number {
  const delay = Math.min(FIRST_MS * 2 ** (attempt - 1), MOST_MS);
  return Math.max(least, Math.round(delay * (1 + JITTER * (2 * random.float() - 1))));
}

interface Marked {
  readonly permanent?: unknown;
  readonly delivery?: { readonly state?: unknown; readonly retryAfterMs?: unknown } | undefined;
  readonly cause?: unknown;
}

const DEPTH = 4;

/** The error and what caused it. */
function chain(error: unknown): Marked[] {
  const found: Marked[] = [];
  for (let at: unknown = error; typeof at === "object" && at !== null && found.length < DEPTH; at = (at as Marked).cause) found.push(at);
  return found;
}

/** Trying again is useless: wrong credentials and the like. */
export function isPermanent(error: unknown): boolean {
  return chain(error).some(({ permanent, delivery }) => permanent === true || delivery?.state === "failed");
}

/** How long the platform asks to be left alone; 0 when it does not say. */
export function retryAfterMs(error: unknown): number {
  const given = chain(error).find(({ delivery }) => typeof delivery?.retryAfterMs === "number")?.delivery?.retryAfterMs;
  return typeof given === "number" && given > 0 ? given : 0;
}
