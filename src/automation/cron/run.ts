/** One run of a job: what the agent is asked, where its answer goes, and how it ended. */
import { THINKING_LEVELS } from "../../base/thinking.ts";
import { AppError } from "../../base/errors.ts";
import { clip, formatDuration } from "../../base/text.ts";
import { defaultAgentId, heartbeatSettings, isActiveHour, type OpenClawConfig } from "../../config/index.ts";
import type { ReplyAddress, RunOutcome, RunRequest } from "../../conversation/index.ts";
import { resolveSessionKey } from "../../protocol/index.ts";
import { deliveryOf } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import { timeLine, timeText } from "../time-line.ts";
import { MESSAGE } from "../../tools/index.ts";
import type { CronJob } from "./job.ts";

/** What a finished run of a job is recorded with, besides its times. */
export interface RunRecord {
  readonly status: "ok" | "error" | "skipped";
  readonly error?: string;
  readonly summary?: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Of all calls of models. Absent when none was made. */
  readonly costUsd?: number;
  /** The answer was handed to a channel. */
  readonly delivered?: boolean;
  /** It began so much later than it was due, more than a minute. */
  readonly lateMs?: number;
}

const DEFAULT_TIMEOUT_S = 600;
const MAX_SUMMARY = 2000;

/** The id of the run for one time of a job. It is the same after a restart, so that the run is accepted once. */
export const runIdOf = (jobId: string, scheduledAt: number): string => `cron:${jobId}:${scheduledAt}`;

/** The agent that a job is for; one that is not configured any more is the default one. */
export function agentOf({ agentId }: Pick<CronJob, "agentId">, config: OpenClawConfig): string {
  const named = agentId?.trim().toLowerCase();
  const isKnown = named !== undefined && (config.agents?.list ?? []).some(({ id }) => id.toLowerCase() === named);
  return isKnown ? named : defaultAgentId(config);
}

/** Whether the agent is left alone at this hour. */
export function isQuiet(job: CronJob, config: OpenClawConfig, now: number): boolean {
  return !isActiveHour(heartbeatSettings(config, agentOf(job, config)), config.agents?.defaults?.userTimezone, now);
}

/** The session whose events and last chat a job uses. */
export function sessionOf(job: Pick<CronJob, "agentId" | "sessionKey">, config: OpenClawConfig): string {
  const agentId = agentOf(job, config);
  const naming = { defaultAgentId: agentId, mainKey: "main", scope: config.session?.scope ?? "per-sender" } as const;
  const written = job.sessionKey === undefined ? undefined : resolveSessionKey(job.sessionKey, naming, [agentId]);
  if (written?.key !== undefined) return written.key;
  return naming.scope === "global" ? "global" : `agent:${agentId}:main`;
}

/** The clients of the gateway: what is sent there is a message in a session. */
export const WEBCHAT = "webchat";

/** The session that the answer of an isolated job is shown in; undefined when it goes to a chat, or nowhere. */
export function shownIn(job: CronJob, config: OpenClawConfig): string | undefined {
  const { mode, channel } = job.delivery ?? {};
  return job.payload.kind === "agentTurn" && mode === "announce" && channel?.trim().toLowerCase() === WEBCHAT ? sessionOf(job, config) : undefined;
}

/** The session of an isolated job. */
export const isolatedSession = (job: CronJob, config: OpenClawConfig): string => `agent:${agentOf(job, config)}:cron:${job.id}`;

