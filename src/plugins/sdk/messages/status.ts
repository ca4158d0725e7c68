/** What is said about an account of a channel. */
import type { ChannelStatusIssue } from "../../../protocol/index.ts";

interface RuntimeFields {
  accountId: string;
  running: false;
  lastStartAt: null;
  lastStopAt: null;
  lastError: null;
}

/** What is known about an account before it was ever started. */
export function createDefaultChannelRuntimeState<T extends Record<string, unknown> = Record<string, unknown>>(accountId: string, extra?: T): RuntimeFields & T {
  return { accountId, running: false, lastStartAt: null, lastStopAt: null, lastError: null, ...(extra as T) };
}

interface SummaryFields {
  configured: boolean;
  running: boolean;
  lastStartAt: number | null;
  lastStopAt: number | null;
  lastError: string | null;
}

/** The five keys that every channel's summary has. */
export function buildBaseChannelStatusSummary(snapshot: { [K in keyof SummaryFields]?: SummaryFields[K] | null | undefined }): SummaryFields {
  return {
    configured: snapshot.configured ?? false,
    running: snapshot.running ?? false,
    lastStartAt: snapshot.lastStartAt ?? null,
    lastStopAt: snapshot.lastStopAt ?? null,
    lastError: snapshot.lastError ?? null,
  };
}

/** One issue for every account that ended with an error. */
export function collectStatusIssuesFromLastError(channel: string, accounts: readonly { accountId: string; lastError?: unknown }[]): ChannelStatusIssue[] {
  return accounts.flatMap(({ accountId, lastError }) => {
    const text = typeof lastError === "string" ? lastError.trim() : "";
    return text ? [{ channel, accountId, kind: "runtime" as const, message: `Channel error: ${text}` }] : [];
  });
}
