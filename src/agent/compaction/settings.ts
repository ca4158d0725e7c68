import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { knownTokens, type ContextSize } from "../../sessions/index.ts";
import { SILENT_REPLY } from "../prompt/sections/replies.ts";

/** How the summary treats identifiers: copied exactly, as `identifierInstructions` says, or without a rule. */
export type IdentifierPolicy = "strict" | "custom" | "off";

/** `agents.defaults.compaction` with everything filled in. Sizes are in tokens. */
export interface CompactionSettings {
  readonly mode: "default" | "safeguard";
  /** Reserved for the answer; never less than `reserveTokensFloor`. */
  readonly reserveTokens: number;
  /** 0: no floor. */
  readonly reserveTokensFloor: number;
  /** How much of the conversation is kept verbatim. */
  readonly keepRecentTokens: number;
  /** Largest share of the window that the verbatim part may take. */
  readonly maxHistoryShare?: number | undefined;
  readonly memoryFlush: {
    readonly enabled: boolean;
    readonly softThresholdTokens: number;
    readonly prompt?: string | undefined;
    readonly systemPrompt?: string | undefined;
  };
  readonly identifierPolicy: IdentifierPolicy;
  readonly identifierInstructions?: string | undefined;
  /** Headings of AGENTS.md whose sections are appended to the summary verbatim. */
  readonly postCompactionSections: readonly string[];
}

type Configured = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["compaction"]>;

const RESERVE_TOKENS = 16_384;
const RESERVE_TOKENS_FLOOR = 20_000;
const KEEP_RECENT_TOKENS = 20_000;
const SOFT_THRESHOLD_TOKENS = 4_000;

/** The documented defaults, overridden by the configuration, overridden by the caller. */
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

/** Sizes for a compaction, in tokens. */
export interface CompactionSizes {
  /** Reserved for the answer. */
  readonly reserve: number;
  /** A request above this is compacted: system prompt, tools and conversation together. */
  readonly limit: number;
  /** Approximate size of the verbatim part. */
  readonly keep: number;
  /** The summary with everything appended to it. */
  readonly summary: number;
}

/** Largest share of the window for the reserve, whose default suits large windows: in a small one it would leave no space for the conversation. */
const MOST_RESERVED = 0.5;
/** Shares of the conversation's part of the window, so that a compaction is not due again soon: more than a quarter of the window is free after it. */
const MOST_KEPT = 0.4;
const MOST_SUMMARY = 0.25;
const SUMMARY_OF_RESERVE = 0.8;
/** Share of the window that is the conversation's, even if prompt and tools would fill all of it. */
const LEAST_CONVERSATION = 0.25;

/** `overhead`: tokens sent with every request besides the conversation: the system prompt and the tools. */
export function compactionSizes(window: number, settings: CompactionSettings, overhead = 0): CompactionSizes {
  const available = Math.max(window - overhead, Math.floor(window * LEAST_CONVERSATION));
  const reserve = Math.min(Math.max(settings.reserveTokens, settings.reserveTokensFloor), Math.floor(available * MOST_RESERVED));
  const talk = available - reserve;
  const share = settings.maxHistoryShare === undefined ? talk : Math.floor(window * settings.maxHistoryShare);
  return {
    reserve,
    limit: overhead + talk,
    keep: Math.min(settings.keepRecentTokens, Math.floor(talk * MOST_KEPT), share),
    summary: Math.min(Math.floor(reserve * SUMMARY_OF_RESERVE), Math.floor(talk * MOST_SUMMARY)),
  };
}

/** Models with a smaller window are refused. */
const LEAST_WINDOW_TOKENS = 16_000;
const SMALL_WINDOW_TOKENS = 32_000;

/** A refusal or warning when a model's window is too small, else undefined. */
export function windowCheck(window: number): { readonly level: "refuse" | "warn"; readonly text: string } | undefined {
  if (window < LEAST_WINDOW_TOKENS)
    return { level: "refuse", text: `the model's window has ${window} tokens, at least ${LEAST_WINDOW_TOKENS} are needed: choose a model with a larger one` };
  if (window < SMALL_WINDOW_TOKENS) return { level: "warn", text: `the model's window has only ${window} tokens; conversations will be summarised often` };
  return undefined;
}