/** The chat that the answer of a job is sent to; undefined when it is sent to none. Throws when there should be one and it is not known. */
export async function targetOf(
  job: Pick<CronJob, "agentId" | "sessionKey" | "delivery">,
  config: OpenClawConfig,
  store: Pick<Store, "read">,
): Promise<ReplyAddress | undefined> {
  const { mode = "none", channel: asked = "last", to, bestEffort = false } = job.delivery ?? {};
  if (mode !== "announce") return undefined;
  const last = deliveryOf((await store.read("sessions.get", { key: sessionOf(job, config) }))?.entry);
  const configured = Object.keys(config.channels ?? {}).filter((id) => id !== "defaults");
  const named = asked.trim().toLowerCase();
  const channel = named !== "last" && named !== "" ? named : (last?.channel ?? (configured.length === 1 ? configured[0] : undefined));
  const isLast = channel !== undefined && channel === last?.channel;
  const target = to?.trim() || (isLast ? last.to : undefined);
  if (channel === undefined || channel === "webchat" || !target || !configured.includes(channel)) {
    // Without a channel there is nothing to send over: the answer is in the job's session, and its summary goes to the main one.
    if (bestEffort || (named === "last" && !to?.trim() && (channel === undefined || channel === "webchat"))) return undefined;
    if (channel !== undefined && target && channel !== "webchat")
      throw new AppError("INVALID_INPUT", `the channel ${JSON.stringify(channel)} of the job's delivery is not configured (channels.${channel})`);
    throw new AppError("INVALID_INPUT", "cron delivery target is missing: set delivery.channel and delivery.to, or write in that chat first");
  }
  const accountId = job.delivery?.accountId ?? (isLast ? last.accountId : undefined) ?? "default";
  const threadId = job.delivery?.threadId ?? (isLast && target === last.to ? last.threadId : undefined);
  return { channel, accountId, to: target, chatType: "direct", ...(threadId === undefined ? {} : { threadId }) };
}

export const SUMMARY_NOTE =
  "Your final answer is delivered to the user unchanged: write it as plain text for them, and do not send it with a tool. Answer NO_REPLY if there is nothing to report.";
const REMINDER_NOTE = "Relay it to the user in a helpful way, and do not mention how it was scheduled.";

/** A run that begins later than this is late. */
const LATE_MS = 60_000;

/** By how much a run is late that begins now; undefined when it is on time. */
export const latenessOf = (scheduledAt: number, now: number): { readonly lateMs?: number } =>
  now - scheduledAt > LATE_MS ? { lateMs: now - scheduledAt } : {};

/** What is said about a run that begins late, so that it is not taken for one that is due now. */
function lateLine(scheduledAt: number, now: number, config: OpenClawConfig): string | undefined {
  const { lateMs } = latenessOf(scheduledAt, now);
  return lateMs === undefined ? undefined : `This is ${formatDuration(lateMs)} late. It was due on ${timeText(scheduledAt, config)}.`;
}

/** The text of a reminder that waits for the session's next turn. */
export function reminderLine(text: string, scheduledAt: number, now: number, config: OpenClawConfig): string {
  const late = lateLine(scheduledAt, now, config);
  return late === undefined ? text : `${text}\n${late}`;
}

