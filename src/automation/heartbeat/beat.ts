/** One heartbeat: whether it runs, what the agent is asked, and what is reported of it. */
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { heartbeatAgents, heartbeatSettings, heartbeatVisibility, isActiveHour, type HeartbeatSettings, type OpenClawConfig } from "../../config/index.ts";
import type { HeartbeatResult, ReplyAddress, RunOutcome, RunRequest } from "../../conversation/index.ts";
import { agentOfKey, resolveSessionKey, type EventPayload, type SessionEntry } from "../../protocol/index.ts";
import { deliveryOf } from "../../sessions/index.ts";
import type { InjectionRow } from "../../store/index.ts";
import { timeLine } from "../time-line.ts";
import type { HeartbeatFile } from "./heartbeat-file.ts";

export type HeartbeatEvent = EventPayload<"heartbeat">;

/** A line of the system that asks for a beat, by what it is about. */
export type WakeSource = "cron" | "exec" | "hook" | "wake";

/** What is to beat, and why. */
export interface Beat {
  readonly agentId: string;
  readonly sessionKey: string;
  /** `interval`, `manual`, `wake`, `exec-event`, `cron:<id>`, `hook:<id>`. */
  readonly reason: string;
}

/** What a beat is decided with. */
export interface BeatFacts {
  readonly config: OpenClawConfig;
  readonly now: number;
  /** Of the session. */
  readonly entry: SessionEntry | undefined;
  /** What lines are about that wait for the session's next turn and ask for a beat. */
  readonly pending: readonly WakeSource[];
  /** Of lines that the agent may have seen the cause of by itself. */
  readonly refs: readonly string[];
  readonly isBusy: boolean;
  readonly file: HeartbeatFile;
  /** Nothing that the file watches changed since it was last in order. */
  readonly isUnchanged: boolean;
  /** The file, or what it watches, changed since the last beat that asked about it. */
  readonly isEdited: boolean;
  readonly isPaused: boolean;
}

export type Skip =
  | "disabled"
  | "quiet-hours"
  | "requests-in-flight"
  | "empty-heartbeat-file"
  | "no-heartbeat-file"
  | "unchanged"
  | "alerts-disabled"
  | "nothing-pending"
  | "no-target";

export const isTimed = ({ reason }: Pick<Beat, "reason">): boolean => reason === "interval" || reason === "manual";

/** What a line is about that asks for this beat; undefined for one that does not. A plugin asks with any line that waits. */
export function wakingLine(
  { payload, placement }: Pick<InjectionRow, "payload" | "placement">,
  { reason }: Pick<Beat, "reason">,
): { readonly source: WakeSource; readonly ref?: string } | undefined {
  if (placement !== "system-event") return undefined;
  const { wake: source, ref } = isRecord(payload) ? payload : {};
  if (source !== "cron" && source !== "exec" && source !== "hook" && source !== "wake") return reason.startsWith("hook:") ? { source: "hook" } : undefined;
  return { source, ...(typeof ref === "string" ? { ref } : {}) };
}

/** The session that an agent's heartbeats run in: as configured, when it is the agent's own, else its main one. */
export function beatSession(config: OpenClawConfig, agentId: string): string {
  const scope = config.session?.scope ?? "per-sender";
  const main = scope === "global" ? "global" : `agent:${agentId}:main`;
  const written = heartbeatSettings(config, agentId).session?.trim();
  if (!written || written.toLowerCase() === "main") return main;
  const found = resolveSessionKey(written, { defaultAgentId: agentId, mainKey: "main", scope }, [agentId]);
  return found.key !== undefined && agentOfKey(found.key, { defaultAgentId: agentId }) === agentId ? found.key : main;
}

/**
 * Where the answer goes; `none` when it is sent nowhere. Undefined: only clients of the gateway see it. What came in for a session is answered where the
 * session talks; the settings are for beats at regular times.
 */
export function targetOf(beat: Beat, entry: SessionEntry | undefined, config: OpenClawConfig): ReplyAddress | "none" | undefined {
  const own: Partial<HeartbeatSettings> = isTimed(beat) ? heartbeatSettings(config, beat.agentId) : {};
  const { target = "last", to: asked, accountId: account } = own;
  if (target === "none") return "none";
  const last = deliveryOf(entry);
  const channel = target === "last" ? last?.channel : target;
  if (channel === undefined || channel === "webchat") return undefined;
  const isLast = channel === last?.channel;
  const to = asked?.trim() || (isLast ? last.to : undefined);
  if (to === undefined || config.channels?.[channel] === undefined) return target === "last" ? undefined : "none";
  const accountId = account?.trim() || (isLast ? last.accountId : undefined) || "default";
  const threadId = isLast && to === last.to ? last.threadId : undefined;
  const isGroup = isLast && to === last.to && (entry?.chatType === "group" || entry?.chatType === "channel");
  return { channel, accountId, to, chatType: isGroup ? "group" : "direct", ...(threadId === undefined ? {} : { threadId }) };
}