export interface DueInput {
  /** The provider's count at the last answer plus an estimate for what follows. */
  readonly size: number | Pick<ContextSize, "tokens">;
  /** Tokens the model can see. */
  readonly window: number;
  readonly settings: CompactionSettings;
  /** Tokens of the system prompt and the tools; part of `size`. */
  readonly overhead?: number;
}

/** True when the conversation reaches into what is reserved for the answer. */
export function compactionDue({ size, window, settings, overhead = 0 }: DueInput): boolean {
  return (typeof size === "number" ? size : size.tokens) > compactionSizes(window, settings, overhead).limit;
}

export interface FlushInput {
  readonly entry: SessionEntry | undefined;
  /** Tokens the model can see. */
  readonly window: number;
  readonly settings: CompactionSettings;
  /** Heartbeats do not write notes. */
  readonly heartbeat?: boolean;
  /** Programs that run their own loop do not take this turn. */
  readonly cliBackend?: boolean;
  /** False in a sandbox that sees the workspace read-only or not at all. */
  readonly workspaceWritable: boolean;
}

/** How often a session was compacted. */
function compactionsOf(entry: SessionEntry | undefined): number {
  const count = entry?.["compactionCount"];
  return typeof count === "number" ? count : 0;
}

/** The number of tokens at which notes are written, ahead of a compaction. Infinite when that is off. */
export function memoryFlushThreshold(window: number, { memoryFlush, reserveTokensFloor }: CompactionSettings): number {
  const threshold = window - Math.min(reserveTokensFloor, Math.floor(window * MOST_RESERVED)) - memoryFlush.softThresholdTokens;
  return memoryFlush.enabled && threshold > 0 ? threshold : Number.POSITIVE_INFINITY;
}

/** True when a silent turn should write notes before a compaction: close to the limit, and once between two compactions. */
export function memoryFlushDue({ entry, window, settings, heartbeat, cliBackend, workspaceWritable }: FlushInput): boolean {
  if (heartbeat || cliBackend || !workspaceWritable || (knownTokens(entry) ?? 0) < memoryFlushThreshold(window, settings)) return false;
  const flushed = entry?.["memoryFlushCompactionCount"];
  return typeof flushed !== "number" || flushed !== compactionsOf(entry);
}

/** Fields of the entry after the silent turn. */
export function memoryFlushed(entry: SessionEntry | undefined, now: number): Readonly<Record<string, unknown>> {
  return { memoryFlushAt: now, memoryFlushCompactionCount: compactionsOf(entry) };
}

const PROMPT =
  "This conversation will soon be compacted to free up context. Write down now what should outlast it, in memory/YYYY-MM-DD.md (make the folder if it is missing). " +
  "If the file is there, add to its end and change nothing of it.";
const SYSTEM_PROMPT =
  "A turn before compaction: the conversation is about to be condensed, and lasting notes belong on disk. An answer is possible but rarely needed.";
const HINT = `When there is nothing to write down or nothing to say, answer with ${SILENT_REPLY} alone.`;

/** The prompts for the silent turn, with `YYYY-MM-DD` replaced by today's date. */
export function memoryFlushPrompts({ settings, now, timeZone }: { readonly settings: CompactionSettings; readonly now: number; readonly timeZone: string }): {
  readonly prompt: string;
  readonly systemPrompt: string;
} {
  // The Swedish date format is ISO 8601.
  const date = new Intl.DateTimeFormat("sv-SE", { timeZone }).format(now);
  const time = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "short" }).format(now);
  const text = (configured: string | undefined, fallback: string): string => {
    const own = (configured?.trim() || fallback).replaceAll("YYYY-MM-DD", date);
    return own.includes(SILENT_REPLY) ? own : `${own}\n\n${HINT}`;
  };
  return {
    prompt: `${text(settings.memoryFlush.prompt, PROMPT)}\nCurrent time: ${time} (${timeZone})`,
    systemPrompt: text(settings.memoryFlush.systemPrompt, SYSTEM_PROMPT),
  };
}
