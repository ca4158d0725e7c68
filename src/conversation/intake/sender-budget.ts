import type { Clock } from "../../base/clock.ts";

/** How much one sender may write: so many at once, and then so many a minute. */
export interface SenderBudget {
  /** False: too much. */
  take(sender: string): boolean;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MOST_SENDERS = 10_000;

/** Buckets that are full again are forgotten; of more than ten thousand that are not, the oldest go. */
export function createSenderBudget(
  clock: Pick<Clock, "monotonic">,
  { burst, perMinute }: { readonly burst: number; readonly perMinute: number },
): SenderBudget {
  const buckets = new Map<string, Bucket>();
  return {
    take(sender) {
      const now = clock.monotonic();
      const known = buckets.get(sender);
      const tokens = known ? Math.min(burst, known.tokens + ((now - known.at) * perMinute) / 60_000) : burst;
      buckets.delete(sender);
      if (buckets.size >= MOST_SENDERS) buckets.delete(buckets.keys().next().value!);
      buckets.set(sender, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
      return tokens >= 1;
    },
  };
}
