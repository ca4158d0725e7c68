/** What one row's turn comes to: sent, given up, or to be tried again. */
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { valueAt } from "../../config/index.ts";
import type { ChannelOutboundAdapter, HostConfig } from "../../protocol/index.ts";
import type { OutboxMark, OutboxRow } from "../../store/index.ts";
import { createAttempt, editsPreview, type Receipt, type LiveTargets, markedAsLate, markedAsRepeat, isRowPayload, type RowPayload } from "./attempt.ts";
import type { DeliveryDeps, DeliveryLimits } from "./delivery.ts";
import { notifySentRow } from "./message-hooks.ts";
import { EARLIER_FAILURE, repeatPauseMs, type Recovery, type KnownFailure } from "./recovery.ts";
import { MAY_HAVE_ARRIVED, WAITS_FOR_ACCOUNT, waitsForAccount } from "./row-facts.ts";
import type { FailedAttempt } from "../send-failure.ts";

interface RetryPolicy {
  readonly attempts: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly jitter: number;
}

/** The account's setting, the channel's, what the channel's code says, the default. */
export function retryPolicy(cfg: HostConfig, channel: string, accountId: string, outbound: Pick<ChannelOutboundAdapter, "retry"> | undefined): RetryPolicy {
  const own = cfg.channels?.[channel];
  const levels = [valueAt(own, ["accounts", accountId, "retry"]), valueAt(own, ["retry"]), outbound?.retry];
  const pick = (name: keyof RetryPolicy, least: number, fallback: number): number => {
    const values = levels.map((level) => valueAt(level, [name]));
    return values.find((value): value is number => typeof value === "number" && Number.isFinite(value) && value >= least) ?? fallback;
  };
  const minDelayMs = pick("minDelayMs", 0, 300);
  return {
    attempts: Math.floor(pick("attempts", 1, 3)),
    minDelayMs,
    maxDelayMs: Math.max(minDelayMs, pick("maxDelayMs", 0, 30_000)),
    jitter: Math.min(1, pick("jitter", 0, 0.1)),
  };
}

/** Milliseconds before the attempt that follows the `made`th: doubled each time, spread by the jitter. */
function retryDelay(policy: RetryPolicy, made: number, random: number): number {
  const plain = Math.min(policy.maxDelayMs, policy.minDelayMs * 2 ** Math.min(Math.max(made - 1, 0), 30));
  return Math.round(Math.max(0, plain * (1 + policy.jitter * (random * 2 - 1))));
}

const FULL_MS = 1000;
/** Stands in `why` from then on: a process after this one knows that an attempt was no edit. */
const SENT_AS_NEW = "it is sent as a new message";
const UNREADABLE = "the content of this delivery cannot be read: expected an object with a text";

/** Writes marks, waiting for a disk that is full: what has happened must not be forgotten while the process lives. */
function createMark({ store, clock, log }: Pick<DeliveryDeps, "store" | "clock" | "log">, stopping: AbortSignal) {
  async function pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = (): void => resolve();
    using _timer = clock.after(FULL_MS, resolve);
    stopping.addEventListener("abort", stop, { once: true });
    await promise;
    stopping.removeEventListener("abort", stop);
  }
  return async function mark(input: OutboxMark): Promise<{ readonly attempts: number; readonly repeats: number }> {
    for (;;) {
      try {
        return await store.write("outbox.mark", input);
      } catch (error) {
        if (!(error instanceof AppError && error.code === "DISK_FULL") || stopping.aborted) throw error;
        log.error(`delivery ${input.id} cannot be marked ${input.state}: ${error.message}`);
        await pause();
      }
    }
  };
}

