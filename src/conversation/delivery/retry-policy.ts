import type { ChannelOutboundAdapter, HostConfig } from "../../protocol/index.ts";

export interface RetryPolicy {
  readonly attempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly jitter: number;
}

type Section = Readonly<Record<string, unknown>>;
const sectionOf = (value: unknown): Section => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Section) : {});

/** The account's setting, the channel's, what the channel's code says, the default. */
export function retryPolicy(cfg: HostConfig, channel: string, accountId: string, outbound: Pick<ChannelOutboundAdapter, "retry"> | undefined): RetryPolicy {
  const own = sectionOf(cfg.channels?.[channel]);
  const account = sectionOf(sectionOf(own["accounts"])[accountId]);
  const levels = [sectionOf(account["retry"]), sectionOf(own["retry"]), sectionOf(outbound?.retry)];
  const pick = (name: keyof RetryPolicy, least: number, fallback: number): number => {
    const found = levels.map((level) => level[name]).find((value) => typeof value === "number" && Number.isFinite(value) && value >= least);
    return (found as number | undefined) ?? fallback;
  };
  const minDelayMs = pick("minDelayMs", 0, 300);
  return {
    attempts: Math.floor(pick("attempts", 1, 3)),
    minDelayMs,
    maxDelayMs: Math.max(minDelayMs, pick("maxDelayMs", 0, 30_000)),
    jitter: Math.min(1, pick("jitter", 0, 0.1)),
  };
}

/** Milliseconds before the attempt that follows the `made`th: doubled each time, spread by the jitter. */
export function retryDelay(policy: RetryPolicy, made: number, random: number): number {
  const plain = Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** Math.min(Math.max(made - 1, 0), 30));
  return Math.round(Math.max(0, plain * (1 + policy.jitter * (random * 2 - 1))));
}
