/**
 * Runs that webhooks start. A run enters the inbox under an id made of its request; a row under that id stays open until the main session has been
 * notified about how the run ended. The next process continues with the rows that are open: what was accepted is reported, once.
 */
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { Config } from "../../config/index.ts";
import type { Responder, RunRequest } from "../../conversation/index.ts";
import type { Store } from "../../store/index.ts";
import { withoutMarkers, type MarkUntrusted } from "../../tools/index.ts";
import { recordOf, SUMMARY_NOTE, targetOf } from "../cron/run.ts";
import { timeLine } from "../time-line.ts";
import { retryWhileFull } from "../retry-while-full.ts";
import type { AgentAction, WakeAction, WakeMode } from "./action.ts";

export interface HookRunsDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly runs: Pick<Responder, "accept" | "outcome">;
  /** Queues a line for the next turn of the main session. */
  readonly notify: (event: {
    readonly text: string;
    readonly idempotencyKey?: string;
    /** The session acts on it: now, or with the next heartbeat. */
    readonly wake?: WakeMode;
    readonly reason?: string;
  }) => Promise<unknown>;
}

/** The id that the work of a request gets. */
export interface Incoming {
  readonly id: string;
  /** Of the request: another one under the same id is refused. */
  readonly hash: string;
  /** The id is made of the sender's key: a repeat has it too. */
  readonly isKeyed: boolean;
}

export type Started = "accepted" | "repeated" | "mismatch";

export interface HookRuns {
  /** Resolves when the run is on disk. */
  start(action: AgentAction, incoming: Incoming): Promise<Started>;
  /** Resolves when the line for the main session is on disk. */
  wake(action: WakeAction, incoming: Incoming): Promise<Started>;
  /** Continues with what the previous process accepted. Called before any request. */
  resume(): Promise<void>;
  /** Reports nothing any more; the next process does. */
  close(): void;
}

/** Rows of runs whose end is not reported yet. */
export const HOOK_RUNS = "webhook";
const DEFAULT_TIMEOUT_S = 600;
/** Runs that may wait for their end; more are refused. */
const MOST_OPEN = 500;

/** What reporting the end of a run needs. */
interface About {
  readonly name: string;
  readonly wakeMode: WakeMode;
  /** The run itself sends its answer to a chat. */
  readonly isSent: boolean;
}

function aboutOf(value: unknown): About {
  const { name, wakeMode, isSent } = isRecord(value) ? value : {};
  return { name: typeof name === "string" ? name : "Hook", wakeMode: wakeMode === "next-heartbeat" ? wakeMode : "now", isSent: isSent === true };
}

/** What the agent is asked. */
async function requestOf({ clock, config, store }: HookRunsDeps, mark: MarkUntrusted, action: AgentAction, id: string): Promise<RunRequest> {
  const {
    name,
    message,
    agentId,
    sessionKey,
    deliver,
    channel,
    to,
    isMarked,
    isMail,
    model,
    isModelRequired,
    thinking,
    timeoutSeconds = DEFAULT_TIMEOUT_S,
  } = action;
  const now = clock.now();
  const delivery = { mode: deliver ? "announce" : "none", channel, ...(to === undefined ? {} : { to }) } as const;
  const reply = await targetOf({ agentId, delivery }, config.current, store).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("INVALID_INPUT", `to required: there is no last chat on ${channel} to send the answer to; set to, or set deliver to false`);
  });
  const task = isMarked
    ? `Task: ${name} | Job ID: ${id} | Received: ${new Date(now).toISOString()}\n\n${mark(message, { source: isMail ? "email" : "webhook", notice: true })}\n`
    : `[hook:${id} ${name}] ${message}`;
  return {
    runId: id,
    kind: "webhook",
    sessionKey,
    message: `${task}\n${timeLine(now, config.current)}${reply ? `\n\n${SUMMARY_NOTE}` : ""}`,
    channel: reply?.channel ?? "webchat",
    timeoutMs: timeoutSeconds * 1000,
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
    ...(isModelRequired === true ? { modelRequired: true } : {}),
    ...(reply ? { reply } : {}),
  };
}

/** Waits for the end of a run and reports it to the main session. */
async function report(
  { runs, notify, store, clock, log }: HookRunsDeps,
  id: string,
  { name, wakeMode, isSent }: About,
  isClosed: () => boolean,
): Promise<void> {
  const outcome = await runs.outcome(id);
  const isLeft = outcome === undefined ? isClosed() : outcome.status === "error" && outcome.failure?.kind === "restarting";
  if (isLeft) return;
  failpoint("webhook.ended");
  const { status, summary, ...record } = recordOf(outcome, "");
  const error = outcome?.status === "aborted" && outcome.abortedBy === "timeout" ? "the run timed out" : record.error;
  const isSilent = outcome?.status === "ok" && outcome.silent === true;
  if (!isSilent) {
    const said = (status === "ok" ? summary : (error ?? summary)) ?? status;
    const text = `Hook ${name}${status === "ok" ? "" : ` (${status})`}: ${withoutMarkers(said)}`;
    // What the user was sent is only for the record.
    const line = { text, idempotencyKey: `${id}:summary`, ...(isSent ? {} : { wake: wakeMode, reason: `hook:${id}` }) };
    const waits = (): void => log.warn(`the report of the webhook run "${name}" is waiting: the main session has too many unread lines`, { runId: id });
    await retryWhileFull({ clock, isClosed, waits }, () => notify(line));
    failpoint("webhook.reported");
  }
  await store.write("idempotency.complete", { scope: HOOK_RUNS, key: id, result: { status } });
  failpoint("webhook.finished");
}