/** A row that is not at its end, as the worker knows it. */
export interface OpenRow {
  row: OutboxRow;
  /** When the first attempt that may have arrived was made. */
  firstAttemptAt?: number;
  /** Attempts that ended with the platform's request to wait: they are not counted against the row. */
  asked: number;
  /** Monotonic time before which it is not tried. */
  dueAt?: number;
  /** It was put off while its account did not receive: it is tried as soon as that changes. */
  isAway?: boolean;
  /** How often its account's credential was refused: it is tried less and less often until the account is known to work. */
  refusals?: number;
  /** Its last failure. */
  failure?: KnownFailure;
  /** Monotonic time of its first failure. */
  failedSince?: number;
  /** It failed at the plugin that waited for it, and goes out over its channel: no trouble of the account is known. */
  wasLive?: boolean;
  /** Its preview cannot become the answer, so it is a message of its own. `unsure`: an edit may have worked all the same. */
  noPreview?: "refused" | "unsure";
  /** An attempt of an earlier process may have posted it: that one did not edit its preview any more. */
  mayBePosted?: boolean;
}

export type StepResult =
  /** The row is at its end. */
  | { readonly kind: "ended"; readonly row: OutboxRow }
  /** Nothing can be done before; `absent` rows are woken earlier when something changes. */
  | { readonly kind: "wait"; readonly ms: number; readonly absent?: boolean }
  /** Its time is over. */
  | { readonly kind: "expired" };

interface Standing {
  readonly outbound: ChannelOutboundAdapter;
  /** How often it is tried. Read when an attempt has failed. */
  readonly policy: () => RetryPolicy;
  /** It goes to the plugin that waits for it, not over its channel. */
  readonly isLive: boolean;
  /** It becomes the message that showed it. */
  readonly isEdit: boolean;
  /** See `RowPayload`. */
  readonly isPreviewLost: boolean;
}

interface StepParts {
  readonly stopping: AbortSignal;
  readonly recovery: Recovery;
  readonly live?: Pick<LiveTargets, "adapterFor"> | undefined;
}

/** A platform that asks again and again to wait for a moment only is asked less and less often after this many times. */
const PATIENT_ASKS = 10;
/** A row that waits for its account looks at least this often. */
const LOOK_MS = 60_000;

/** The earliest time at which an attempt may have arrived. */
const arrivedSince = ({ row, firstAttemptAt }: OpenRow): number => firstAttemptAt ?? (row.attempts <= 1 ? row.attemptedAt : null) ?? row.createdAt;

/** Whether a row that may have arrived may be sent again. `honoured`: the platform drops repeats by itself. */
function repeatable(open: OpenRow, { outbound, isEdit, isPreviewLost }: Standing, now: number): { again: boolean; honoured: boolean } {
  const since = arrivedSince(open);
  const { attempts, repeats } = open.row;
  // A preview was posted under no nonce of this row.
  const isDropped = outbound.nonceWindowMs !== undefined && attempts > 0 && now - since < outbound.nonceWindowMs && now >= since;
  const honoured = isEdit || isDropped;
  const isSpent = repeats > 0 || (isPreviewLost && attempts > 0);
  return { again: !isSpent || honoured, honoured };
}

/** Whether something else than time lets the row go on. */
const isAway = (open: OpenRow): boolean => open.isAway === true || open.row.state === "unknown" || waitsForAccount(open.row);

type Ending = { readonly id: number; readonly state: "sent"; readonly receipt: Receipt } | Extract<OutboxMark, { readonly state: "failed" }>;

/** What is written after an attempt. */
function createEndings(deps: DeliveryDeps, mark: ReturnType<typeof createMark>) {
  const { clock, log } = deps;

  async function end(open: OpenRow, input: Ending, payload: Partial<RowPayload>): Promise<StepResult> {
    await mark(input);
    const { row } = open;
    const settledAt = clock.now();
    if (input.state === "sent") {
      failpoint("send.receipt");
      const { receipt } = input;
      const { messageId } = receipt;
      notifySentRow(deps, row, payload, { success: true, ...(typeof messageId === "string" ? { messageId } : {}) });
      return { kind: "ended", row: { ...row, state: "sent", receipt, settledAt, nextAttemptAt: null } };
    }
    log.warn(`delivery ${row.id} to ${row.channel} failed: ${input.why}`, { channel: row.channel, accountId: row.account, rowId: row.id });
    notifySentRow(deps, row, payload, { success: false, error: input.why });
    return { kind: "ended", row: { ...row, state: "failed", why: input.why, settledAt, nextAttemptAt: null } };
  }

  async function later(open: OpenRow, state: "pending" | "unknown", why: string, ms: number): Promise<StepResult> {
    const pause = Math.max(0, Math.min(ms, open.row.expiresAt - clock.now()));
    const nextAttemptAt = clock.now() + pause;
    await mark({ id: open.row.id, state, why, nextAttemptAt });
    open.row = { ...open.row, state, why, nextAttemptAt };
    open.dueAt = clock.monotonic() + pause;
    return { kind: "wait", ms: pause, absent: isAway(open) };
  }

  return { end, later };
}