/** Why nothing runs; undefined when the beat does. In this order. */
export function skipOf(beat: Beat, facts: BeatFacts): Skip | undefined {
  const { config, now, pending, file } = facts;
  const settings = heartbeatSettings(config, beat.agentId);
  const timed = isTimed(beat);
  // What someone asked for comes also where nothing beats by itself.
  const isOff = timed && (settings.everyMs <= 0 || !heartbeatAgents(config).includes(beat.agentId));
  if (facts.isPaused || isOff) return "disabled";
  // The end of a command that the user asked for is reported at any time.
  if (beat.reason !== "exec-event" && !isActiveHour(settings, config.agents?.defaults?.userTimezone, now)) return "quiet-hours";
  if (facts.isBusy) return "requests-in-flight";
  if (timed && pending.length === 0) {
    if (file.state === "empty") return "empty-heartbeat-file";
    if (file.state === "missing") return "no-heartbeat-file";
    if (facts.isUnchanged) return "unchanged";
  }
  // Another turn has taken what it was to report.
  if (!timed && pending.length === 0) return "nothing-pending";
  const target = targetOf(beat, facts.entry, config);
  const { channel = "webchat", accountId = "default" } = target === "none" ? {} : (target ?? {});
  const { showOk, showAlerts, useIndicator } = heartbeatVisibility(config, channel, accountId);
  return showOk || showAlerts || useIndicator ? undefined : "alerts-disabled";
}

const EXEC_PROMPT = "A command that you started in the background has ended; the system line above has its result. Tell the user the outcome.";
const CRON_PROMPT = "A reminder is due; it is in the system line above. Relay it to the user in a helpful way.";
const WAKE_PROMPT =
  "The system line above has just arrived. Act on it, and tell the user if there is something to report. If nothing needs to be done or said, answer HEARTBEAT_OK.";

/** What the agent is asked: about what waits, and, at its regular times, about what the file says. */
function messageOf(beat: Beat, { pending, file }: BeatFacts, { prompt }: HeartbeatSettings): string {
  const about = pending.includes("exec") ? EXEC_PROMPT : pending.includes("cron") ? CRON_PROMPT : pending.length > 0 ? WAKE_PROMPT : undefined;
  if (about === undefined) return prompt;
  return isTimed(beat) && file.state === "filled" ? `${about}\n\n${prompt}` : about;
}

/** The tools of a beat outside the main session: enough to look after what HEARTBEAT.md names, few enough to cost little. */
const ISOLATED_TOOLS = ["read", "exec"];
/** The key of the session that such beats run in. */
export const isolatedKey = (agentId: string): string => `agent:${agentId}:heartbeat`;

/** The run of a beat. `cause` makes its id: the same cause is the same run. */
export function requestOf(beat: Beat, cause: string, facts: BeatFacts): RunRequest {
  const { config, entry, now } = facts;
  const { agentId, sessionKey } = beat;
  const settings = heartbeatSettings(config, agentId);
  const target = targetOf(beat, entry, config);
  const reply = target === "none" ? undefined : target;
  const isIsolated = settings.isolated === true && isTimed(beat);
  const hasNews = facts.pending.length > 0 || facts.isEdited;
  const heartbeat = {
    ...(hasNews ? { hasNews: true as const } : {}),
    ...(facts.pending.includes("exec") || facts.pending.includes("cron") ? { isRelay: true as const } : {}),
    ...(target === "none" ? { isSilent: true as const } : {}),
    ...(isIsolated ? { main: sessionKey } : {}),
  };
  return {
    runId: `heartbeat:${agentId}:${cause}`,
    kind: "heartbeat",
    sessionKey: isIsolated ? isolatedKey(agentId) : sessionKey,
    message: `${messageOf(beat, facts, settings)}\n${timeLine(now, config)}`,
    channel: reply?.channel ?? "webchat",
    heartbeat,
    ...(isIsolated ? { eventsOf: sessionKey, tools: ISOLATED_TOOLS } : {}),
    ...(settings.model === undefined ? {} : { model: settings.model }),
    ...(reply ? { reply } : {}),
  };
}

const INDICATORS = { sent: "alert", "ok-empty": "ok", "ok-token": "ok", skipped: undefined, failed: "error" } as const;

/** How a beat went whose process died before it was reported: by the text of its turn. */
function resultOf(outcome: RunOutcome | undefined): HeartbeatResult {
  if (outcome?.status !== "ok")
    return { status: "failed", reason: outcome?.status === "error" ? outcome.error : (outcome?.status ?? "the run has no outcome") };
  const text = outcome.text.trim();
  if (text === "" || outcome.silent === true) return { status: "ok-empty" };
  return text.includes("HEARTBEAT_OK") ? { status: "ok-token" } : { status: "sent", preview: clip(text, 200) };
}

/** What is reported of a beat that ran. */
export function eventOf(
  outcome: RunOutcome | undefined,
  request: RunRequest,
  config: OpenClawConfig,
  times: { readonly ts: number; readonly durationMs: number },
): HeartbeatEvent {
  const result = outcome?.heartbeat ?? resultOf(outcome);
  const { status, reason, preview, hasMedia, isShown } = result;
  const { channel, reply } = request;
  const indicatorType = heartbeatVisibility(config, channel, reply?.accountId ?? "default").useIndicator ? INDICATORS[status] : undefined;
  return {
    ...times,
    status,
    channel,
    ...(reply ? { to: reply.to, accountId: reply.accountId } : {}),
    ...(reason === undefined ? {} : { reason: clip(reason, 200) }),
    ...(preview === undefined ? {} : { preview }),
    ...(hasMedia === undefined ? {} : { hasMedia }),
    ...(status.startsWith("ok") && isShown !== true ? { silent: true } : {}),
    ...(indicatorType === undefined ? {} : { indicatorType }),
  };
}
