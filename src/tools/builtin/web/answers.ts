import type { Clock } from "../../../base/clock.ts";

/** Answers that are still fresh. */
export interface Answers<T> {
  get(key: string): T | undefined;
  /** `ttlMs` 0 keeps nothing. */
  keep(key: string, answer: T, ttlMs: number): void;
}

const MAX_ANSWERS = 100;
const MAX_CHARS = 2_000_000;

/** Bounded in number and in size; the oldest go first. */
export function createAnswers<T>(clock: Clock): Answers<T> {
  const kept = new Map<string, { readonly answer: T; readonly until: number; readonly chars: number }>();
  let chars = 0;

  function drop(key: string): void {
    chars -= kept.get(key)?.chars ?? 0;
    kept.delete(key);
  }

  return {
    get(key) {
      const found = kept.get(key);
      if (!found) return undefined;
      if (found.until > clock.monotonic()) return found.answer;
      drop(key);
      return undefined;
    },
    keep(key, answer, ttlMs) {
      drop(key);
      const size = JSON.stringify(answer).length + key.length;
      if (ttlMs <= 0 || size > MAX_CHARS) return;
      kept.set(key, { answer, until: clock.monotonic() + ttlMs, chars: size });
      chars += size;
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_ANSWERS && chars <= MAX_CHARS) break;
        drop(oldest);
      }
    },
  };
}