/** What the agent is asked. Throws when the job cannot be run as it is. */
export async function requestOf(job: CronJob, scheduledAt: number, now: number, config: OpenClawConfig, store: Pick<Store, "read">): Promise<RunRequest> {
  const runId = runIdOf(job.id, scheduledAt);
  const { payload } = job;
  if (payload.kind === "systemEvent") {
    const sessionKey = sessionOf(job, config);
    const { mode, channel: asked, to: recipient, ...exact } = job.delivery ?? {};
    const isNamed = mode === "none" && asked !== undefined && (recipient !== undefined || asked === WEBCHAT);
    const chat = isNamed ? { channel: asked, to: recipient, ...exact } : undefined;
    const last = chat ?? deliveryOf((await store.read("sessions.get", { key: sessionKey }))?.entry);
    const { channel = WEBCHAT, to, accountId = "default", threadId } = last ?? {};
    const isChat = channel !== WEBCHAT && to !== undefined && config.channels?.[channel] !== undefined;
    const reply: ReplyAddress | undefined = isChat
      ? { channel, accountId, to, chatType: "direct", ...(threadId === undefined ? {} : { threadId }) }
      : undefined;
    const { lateMs } = latenessOf(scheduledAt, now);
    const due = lateMs === undefined ? "is due" : `was due ${formatDuration(lateMs)} ago`;
    const note = lateMs === undefined ? REMINDER_NOTE : `${REMINDER_NOTE} Say that it is late and when it was due.`;
    const message = `A scheduled reminder ${due}:\n\n${reminderLine(payload.text, scheduledAt, now, config)}\n\n${note}\n${timeLine(now, config)}`;
    return { runId, kind: "cron", jobId: job.id, sessionKey, message, channel, ...(reply ? { reply } : {}) };
  }
  const isShown = shownIn(job, config) !== undefined;
  const reply = isShown ? undefined : await targetOf(job, config, store);
  const seconds = payload.timeoutSeconds ?? DEFAULT_TIMEOUT_S;
  const late = lateLine(scheduledAt, now, config);
  const thinking = THINKING_LEVELS.find((level) => level === payload.thinking?.trim().toLowerCase());
  if (payload.thinking !== undefined && thinking === undefined)
    throw new AppError("INVALID_INPUT", `payload.thinking must be one of ${THINKING_LEVELS.join(", ")}`);
  return {
    runId,
    kind: "cron",
    jobId: job.id,
    sessionKey: isolatedSession(job, config),
    message: `[cron:${job.id} ${job.name}] ${payload.message}\n${late === undefined ? "" : `${late}\n`}${timeLine(now, config)}${reply || isShown ? `\n\n${SUMMARY_NOTE}` : ""}`,
    channel: reply?.channel ?? WEBCHAT,
    ...(seconds === 0 ? {} : { timeoutMs: seconds * 1000 }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(payload.model?.trim() ? { model: payload.model.trim(), modelRequired: true } : {}),
    // The answer is sent by the turn itself, or with the end of its slot: with the tool it could be sent twice.
    ...(reply || isShown ? { withoutTools: [MESSAGE.name] } : {}),
    ...(reply ? { reply } : {}),
  };
}

/** The clock may have been set while a run was under way. */
const CLOCK_SLACK_MS = 86_400_000;

/** What the calls of models in a run cost; undefined when there were none. */
export async function costOf(store: Pick<Store, "read">, sessionKey: string, jobId: string, scheduledAt: number): Promise<number | undefined> {
  const calls = await store.read("usage.ofTurn", { sessionKey, turnId: runIdOf(jobId, scheduledAt), since: Math.max(0, scheduledAt - CLOCK_SLACK_MS) });
  return calls.length === 0 ? undefined : calls.reduce((sum, { cost }) => sum + cost, 0);
}

/** How the run is recorded. */
export function recordOf(
  outcome: RunOutcome | undefined,
  sessionKey: string,
  { hasReply = false, costUsd }: { readonly hasReply?: boolean; readonly costUsd?: number | undefined } = {},
): RunRecord {
  if (!outcome) return { status: "error", error: "the run has no outcome", sessionKey };
  const cost = costUsd === undefined ? {} : { costUsd };
  if (outcome.status === "error") return { status: "error", error: outcome.error, sessionKey, ...cost };
  const { text, sessionId, provider, model, usage, silent } = outcome;
  const tokens = usage && { usage: { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.total } };
  const about = { sessionId, sessionKey, ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }), ...tokens, ...cost };
  const isEmpty = silent === true || text.trim() === "";
  const summary = isEmpty ? {} : { summary: clip(text.trim(), MAX_SUMMARY) };
  if (outcome.status === "ok") return { status: "ok", ...summary, ...about, ...(hasReply ? { delivered: !isEmpty } : {}) };
  const error = outcome.abortedBy === "timeout" ? "cron: job execution timed out" : `the run was stopped (${outcome.abortedBy ?? "aborted"})`;
  return { status: "error", error, ...summary, ...about };
}