/** Queues the line of a request. Under the sender's key it counts once: the row says so for longer than the line is stored. */
async function queueLine({ notify, store }: HookRunsDeps, mark: MarkUntrusted, action: WakeAction, { id, hash, isKeyed }: Incoming): Promise<Started> {
  const text = action.isForeign === true ? mark(action.text, { source: "webhook" }) : action.text;
  const line = { text, wake: action.mode, reason: "hook:wake" };
  if (!isKeyed) {
    await notify(line);
    return "accepted";
  }
  const row = { scope: HOOK_RUNS, key: id };
  const begun = await store.write("idempotency.begin", { ...row, payloadHash: hash });
  if (begun.status === "mismatch") return "mismatch";
  if (begun.status === "replay") return "repeated";
  failpoint("webhook.wake.begun");
  try {
    await notify({ ...line, idempotencyKey: id });
  } catch (error) {
    await store.write("idempotency.abandon", row);
    throw error;
  }
  failpoint("webhook.wake.queued");
  await store.write("idempotency.complete", { ...row, result: { status: "ok" } });
  return "accepted";
}

export function createHookRuns(deps: HookRunsDeps, mark: MarkUntrusted): HookRuns {
  const { store, log, runs } = deps;
  /** Requests that are being accepted, by id. */
  const accepting = new Map<string, Promise<Started>>();
  /** Runs that were accepted and have no end yet. */
  const open = new Set<string>();
  let isClosed = false;

  function follow(id: string, about: About): void {
    open.add(id);
    report(deps, id, about, () => isClosed)
      .catch((error: unknown) => {
        if (isClosed) return;
        log.error(`the end of the webhook run "${about.name}" could not be reported; it will be reported after the next start: ${messageOf(error)}`, {
          runId: id,
        });
      })
      .finally(() => open.delete(id));
  }

  function checkCapacity(): void {
    const waiting = open.size + accepting.size - 1;
    if (waiting >= MOST_OPEN)
      throw new AppError("OVERLOADED", `${waiting} webhook runs are waiting; the request was not accepted, send it again when some have ended`);
  }

  const isAccepted = async (id: string): Promise<boolean> => (await store.read("inbox.find", { messageId: id, channel: "gateway" })).length > 0;

  async function accept(action: AgentAction, { id, hash, isKeyed }: Incoming): Promise<Started> {
    if (!isKeyed) checkCapacity();
    const request = await requestOf(deps, mark, action, id);
    const { name, wakeMode } = action;
    const about: About = { name, wakeMode, isSent: request.reply !== undefined };
    const begun = await store.write("idempotency.begin", { scope: HOOK_RUNS, key: id, payloadHash: hash, about });
    if (begun.status === "mismatch") return "mismatch";
    if (begun.status === "replay" || (begun.status === "running" && (await isAccepted(id)))) return "repeated";
    failpoint("webhook.begun");
    try {
      checkCapacity();
      await runs.accept(request);
    } catch (error) {
      await store.write("idempotency.abandon", { scope: HOOK_RUNS, key: id });
      throw error;
    }
    failpoint("webhook.accepted");
    follow(id, about);
    return "accepted";
  }

  /** A twin that arrives while the first is being written waits for it. */
  async function oneByOne(id: string, work: () => Promise<Started>): Promise<Started> {
    for (let first = accepting.get(id); first; first = accepting.get(id)) await first.catch(() => undefined);
    const accepted = work().finally(() => accepting.delete(id));
    accepting.set(id, accepted);
    return accepted;
  }

  return {
    start: (action, incoming) => oneByOne(incoming.id, () => accept(action, incoming)),
    wake: (action, incoming) => oneByOne(incoming.id, () => queueLine(deps, mark, action, incoming)),
    async resume() {
      const open = await store.read("idempotency.running", { scope: HOOK_RUNS });
      if (open.length > 0) log.info(`${open.length} webhook runs resumed from the previous process`);
      for (const { key, about } of open) {
        if (await isAccepted(key)) follow(key, aboutOf(about));
        // Its sender got no answer, and sends it again.
        else await store.write("idempotency.abandon", { scope: HOOK_RUNS, key });
      }
    },
    close() {
      isClosed = true;
    },
  };
}