/** What follows an attempt that failed. */
function createAfterFailure(deps: DeliveryDeps, limits: DeliveryLimits, recovery: Recovery, { end, later }: ReturnType<typeof createEndings>) {
  const { clock } = deps;

  /** Whether the row is to blame: others of its account were sent after it had failed, and it fails all the same. */
  function isToBlame(open: OpenRow, failure: FailedAttempt, before: KnownFailure | undefined, { policy, isEdit }: Standing): boolean {
    if (failure.isUnconnected || before === undefined || open.row.attempts - open.asked < policy().attempts) return false;
    if (isEdit && clock.monotonic() - (open.failedSince ?? clock.monotonic()) < limits.editMs) return false;
    return recovery.check(open.row, before).isOver;
  }

  function afterRetry(open: OpenRow, failure: FailedAttempt, before: KnownFailure | undefined, standing: Standing, payload: RowPayload): Promise<StepResult> {
    const { row, asked } = open;
    const { why, retryAfterMs } = failure;
    const fail = (text: string): Promise<StepResult> => end(open, { id: row.id, state: "failed", why: text }, payload);
    if (retryAfterMs !== undefined) {
      const ms = Math.max(retryAfterMs, retryDelay(standing.policy(), Math.max(asked - PATIENT_ASKS, 1), deps.random.float()));
      if (clock.now() + ms >= row.expiresAt) return fail(`expired: ${why}; the next attempt would be too late`);
      return later(open, "pending", why, ms);
    }
    if (isToBlame(open, failure, before, standing)) {
      if (!standing.isEdit) return fail(`${why}; given up after ${row.attempts} attempts`);
      open.noPreview = "unsure";
      return later(open, "pending", `${why}; ${SENT_AS_NEW}`, 0);
    }
    return later(open, "pending", why, retryDelay(standing.policy(), Math.max(row.attempts - asked, 1), deps.random.float()));
  }

  /** It may have arrived. */
  function afterUnknown(open: OpenRow, { why, retryAfterMs = 0 }: FailedAttempt, standing: Standing, payload: RowPayload): Promise<StepResult> {
    const { row, asked } = open;
    const { again, honoured } = repeatable(open, standing, clock.now());
    if (!again) return end(open, { id: row.id, state: "failed", why: `${why}; ${MAY_HAVE_ARRIVED}, and was sent again already` }, payload);
    if (honoured)
      return later(open, "unknown", why, Math.max(retryAfterMs, retryDelay(standing.policy(), Math.max(row.attempts - asked, 1), deps.random.float())));
    open.wasLive = standing.isLive;
    const pauseMs = standing.isLive ? limits.repeatMs : repeatPauseMs(deps.table.get(row.channel), limits);
    return later(open, "unknown", why, Math.max(retryAfterMs, pauseMs));
  }

  /** It did not arrive, and no other message would: it waits until the account works again or its own time is over. */
  function afterRefusedAccount(open: OpenRow, { why }: FailedAttempt): Promise<StepResult> {
    open.refusals = (open.refusals ?? 0) + 1;
    open.failure = recovery.failed(open.row);
    return later(open, "pending", `${WAITS_FOR_ACCOUNT}${why}`, Math.min(limits.blindMs, limits.repeatMs * 2 ** Math.min(open.refusals - 1, 20)));
  }

  return async function afterFailure(open: OpenRow, failure: FailedAttempt, standing: Standing, payload: RowPayload): Promise<StepResult> {
    const { row } = open;
    if (failure.isAccountLost && !standing.isLive) return afterRefusedAccount(open, failure);
    if (failure.state === "failed" && standing.isEdit) {
      open.noPreview = "refused";
      return later(open, "pending", `${failure.why}; ${SENT_AS_NEW}`, 0);
    }
    if (failure.state === "failed") return end(open, { id: row.id, state: "failed", why: failure.why }, payload);
    const before = open.failure;
    const isAsked = failure.state === "retry" && failure.retryAfterMs !== undefined;
    if (isAsked) open.asked += 1;
    else if (!standing.isLive) open.failure = recovery.failed(row);
    open.failedSince ??= clock.monotonic();
    open.isAway = !isAsked && deps.table.receiving?.(row.channel, row.account) === false;
    // An edit that may have worked is made again like one that did not.
    return failure.state === "retry" || standing.isEdit ? afterRetry(open, failure, before, standing, payload) : afterUnknown(open, failure, standing, payload);
  };
}

