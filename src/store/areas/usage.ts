/** One model call. Tokens and cost as the provider reported them; cost in USD. */
export interface UsageInput {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
  /** The parts of the cost, where known. */
  readonly costs?: UsageCosts | undefined;
  readonly durationMs: number;
  readonly failed?: boolean | undefined;
  readonly channel?: string | undefined;
  /** Sender of the message that it answered, as the channel names them. */
  readonly sender?: string | undefined;
  readonly turnId?: string | undefined;
  /** Default now. */
  readonly at?: number | undefined;
}

/** Parts of a cost, in USD. */
export interface UsageCosts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** `work`: what caused a call: `message` (also what follows from an approved command, and an answer given once more), `heartbeat`, `cron`, `webhook`, `subagent`, `media`; `other` when that is not stored (any more). */
export type UsageDimension = "day" | "sessionKey" | "agentId" | "channel" | "sender" | "provider" | "model" | "work";

export interface UsageTotals {
  readonly calls: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
  /** Parts of the cost; they may add up to less where some are unknown. */
  readonly inputCost: number;
  readonly outputCost: number;
  readonly cacheReadCost: number;
  readonly cacheWriteCost: number;
  readonly durationMs: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Zero totals, to start a sum with. */
export const NO_TOTALS: UsageTotals = {
  calls: 0,
  failed: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cost: 0,
  inputCost: 0,
  outputCost: 0,
  cacheReadCost: 0,
  cacheWriteCost: 0,
  durationMs: 0,
  firstAt: 0,
  lastAt: 0,
};

/** The requested dimensions, with their totals. */
export type UsageGroup = Readonly<Partial<Record<UsageDimension, string | null>>> & UsageTotals;

export interface UsageFilter {
  /** Days in UTC, `YYYY-MM-DD`, both included. */
  readonly fromDay?: string | undefined;
  readonly toDay?: string | undefined;
  /** Milliseconds since the epoch; `since` is inclusive, `before` exclusive. */
  readonly since?: number | undefined;
  readonly before?: number | undefined;
  readonly sessionKey?: string | undefined;
  /** Any of these. */
  readonly sessionKeys?: readonly string[] | undefined;
  readonly agentId?: string | undefined;
  readonly sender?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

export interface UsagePoint {
  readonly at: number;
  readonly provider: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
}

/** One call of a turn. */
export interface UsageOfTurn extends UsagePoint {
  readonly durationMs: number;
  readonly failed: boolean;
}

/** Total usage of several sessions. */
export interface UsageOfMany extends Omit<UsageTotals, "firstAt" | "lastAt"> {
  readonly sessions: number;
}

export interface UsageBySession {
  readonly rows: readonly (UsageTotals & { readonly sessionKey: string })[];
  /** Existing sessions beyond the listed ones, and removed sessions. */
  readonly others: UsageOfMany;
  readonly removed: UsageOfMany;
}

/** Model calls in one step of time. */
export interface UsageOutcomes {
  /** Where the step begins. */
  readonly from: number;
  readonly calls: number;
  readonly failed: number;
}

export interface UsageWrites {
  "usage.add": { input: UsageInput; result: void };
}

export interface UsageReads {
  /** Totals by any combination of dimensions, ordered by them; without dimensions one row over all. */
  "usage.totals": { input: UsageFilter & { readonly by: readonly UsageDimension[] }; result: readonly UsageGroup[] };
  /** The `most` most expensive sessions and the `most` with the most tokens, most expensive first; all others, and removed ones, are added up. */
  "usage.bySession": { input: UsageFilter & { readonly most: number }; result: UsageBySession };
  /** Model calls at or after `since`, by steps of `stepMs` from there. Steps without calls are left out. */
  "usage.outcomes": { input: { readonly since: number; readonly stepMs: number }; result: readonly UsageOutcomes[] };
  /** The latest calls of a session, oldest first. */
  "usage.points": { input: { readonly sessionKey: string; readonly limit?: number | undefined }; result: readonly UsagePoint[] };
  /** The calls of a turn, oldest first. */
  "usage.ofTurn": { input: { readonly sessionKey: string; readonly turnId: string; readonly since?: number | undefined }; result: readonly UsageOfTurn[] };
}
