import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { knownTokens, type ContextSize } from "../../sessions/index.ts";
import { SILENT_REPLY } from "../prompt/sections/replies.ts";

/** How the summary treats identifiers: copied letter by letter, as `identifierInstructions` says, or without a rule. */
export type IdentifierPolicy = "strict" | "custom" | "off";

/** `agents.defaults.compaction` with everything filled in. Sizes are in tokens. */
export interface CompactionSettings {
  readonly mode: "default" | "safeguard";
  /** Left free for the answer; never less than `reserveTokensFloor`. */
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
  /** Left free for the answer. */
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
/** Shares of the conversation's part of the window, so that a compaction is not due again soon: more than a quarter of the window is free after it. */
const MOST_KEPT = 0.4;
const MOST_SUMMARY = 0.25;
const SUMMARY_OF_RESERVE = 0.8;
/** So much of the window is the conversation's, even where prompt and tools would take all of it. */
const LEAST_CONVERSATION = 0.25;

/** `overhead`: tokens of what is sent with every request besides the conversation: the system prompt and the tools. */
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

/** Whether a model's window is large enough; undefined when there is nothing to say. */
export function windowCheck(window: number): { readonly level: "refuse" | "warn"; readonly text: string } | undefined {
  if (window < LEAST_WINDOW_TOKENS)
    return { level: "refuse", text: `the model's window has ${window} tokens, at least ${LEAST_WINDOW_TOKENS} are needed: choose a model with a larger one` };
  if (window < SMALL_WINDOW_TOKENS) return { level: "warn", text: `the model's window has only ${window} tokens; conversations will be summed up often` };
  return undefined;
}

export interface DueInput {
  /** What the provider counted at the last answer, and the guess for what follows. */
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
  /** A heartbeat is no turn to write notes in. */
  readonly heartbeat?: boolean;
  /** Programs that run their own loop take no such turn. */
  readonly cliBackend?: boolean;
  /** False in a sandbox that sees the workspace read-only or not at all. */
  readonly workspaceWritable: boolean;
}

/** How often a session's conversation was summed up. */
function compactionsOf(entry: SessionEntry | undefined): number {
  const count = entry?.["compactionCount"];
  return typeof count === "number" ? count : 0;
}

/** Tokens of a conversation from which on notes are to be written, before a compaction comes. Infinite when that is off. */
export function memoryFlushThreshold(window: number, { memoryFlush, reserveTokensFloor }: CompactionSettings): number {
  const threshold = window - Math.min(reserveTokensFloor, Math.floor(window * MOST_RESERVED)) - memoryFlush.softThresholdTokens;
  return memoryFlush.enabled && threshold > 0 ? threshold : Number.POSITIVE_INFINITY;
}

/** True when a silent turn should write down what matters before a compaction comes: close to the limit, and once between two compactions. */
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

/** What the silent turn is asked, with today's date where `YYYY-MM-DD` stands. */
export function memoryFlushPrompts({ settings, now, timeZone }: { readonly settings: CompactionSettings; readonly now: number; readonly timeZone: string }): {
  readonly prompt: string;
  readonly systemPrompt: string;
} {
  // Swedish dates are ISO dates.
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