/** How long a row has to wait before it may be tried; 0: now. */
function createHold(deps: DeliveryDeps, limits: DeliveryLimits, recovery: Recovery) {
  const { clock, table } = deps;

  /** The one repeat of what may have arrived waits until the account is known to work; where it cannot be known, for its time. */
  function beforeRepeat(open: OpenRow, left: number): number {
    const failure = open.failure ?? EARLIER_FAILURE;
    const check = recovery.check(open.row, failure);
    const { attemptedAt, createdAt } = open.row;
    if (check.isOver) return Math.max(0, (open.failure?.at ?? attemptedAt ?? createdAt) + limits.repeatMs - clock.now());
    const isAway = table.receiving?.(open.row.channel, open.row.account) === false;
    if (!check.canAsk && !isAway) return left;
    return Math.max(1, Math.min(check.ms, LOOK_MS));
  }

  /** Refused again and again, it is not tried more often than its pauses say, whatever the account's probe says. */
  function beforeAccount({ row, failure }: OpenRow, left: number): number {
    const check = recovery.check(row, failure ?? EARLIER_FAILURE);
    return check.isOver || !check.canAsk ? left : Math.max(1, Math.min(check.ms, LOOK_MS));
  }

  return function hold(open: OpenRow, standing: Standing): number {
    const { row } = open;
    const left = Math.max(0, (open.dueAt ?? 0) - clock.monotonic());
    if (waitsForAccount(row)) return beforeAccount(open, left);
    // What failed was no attempt of the row.
    if (row.state === "unknown" && row.attempts === 0) open.failure ??= recovery.failed(row);
    if (row.state === "unknown" && !repeatable(open, standing, clock.now()).honoured && !open.wasLive) return beforeRepeat(open, left);
    // Whether the account works decides whether a row that keeps failing is to blame.
    if (open.failure && row.attempts - open.asked >= standing.policy().attempts) recovery.check(row, open.failure);
    const isBack = open.isAway === true && table.receiving?.(row.channel, row.account) !== false;
    return isBack ? 0 : left;
  };
}

