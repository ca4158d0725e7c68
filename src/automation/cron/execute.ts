/** Asks the agent for one run of a job, and waits for its end. */
import { type AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { acceptedRequest, type RunRequest } from "../../conversation/index.ts";
import type { Write } from "../../store/index.ts";
import { retryWhileFull } from "../retry-while-full.ts";
import type { CronDeps } from "./cron.ts";
import type { CronJob } from "./job.ts";
import { costOf, isolatedSession, isQuiet, latenessOf, recordOf, reminderLine, requestOf, runIdOf, sessionOf, type RunRecord } from "./run.ts";

/** One time of one job. */
export interface Slot {
  readonly jobId: string;
  readonly scheduledAt: number;
  /** The previous process claimed it: its run may have been accepted. */
  readonly isResumed?: boolean;
}

const QUIET = "outside the active hours of the agent's heartbeat: the reminder waits for the next heartbeat or the session's next turn";

/** How a run ended, and what is committed with its end. */
export interface Executed {
  readonly record: RunRecord;
  /** What the agent answered, in full. */
  readonly answer?: string;
  readonly with?: readonly Write[];
}

interface ExecutePorts {
  readonly isClosed: () => boolean;
  /** The run waits for this; undefined when it does not any more. */
  readonly waits: (why: string | undefined) => void;
}

/** Has a run accepted, as soon as the inbox has space for it. */
async function accepted(deps: CronDeps, job: CronJob, asked: RunRequest, { isClosed, waits }: ExecutePorts): ReturnType<CronDeps["runs"]["accept"]> {
  const { clock, log, runs } = deps;
  const refused = ({ message }: AppError): void => {
    waits(message);
    log.warn(`a run of the cron job "${job.name}" waits and is tried again every second: ${message}`, { jobId: job.id, runId: asked.runId });
  };
  try {
    return await retryWhileFull({ clock, isClosed, waits: refused }, () => runs.accept(asked));
  } finally {
    waits(undefined);
  }
}

/** Asks the agent. `left`: the gateway stops, and the run continues after the restart. */
export async function execute(deps: CronDeps, job: CronJob, { scheduledAt, isResumed = false }: Slot, ports: ExecutePorts): Promise<Executed | "left"> {
  const { config, store, clock, runs } = deps;
  const { isClosed } = ports;
  let late = latenessOf(scheduledAt, clock.now());
  const isEvent = job.payload.kind === "systemEvent";
  const sessionKey = isEvent ? sessionOf(job, config.current) : isolatedSession(job, config.current);
  try {
    const waits = job.wakeMode === "next-heartbeat";
    if (job.payload.kind === "systemEvent" && (waits || (!isResumed && isQuiet(job, config.current, clock.now())))) {
      const { text } = job.payload;
      const line = reminderLine(text, scheduledAt, clock.now(), config.current);
      const reminder = deps.note({ sessionKey, text: line, idempotencyKey: runIdOf(job.id, scheduledAt), wake: { source: "cron", now: false } });
      const about = { summary: text, sessionKey, ...late };
      return { record: waits ? { status: "ok", ...about } : { status: "skipped", error: QUIET, ...about }, with: [reminder] };
    }
    const runId = runIdOf(job.id, scheduledAt);
    let outcome = isResumed ? await runs.outcome(runId) : undefined;
    const before = outcome && (await acceptedRequest(store, runId));
    let request: Pick<RunRequest, "reply"> | undefined = before;
    if (before) late = latenessOf(scheduledAt, before.acceptedAt);
    if (!outcome) {
      const asked = await requestOf(job, scheduledAt, clock.now(), config.current, store);
      const { ended } = await accepted(deps, job, asked, ports);
      failpoint("cron.accepted");
      outcome = ended ?? (await runs.outcome(runId));
      request = asked;
    }
    const isLeft = outcome === undefined ? isClosed() : outcome.status === "error" && outcome.failure?.kind === "restarting";
    if (isLeft) return "left";
    failpoint("cron.ended");
    const about = { hasReply: request?.reply !== undefined, costUsd: await costOf(store, sessionKey, job.id, scheduledAt) };
    const record = { ...recordOf(outcome, sessionKey, about), ...late };
    return { record, ...(outcome?.status === "ok" && record.summary !== undefined ? { answer: outcome.text.trim() } : {}) };
  } catch (error) {
    return isClosed() ? "left" : { record: { status: "error", error: messageOf(error), sessionKey, ...late } };
  }
}
