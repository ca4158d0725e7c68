import type { SessionEntry } from "../../protocol/index.ts";
import { knownTokens } from "../../sessions/index.ts";
import { SILENT_REPLY } from "../prompt/sections/replies.ts";
import type { CompactionSettings } from "./settings.ts";

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

const MOST_RESERVED = 0.5;
const countOf = (value: unknown): number => (typeof value === "number" ? value : 0);

/** True when a silent turn should write down what matters before a compaction comes: close to the limit, and once between two compactions. */
export function memoryFlushDue({ entry, window, settings, heartbeat, cliBackend, workspaceWritable }: FlushInput): boolean {
  const { enabled, softThresholdTokens } = settings.memoryFlush;
  if (!enabled || heartbeat || cliBackend || !workspaceWritable) return false;
  const tokens = knownTokens(entry);
  const threshold = window - Math.min(settings.reserveTokensFloor, Math.floor(window * MOST_RESERVED)) - softThresholdTokens;
  if (!tokens || threshold <= 0 || tokens < threshold) return false;
  const flushed = entry?.["memoryFlushCompactionCount"];
  return typeof flushed !== "number" || flushed !== countOf(entry?.["compactionCount"]);
}

/** Fields of the entry after the silent turn. */
export function memoryFlushed(entry: SessionEntry | undefined, now: number): Readonly<Record<string, unknown>> {
  return { memoryFlushAt: now, memoryFlushCompactionCount: countOf(entry?.["compactionCount"]) };
}

const PROMPT =
  "This conversation will soon be summed up to make room. Write down now what should outlast it, in memory/YYYY-MM-DD.md (make the folder if it is missing). " +
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
