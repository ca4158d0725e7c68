import type { SessionEntry } from "../../protocol/index.ts";

/** Why a key gets a new session id. `explicit`: somebody asked for it. */
export type ResetKind = "explicit" | "expired" | "isolated";

/** Survive when somebody asked for the new session, and not when it merely expired. */
const KEPT_WHEN_ASKED = ["thinkingLevel", "verboseLevel", "reasoningLevel", "ttsAuto"] as const;

/** Belong to the session id that is left, or are found out again. Everything else stays. */
const CLEARED: ReadonlySet<string> = new Set([
  "sessionFile",
  "modelOverride",
  "providerOverride",
  "responseUsage",
  "sendPolicy",
  "queueMode",
  "queueDebounceMs",
  "queueCap",
  "queueDrop",
  "displayName",
  "subject",
  "groupChannel",
  "space",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "totalTokensFresh",
  "contextTokens",
  "memoryFlushAt",
  "memoryFlushCompactionCount",
  "authProfileOverrideCompactionCount",
  "skillsSnapshot",
  "systemPromptReport",
]);

/** The entry of a key whose conversation begins anew under another session id. */
export function entryAfterReset(old: SessionEntry, kind: ResetKind, fresh: { readonly sessionId: string; readonly now: number }): SessionEntry {
  const left = kind === "explicit" ? CLEARED : new Set([...CLEARED, ...KEPT_WHEN_ASKED]);
  const kept = Object.fromEntries(Object.entries(old).filter(([field]) => !left.has(field)));
  return { ...kept, sessionId: fresh.sessionId, updatedAt: fresh.now, systemSent: false, abortedLastRun: false, compactionCount: 0 };
}
