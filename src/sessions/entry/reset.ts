import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";

type SessionConfig = NonNullable<OpenClawConfig["session"]>;

export type ResetType = "direct" | "group" | "thread";

/** When a session is reset by itself. */
export interface ResetPolicy {
  readonly mode: "daily" | "idle";
  /** Hour of the day in the host's time; counts in mode `daily`. */
  readonly atHour: number;
  /** Minutes of silence after which it is reset. */
  readonly idleMinutes?: number;
  readonly source: "resetByChannel" | "resetByType" | "reset" | "idleMinutes" | "default";
}

/** What is known of an incoming message and its chat. */
export interface ResetFacts {
  readonly sessionKey: string;
  readonly channel?: string | undefined;
  readonly chatType?: string | undefined;
  /** Any sign of a thread: its id, label, first message or the key of the session above it. */
  readonly thread?: boolean | undefined;
  /** The message without mentions and what a channel put around it. */
  readonly text?: string | undefined;
  /** Whether the sender may give commands. */
  readonly authorised?: boolean | undefined;
  /** An isolated job: each run is a session of its own. */
  readonly isolated?: boolean | undefined;
}

const DEFAULT_HOUR = 4;
const DEFAULT_IDLE_MINUTES = 60;
export const DEFAULT_TRIGGERS: readonly string[] = ["/new", "/reset"];
const MINUTE_MS = 60_000;

export function resetType({ sessionKey, chatType, thread }: Pick<ResetFacts, "sessionKey" | "chatType" | "thread">): ResetType {
  if (thread || /:(?:thread|topic):/.test(sessionKey)) return "thread";
  return chatType === "group" || chatType === "channel" || chatType === "room" || /:(?:group|channel):/.test(sessionKey) ? "group" : "direct";
}

interface Written {
  readonly mode?: "daily" | "idle" | undefined;
  readonly atHour?: number | undefined;
  readonly idleMinutes?: number | undefined;
}

function policy({ mode = "daily", atHour = DEFAULT_HOUR, idleMinutes }: Written, source: ResetPolicy["source"]): ResetPolicy {
  const minutes = idleMinutes ?? (mode === "idle" ? DEFAULT_IDLE_MINUTES : undefined);
  const hour = Number.isFinite(atHour) ? Math.min(23, Math.max(0, Math.floor(atHour))) : DEFAULT_HOUR;
  return { mode, atHour: hour, ...(minutes === undefined ? {} : { idleMinutes: Math.max(1, Math.floor(minutes)) }), source };
}

/** `resetByChannel` alone; else `resetByType` over `reset`; else the older `idleMinutes`; else daily at four. */
export function resetPolicy(session: SessionConfig | undefined, facts: Pick<ResetFacts, "sessionKey" | "channel" | "chatType" | "thread">): ResetPolicy {
  const byChannel = facts.channel === undefined ? undefined : session?.resetByChannel?.[facts.channel.toLowerCase()];
  if (byChannel) return policy(byChannel, "resetByChannel");
  const type = resetType(facts);
  const byType = session?.resetByType?.[type] ?? (type === "direct" ? session?.resetByType?.dm : undefined);
  if (byType) return policy({ ...session?.reset, ...byType }, "resetByType");
  if (session?.reset) return policy(session.reset, "reset");
  if (session?.idleMinutes !== undefined && !session.resetByType) return policy({ mode: "idle", idleMinutes: session.idleMinutes }, "idleMinutes");
  return policy({}, "default");
}

/** The last time it was `hour` o'clock in the host's time. */
export function lastHour(hour: number, now: number): number {
  const date = new Date(now);
  date.setHours(hour, 0, 0, 0);
  if (date.getTime() > now) date.setDate(date.getDate() - 1);
  return date.getTime();
}

/** Why a session is out of date; undefined when it is not. */
export function expiry(updatedAt: number, { mode, atHour, idleMinutes }: ResetPolicy, now: number): "daily" | "idle" | undefined {
  if (mode === "daily" && updatedAt < lastHour(atHour, now)) return "daily";
  return idleMinutes !== undefined && now > updatedAt + idleMinutes * MINUTE_MS ? "idle" : undefined;
}

/** The word that asks for a new session and what follows it. */
export function resetTrigger(text: string, triggers: readonly string[] = DEFAULT_TRIGGERS): { readonly trigger: string; readonly rest: string } | undefined {
  const message = text.trim();
  for (const written of triggers) {
    const trigger = written.trim();
    if (trigger === "" || message.slice(0, trigger.length).toLowerCase() !== trigger.toLowerCase()) continue;
    const rest = message.slice(trigger.length);
    if (rest === "" || /^\s/.test(rest)) return { trigger, rest: rest.trim() };
  }
  return undefined;
}

export type ResetDecision =
  /** The session goes on. */
  | { readonly kind: "none" }
  /** There was none. */
  | { readonly kind: "new" }
  | { readonly kind: "explicit"; readonly trigger: string; /** What is left of the message. */ readonly rest: string }
  | { readonly kind: "expired"; readonly why: "daily" | "idle" }
  | { readonly kind: "isolated" };

/** Whether a message begins a new session. Decided when it arrives, before anything else; the first rule that applies. */
export function resetDecision(
  entry: Pick<SessionEntry, "updatedAt"> | undefined,
  rules: ResetPolicy,
  now: number,
  facts: ResetFacts & { readonly triggers?: readonly string[] | undefined },
): ResetDecision {
  const asked = facts.authorised && facts.text !== undefined ? resetTrigger(facts.text, facts.triggers) : undefined;
  if (asked) return { kind: "explicit", ...asked };
  if (!entry) return { kind: "new" };
  if (facts.isolated) return { kind: "isolated" };
  const why = expiry(entry.updatedAt, rules, now);
  return why === undefined ? { kind: "none" } : { kind: "expired", why };
}

/** Why a key gets a new session id. `explicit`: the user asked for it. */
export type ResetKind = "explicit" | "expired" | "isolated";

/** Survive when the user asked for the new session, and not when it merely expired. */
const STAY_WHEN_ASKED = ["thinkingLevel", "verboseLevel", "reasoningLevel", "ttsAuto"] as const;

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
  "title",
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

/** The entry of a key whose conversation starts again under another session id. */
export function entryAfterReset(old: SessionEntry, kind: ResetKind, fresh: { readonly sessionId: string; readonly now: number }): SessionEntry {
  const left = kind === "explicit" ? CLEARED : new Set([...CLEARED, ...STAY_WHEN_ASKED]);
  const stays = Object.fromEntries(Object.entries(old).filter(([field]) => !left.has(field)));
  return { ...stays, sessionId: fresh.sessionId, updatedAt: fresh.now, systemSent: false, abortedLastRun: false, compactionCount: 0 };
}
