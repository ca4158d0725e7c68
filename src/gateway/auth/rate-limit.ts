import type { Clock } from "../../base/clock.ts";
import type { RateLimitSettings } from "./settings.ts";

/** Counts failed proofs per key, over all forms a proof can have, and locks out who fails too often. */
export interface FailureBudget {
  /** Milliseconds until the key may try again; undefined when it may now. */
  lockedFor(key: string): number | undefined;
  fail(key: string): void;
  /** Keys that are remembered. */
  readonly size: number;
}

interface Account {
  /** Times of the failures in the window, oldest first; never more than the limit. */
  readonly failures: number[];
  lockedUntil: number;
}

/** Keys in one generation. Two are kept, so that forgetting those that failed longest ago costs nothing per key. */
const GENERATION = 5000;

/** `settings` is asked each time, so that a changed limit holds at once. */
export function createFailureBudget(settings: () => RateLimitSettings, clock: Pick<Clock, "monotonic">): FailureBudget {
  let recent = new Map<string, Account>();
  let older = new Map<string, Account>();
  const find = (key: string): Account | undefined => recent.get(key) ?? older.get(key);

  return {
    lockedFor(key) {
      const left = (find(key)?.lockedUntil ?? 0) - clock.monotonic();
      return left > 0 ? left : undefined;
    },

    fail(key) {
      const { maxAttempts, windowMs, lockoutMs } = settings();
      const now = clock.monotonic();
      const account = find(key) ?? { failures: [], lockedUntil: 0 };
      if (account.lockedUntil > now) return;
      while ((account.failures[0] ?? Infinity) <= now - windowMs) account.failures.shift();
      account.failures.push(now);
      if (account.failures.length >= maxAttempts) {
        account.lockedUntil = now + lockoutMs;
        account.failures.length = 0;
      }
      older.delete(key);
      recent.set(key, account);
      if (recent.size < GENERATION) return;
      older = recent;
      recent = new Map();
    },

    get size() {
      return recent.size + older.size;
    },
  };
}
