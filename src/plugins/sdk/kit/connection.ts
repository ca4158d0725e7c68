/** An account from its start to its end: connections that follow each other, each attempt in a row a little later. */
import type { ChannelAccountSnapshot, ChannelDirection, ChannelGatewayContext, ChannelInbound, ChannelInboundEvent } from "../../../protocol/index.ts";
import { asChannelError, hopeless, messageOf } from "./failure.ts";
import { createIntake, type Intake, type KitLog, silentLog } from "./intake.ts";
import { type Backoff, createBackoff, type Waiting } from "./waiting.ts";
import { whenAborted } from "../../../base/when-aborted.ts";

export interface AccountRun {
  readonly accountId: string;
  readonly signal: AbortSignal;
  readonly log: KitLog;
  readonly waiting: Waiting;
  readonly inbound: ChannelInbound;
  /** Hands events to the host, and reports that one came. */
  readonly intake: Intake;
  setStatus(next: Omit<ChannelAccountSnapshot, "accountId">): void;
  /** The connection stands. Resets the count of attempts once it has lasted. */
  up(more?: Omit<ChannelAccountSnapshot, "accountId">): void;
  /** Something was heard from the platform. Reported every five seconds at most. */
  alive(): void;
  /** Resolves when the account is to stop: for connections that need nothing but to be open. */
  stopped(): Promise<void>;
}

export interface AccountRunOptions {
  readonly waiting: Waiting;
  readonly backoff?: Backoff | undefined;
  /** Reading may go on (true) or should pause (false). */
  readonly flow?: ((isOpen: boolean) => void) | undefined;
  /** An event that the host calls wrong was left out. */
  skipped?(event: ChannelInboundEvent, why: string): void;
  /** The host turned an event away: for platforms that have a way to say so to its sender alone. */
  refused?(event: ChannelInboundEvent): void;
  /** A connection that lasts this long was a good one: the count of attempts starts over. Default 30 s. */
  readonly goodMs?: number | undefined;
  /** Whether an error ends the account. Default: one with `permanent`. */
  ends?(error: unknown): boolean;
  /** What status says of an error, where that is more than its text: another program that receives, and what to do. */
  receiving?(error: unknown): ChannelDirection | undefined;
  /** With the first report. */
  readonly status?: Omit<ChannelAccountSnapshot, "accountId"> | undefined;
  /**
   * Runs one connection and returns when it is over: with the error that ended it, or nothing where it only has to be made again at once,
   * which happens a few times in a row at most. It may throw as well. An error with `permanent` ends the account, others are followed by the
   * next attempt.
   */
  connect(run: AccountRun, attempt: number): Promise<unknown>;
}

const GOOD_MS = 30_000;
/** Connections that only had to be made again, in a row and without one that lasted. More than these have to wait. */
const MAX_AT_ONCE = 3;
/** `lastEventAt` moves in steps of this. */
const EVENT_STEP_MS = 5000;

function createRun<A>(ctx: ChannelGatewayContext<A>, inbound: ChannelInbound, options: AccountRunOptions, upAt: { value: number | undefined }): AccountRun {
  const { accountId, abortSignal: signal } = ctx;
  const { waiting } = options;
  const log = ctx.log ?? silentLog;
  let reportedAt = 0;
  const setStatus: AccountRun["setStatus"] = (next) => ctx.setStatus({ accountId, ...next });
  return {
    accountId,
    signal,
    log,
    waiting,
    inbound,
    setStatus,
    intake: createIntake({
      inbound,
      waiting,
      signal,
      log,
      backoff: options.backoff,
      flow: options.flow,
      skipped: (event, why) => options.skipped?.(event, why),
      refused: (event) => options.refused?.(event),
      taken: () => setStatus({ lastInboundAt: waiting.now(), lastMessageAt: waiting.now() }),
    }),
    up(more = {}) {
      upAt.value = waiting.now();
      reportedAt = upAt.value;
      setStatus({
        connected: true,
        receiving: undefined,
        reconnectAttempts: 0,
        lastConnectedAt: upAt.value,
        lastEventAt: upAt.value,
        lastError: null,
        ...more,
      });
    },
    alive() {
      const now = waiting.now();
      if (now - reportedAt < EVENT_STEP_MS) return;
      reportedAt = now;
      setStatus({ lastEventAt: now });
    },
    stopped: () => whenAborted(signal),
  };
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function keepConnected<A>(ctx: ChannelGatewayContext<A>, options: AccountRunOptions): Promise<void> {
  if (!ctx.inbound) throw hopeless("this version of OpenClaw does not accept messages from channels; update it");
  const { waiting, goodMs = GOOD_MS } = options;
  const backoff = options.backoff ?? createBackoff();
  const ends = options.ends ?? ((error: unknown): boolean => asChannelError(error)?.permanent === true);
  const upAt: { value: number | undefined } = { value: undefined };
  const run = createRun(ctx, ctx.inbound, options, upAt);
  const { signal, log, setStatus } = run;
  setStatus({ running: true, connected: false, lastStartAt: waiting.now(), lastError: null, ...options.status });
  try {
    for (let attempt = 1, atOnce = 0; !signal.aborted;) {
      upAt.value = undefined;
      const error = await options.connect(run, attempt).catch((thrown: unknown) => thrown ?? new Error("the connection ended"));
      if (signal.aborted) break;
      const lasted = upAt.value !== undefined && waiting.now() - upAt.value >= goodMs;
      atOnce = lasted || error !== undefined ? 0 : atOnce + 1;
      if (error === undefined && atOnce <= MAX_AT_ONCE) {
        setStatus({ connected: false });
        attempt = 1;
        continue;
      }
      const failure = asChannelError(error);
      const text = error === undefined ? "the connection keeps ending" : messageOf(error);
      setStatus({
        connected: false,
        receiving: options.receiving?.(error) ?? { state: "error", text },
        lastError: text,
        lastDisconnect: { at: waiting.now(), status: failure?.status, error: text },
      });
      if (error !== undefined && ends(error)) throw error;
      attempt = lasted ? 1 : attempt;
      const ms = Math.max(backoff(attempt, waiting.random()), failure?.delivery.retryAfterMs ?? 0);
      setStatus({ reconnectAttempts: attempt });
      log.warn(`${text}; the next attempt is in ${ms} ms`);
      attempt += 1;
      await waiting.sleep(ms, signal);
    }
  } finally {
    await run.intake.idle();
    setStatus({ running: false, connected: false, lastStopAt: waiting.now() });
  }
}