export function createStep(deps: DeliveryDeps, limits: DeliveryLimits, { stopping, recovery, live }: StepParts) {
  const { clock, table } = deps;
  const mark = createMark(deps, stopping);
  const endings = createEndings(deps, mark);
  const { end, later } = endings;
  const attempt = createAttempt(deps, limits);
  const afterFailure = createAfterFailure(deps, limits, recovery, endings);
  const hold = createHold(deps, limits, recovery);

  async function tryOnce(open: OpenRow, payload: RowPayload, standing: Standing): Promise<StepResult> {
    const { row } = open;
    const { id } = row;
    const { isEdit } = standing;
    if (isEdit && row.state === "unknown") open.mayBePosted = row.why?.includes(SENT_AS_NEW) === true;
    // One that certainly did not arrive when it was sent again is pending, and still a repeat.
    const isRepeat = !isEdit && (row.state === "unknown" || row.repeats > 0 || open.noPreview === "unsure" || open.mayBePosted === true);
    const repeat = isRepeat ? repeatable(open, standing, clock.now()) : undefined;
    if (repeat && row.state === "unknown" && !repeat.again)
      return end(open, { id, state: "failed", why: `${row.why ?? "no response"}; ${MAY_HAVE_ARRIVED}, and was sent again already` }, payload);
    const { attempts, repeats } = await mark({
      id,
      state: "attempting",
      ...(repeat?.honoured ? { nonceHonoured: true } : {}),
      ...(isEdit ? { idempotent: true } : {}),
    });
    const now = clock.now();
    open.row = { ...row, state: "attempting", attempts, repeats, attemptedAt: now };
    open.firstAttemptAt ??= isRepeat && row.attempts > 0 ? arrivedSince({ ...open, row }) : now;
    failpoint("send.attempted");
    const isMarkedRepeat = standing.isPreviewLost || (isRepeat && !repeat?.honoured);
    const marked = isMarkedRepeat ? markedAsRepeat(payload) : waitsForAccount(row) && !isEdit ? markedAsLate(payload) : payload;
    const done = await attempt(open.row, marked, standing.outbound, { isRepeat, previewId: isEdit ? payload.previewId : undefined, stopping });
    // The row stays as it is: the next start finds that it was being sent.
    if (done.ok !== true && stopping.aborted) return { kind: "wait", ms: 0 };
    if (done.ok === "no-preview") {
      open.noPreview = "refused";
      return later(open, "pending", `its preview cannot be edited any more; ${SENT_AS_NEW}`, 0);
    }
    if (!done.ok) {
      // It certainly did not arrive, so a window that a platform counts has not begun.
      if ((done.failure.state === "retry" || done.failure.isAccountLost) && !isRepeat) delete open.firstAttemptAt;
      if (done.failure.ofAccount) deps.activity?.sendFailed?.({ channel: row.channel, accountId: row.account, why: done.failure.why });
      return afterFailure(open, done.failure, standing, payload);
    }
    deps.activity?.record({ channel: row.channel, accountId: row.account, direction: "outbound" });
    if (!standing.isLive) recovery.worked(row);
    return end(open, { id, state: "sent", receipt: done.receipt }, payload);
  }

  /** Undefined: its channel is not there, or the account cannot send. */
  function standingOf(open: OpenRow, payload: RowPayload): Standing | undefined {
    const { row } = open;
    const waiting = payload.live === undefined ? undefined : live?.adapterFor(row.id, payload.live, payload);
    const outbound = waiting ?? table.get(row.channel)?.outbound;
    if (!outbound || (!waiting && table.running?.(row.channel, row.account) === false)) return undefined;
    return {
      outbound,
      policy: () => retryPolicy(deps.config(), row.channel, row.account, outbound),
      isLive: waiting !== undefined,
      isEdit: open.noPreview === undefined && editsPreview(payload, outbound),
      isPreviewLost: payload.isPreviewLost === true,
    };
  }

  /** Never rejects for what is wrong with a row; for a store that fails it does. */
  return async function step(open: OpenRow): Promise<StepResult> {
    const { row } = open;
    const now = clock.now();
    const left = row.expiresAt - now;
    if (left <= 0) return { kind: "expired" };
    if (row.nextAttemptAt !== null) open.dueAt ??= clock.monotonic() + Math.max(0, row.nextAttemptAt - now);
    const { payload } = row;
    if (!isRowPayload(payload)) return end(open, { id: row.id, state: "failed", why: UNREADABLE }, {});
    let standing: Standing | undefined;
    try {
      standing = standingOf(open, payload);
    } catch (error) {
      return end(open, { id: row.id, state: "failed", why: messageOf(error) }, {});
    }
    if (!standing) {
      recovery.disconnected(row);
      return { kind: "wait", ms: Math.min(limits.absentMs, left), absent: true };
    }
    const ms = hold(open, standing);
    if (ms > 0) return { kind: "wait", ms: Math.min(ms, left), absent: isAway(open) };
    return tryOnce(open, payload, standing);
  };
}
