/** Remembers keys for a while. */
import { systemClock } from "../../../base/clock.ts";

export interface DedupeCache {
  /** True when the key was seen within the time; either way it counts as seen now. */
  check(key: string | undefined | null, now?: number): boolean;
  clear(): void;
  size(): number;
}

/** At most `maxSize` keys, each for `ttlMs` milliseconds (0: until newer keys displace it). */
export function createDedupeCache(options: { ttlMs: number; maxSize: number }): DedupeCache {
  const { ttlMs } = options;
  const maxSize = Math.max(0, Math.floor(options.maxSize));
  // Ordered by when a key was seen last: the oldest come first.
  const seen = new Map<string, number>();
  return {
    check(key, now = systemClock.now()) {
      if (!key) return false;
      const last = seen.get(key);
      const known = last !== undefined && (ttlMs <= 0 || now - last < ttlMs);
      seen.delete(key);
      seen.set(key, now);
      for (const [oldest, at] of seen) {
        const expired = ttlMs > 0 && now - at >= ttlMs;
        if (!expired && seen.size <= maxSize) break;
        seen.delete(oldest);
      }
      return known;
    },
    clear: () => seen.clear(),
    size: () => seen.size,
  };
}
