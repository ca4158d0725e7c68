import type { OpenClawConfig } from "../../config/index.ts";

/** How the summary treats identifiers: kept letter by letter, as told by `identifierInstructions`, or without a rule. */
export type IdentifierPolicy = "strict" | "custom" | "off";

/** `agents.defaults.compaction` with everything filled in. Sizes are in tokens. */
export interface CompactionSettings {
  readonly mode: "default" | "safeguard";
  /** Kept free for the answer; never less than `reserveTokensFloor`. */
  readonly reserveTokens: number;
  /** 0: no floor. */
  readonly reserveTokensFloor: number;
  /** What stays word for word. */
  readonly keepRecentTokens: number;
  /** Largest share of the window that what stays may take. */
  readonly maxHistoryShare?: number | undefined;
  readonly memoryFlush: {
    readonly enabled: boolean;
    readonly softThresholdTokens: number;
    readonly prompt?: string | undefined;
    readonly systemPrompt?: string | undefined;
  };
  readonly identifierPolicy: IdentifierPolicy;
  readonly identifierInstructions?: string | undefined;
  /** Headings of AGENTS.md whose sections follow the summary word for word. */
  readonly postCompactionSections: readonly string[];
}

type Configured = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["compaction"]>;

const RESERVE_TOKENS = 16_384;
const RESERVE_TOKENS_FLOOR = 20_000;
const KEEP_RECENT_TOKENS = 20_000;
const SOFT_THRESHOLD_TOKENS = 4_000;

/** The documented defaults under what is configured, and under both what a caller decides. */
export function compactionSettings(configured: Configured = {}, over: Partial<CompactionSettings> = {}): CompactionSettings {
  const { memoryFlush } = configured;
  return {
    mode: configured.mode ?? "safeguard",
    reserveTokens: RESERVE_TOKENS,
    reserveTokensFloor: configured.reserveTokensFloor ?? RESERVE_TOKENS_FLOOR,
    keepRecentTokens: KEEP_RECENT_TOKENS,
    maxHistoryShare: configured.maxHistoryShare,
    memoryFlush: {
      enabled: memoryFlush?.enabled ?? true,
      softThresholdTokens: memoryFlush?.softThresholdTokens ?? SOFT_THRESHOLD_TOKENS,
      prompt: memoryFlush?.prompt,
      systemPrompt: memoryFlush?.systemPrompt,
    },
    identifierPolicy: "strict",
    postCompactionSections: ["Session Startup", "Red Lines"],
    ...over,
  };
}

/** Tokens that a compaction works with. */
export interface CompactionSizes {
  /** Kept free for the answer. */
  readonly reserve: number;
  /** A conversation above this is compacted. */
  readonly limit: number;
  /** What stays word for word, roughly. */
  readonly keep: number;
  /** The summary with everything that is pinned to it. */
  readonly summary: number;
}

/** The reserve is made for large windows: in a small one it would leave nothing to talk in. */
const MOST_RESERVED = 0.5;
/** Shares of the limit, so that a compaction is not due again at once. */
const MOST_KEPT = 0.6;
const MOST_SUMMARY = 0.25;
const SUMMARY_OF_RESERVE = 0.8;

export function compactionSizes(window: number, settings: CompactionSettings): CompactionSizes {
  const reserve = Math.min(Math.max(settings.reserveTokens, settings.reserveTokensFloor), Math.floor(window * MOST_RESERVED));
  const limit = window - reserve;
  const share = settings.maxHistoryShare === undefined ? limit : Math.floor(window * settings.maxHistoryShare);
  return {
    reserve,
    limit,
    keep: Math.min(settings.keepRecentTokens, Math.floor(limit * MOST_KEPT), share),
    summary: Math.min(Math.floor(reserve * SUMMARY_OF_RESERVE), Math.floor(limit * MOST_SUMMARY)),
  };
}
