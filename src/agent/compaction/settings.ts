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
  /** A request above this is compacted: system prompt, tools and conversation together. */
  readonly limit: number;
  /** What stays word for word, roughly. */
  readonly keep: number;
  /** The summary with everything that is pinned to it. */
  readonly summary: number;
}

/** The reserve is made for large windows: in a small one it would leave nothing to talk in. */
const MOST_RESERVED = 0.5;
/** Shares of the conversation's room, so that a compaction is not due again soon: more than a quarter of the window is free after it. */
const MOST_KEPT = 0.4;
const MOST_SUMMARY = 0.25;
const SUMMARY_OF_RESERVE = 0.8;
/** So much of the window is the conversation's, even where prompt and tools would take all of it. */
const LEAST_ROOM = 0.25;

/** `overhead`: tokens of what is sent with every request besides the conversation: the system prompt and the tools. */
export function compactionSizes(window: number, settings: CompactionSettings, overhead = 0): CompactionSizes {
  const room = Math.max(window - overhead, Math.floor(window * LEAST_ROOM));
  const reserve = Math.min(Math.max(settings.reserveTokens, settings.reserveTokensFloor), Math.floor(room * MOST_RESERVED));
  const talk = room - reserve;
  const share = settings.maxHistoryShare === undefined ? talk : Math.floor(window * settings.maxHistoryShare);
  return {
    reserve,
    limit: overhead + talk,
    keep: Math.min(settings.keepRecentTokens, Math.floor(talk * MOST_KEPT), share),
    summary: Math.min(Math.floor(reserve * SUMMARY_OF_RESERVE), Math.floor(talk * MOST_SUMMARY)),
  };
}
