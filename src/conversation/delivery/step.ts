/** What one row's turn comes to: sent, given up, or to be tried again. */
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { ChannelOutboundAdapter } from "../../protocol/index.ts";
import type { OutboxMark, OutboxRow } from "../../store/index.ts";
import { createAttempt, type Receipt } from "./attempt.ts";
import type { DeliveryDeps, DeliveryLimits } from "./deps.ts";
import { createMark } from "./mark.ts";
import type { FailedAttempt } from "./failure.ts";
import type { LiveTargets } from "./live.ts";
import { retryDelay, retryPolicy, type RetryPolicy } from "./retry-policy.ts";
import { markedAsRepeat, readPayload, type RowPayload } from "./row-payload.ts";
import { createTeller } from "./told.ts";

/** A row that is not at its end, as the worker knows it. */
export interface OpenRow {
  row: OutboxRow;
  /** When the first attempt that may have arrived was made. */
  firstAttemptAt?: number;
  /** Attempts that ended with the platform's request to wait: they are not counted against the row. */
  asked: number;
  /** Its lane has waited for the time it was put off to. */
  waited?: boolean;
}

export type StepResult =
  /** The row is at its end. */
  | { readonly kind: "ended"; readonly row: OutboxRow }
  /** Nothing can be done before; `absent` rows are woken earlier when something changes. */
  | { readonly kind: "wait"; readonly ms: number; readonly absent?: boolean }
  /** Its time is over. */
  | { readonly kind: "expired" };

/** No row is tried more often, whatever a platform asks for. */
const MAX_ATTEMPTS = 50;

interface Standing {
  readonly outbound: ChannelOutboundAdapter;
  readonly policy: RetryPolicy;
}

/** The earliest time at which an attempt may have arrived. */
const arrivedSince = ({ row, firstAttemptAt }: OpenRow): number => firstAttemptAt ?? (row.attempts <= 1 ? row.attemptedAt : null) ?? row.createdAt;

/** Whether a row that may have arrived may be sent again. `honoured`: the platform drops repeats by itself. */
function repeatable(open: OpenRow, { outbound, policy }: Standing, now: number): { again: boolean; honoured: boolean } {
  const { row, asked } = open;
  const since = arrivedSince(open);
  const honoured = outbound.nonceWindowMs !== undefined && now - since < outbound.nonceWindowMs && now >= since;
  return { again: row.repeats === 0 || (honoured && row.attempts - asked < policy.attempts), honoured };
}

/** What is written after an attempt. */
function createEndings(deps: DeliveryDeps, mark: ReturnType<typeof createMark>) {
  const { clock, log } = deps;
  const tell = createTeller(deps);

  async function end(open: OpenRow, input: Extract<OutboxMark, { state: "sent" | "failed" }>, payload: Partial<RowPayload>): Promise<StepResult> {
    await mark(input);
    const { row } = open;
    const settledAt = clock.now();
    if (input.state === "sent") {
      failpoint("send.receipt");
      const receipt = (input.receipt ?? {}) as Receipt;
      const { messageId } = receipt;
      tell(row, payload, { success: true, ...(typeof messageId === "string" ? { messageId } : {}) });
      return { kind: "ended", row: { ...row, state: "sent", receipt, settledAt, nextAttemptAt: null } };
    }
    log.warn(`delivery ${row.id} to ${row.channel} failed: ${input.why}`, { channel: row.channel, accountId: row.account, rowId: row.id });
    tell(row, payload, { success: false, error: input.why });
    return { kind: "ended", row: { ...row, state: "failed", why: input.why, settledAt, nextAttemptAt: null } };
  }

  async function later(open: OpenRow, state: "pending" | "unknown", why: string, ms: number): Promise<StepResult> {
    const nextAttemptAt = clock.now() + ms;
    await mark({ id: open.row.id, state, why, nextAttemptAt });
    open.row = { ...open.row, state, why, nextAttemptAt };
    open.waited = true;
    return { kind: "wait", ms };
  }

  return { end, later };
}

/** How long a message that may have arrived waits for an account that does not receive, before it is sent once more. */
const UNKNOWN_MS = 60_000;
/** A message that may have arrived is sent once more and never again: not before a short trouble of the platform is over. */
const REPEAT_MS = 5_000;

export function createStep(deps: DeliveryDeps, limits: DeliveryLimits, stopping: AbortSignal, live?: Pick<LiveTargets, "adapterFor">) {
  const { clock, table } = deps;
  const mark = createMark(deps, stopping);
  const { end, later } = createEndings(deps, mark);
  const attempt = createAttempt(deps, limits);

  async function afterFailure(open: OpenRow, failure: FailedAttempt, standing: Standing, payload: RowPayload): Promise<StepResult> {
    const { id, attempts, expiresAt } = open.row;
    const { state, retryAfterMs, why } = failure;
    const fail = (text: string): Promise<StepResult> => end(open, { id, state: "failed", why: text }, payload);
    if (state === "failed") return fail(why);
    if (retryAfterMs !== undefined) open.asked += 1;
    const made = attempts - open.asked;
    const ms = retryAfterMs ?? retryDelay(standing.policy, Math.max(made, 1), deps.random.float());
    if (table.receiving?.(open.row.channel, open.row.account) === false) return whileAway(open, failure, ms);
    const { again, honoured } = repeatable(open, standing, clock.now());
    if (state === "unknown" && !again) return fail(`${why}; it may have arrived, and was sent again already`);
    const spent = state === "retry" && (made >= standing.policy.attempts || attempts >= MAX_ATTEMPTS);
    if (spent) return fail(`${why}; given up after ${attempts} attempts`);
    if (clock.now() + ms >= expiresAt) return fail(`expired: ${why}; the next attempt would come too late`);
    if (state === "retry") return later(open, "pending", why, ms);
    return later(open, "unknown", why, honoured ? ms : Math.min(Math.max(ms, REPEAT_MS), Math.max(0, expiresAt - clock.now() - 1)));
  }

  /** Nothing comes in either, so the platform may be away: the row is not given up, and looks again when the account receives. */
  async function whileAway(open: OpenRow, { state, why }: FailedAttempt, ms: number): Promise<StepResult> {
    const { expiresAt } = open.row;
    const pause = state === "retry" ? Math.max(ms, limits.absentMs) : UNKNOWN_MS;
    const waiting = await later(open, state === "retry" ? "pending" : "unknown", why, Math.min(pause, Math.max(0, expiresAt - clock.now())));
    return { ...waiting, absent: true } as StepResult;
  }

  async function tryOnce(open: OpenRow, payload: RowPayload, standing: Standing): Promise<StepResult> {
    const { row } = open;
    const { id } = row;
    // One that certainly did not arrive when it was sent again is pending, and still a repeat.
    const isRepeat = row.state === "unknown" || row.repeats > 0;
    const repeat = isRepeat ? repeatable(open, standing, clock.now()) : undefined;
    if (repeat && row.state === "unknown" && !repeat.again)
      return end(open, { id, state: "failed", why: `${row.why ?? "no answer came"}; it may have arrived, and was sent again already` }, payload);
    const { attempts, repeats } = await mark({ id, state: "attempting", ...(repeat?.honoured ? { nonceHonoured: true } : {}) });
    const now = clock.now();
    open.row = { ...row, state: "attempting", attempts, repeats, attemptedAt: now };
    open.firstAttemptAt ??= isRepeat ? arrivedSince({ ...open, row }) : now;
    failpoint("send.attempted");
    const marked = isRepeat && !repeat?.honoured ? markedAsRepeat(payload) : payload;
    const done = await attempt(open.row, marked, standing.outbound, { isRepeat, stopping });
    // The row stays as it is: the next start finds that it was being sent.
    if (!done.ok && stopping.aborted) return { kind: "wait", ms: 0 };
    if (!done.ok) {
      // It certainly did not arrive, so a window that a platform counts has not begun.
      if (done.failure.state === "retry" && !isRepeat) delete open.firstAttemptAt;
      if (done.failure.ofAccount) deps.activity?.sendFailed?.({ channel: row.channel, accountId: row.account, why: done.failure.why });
      return afterFailure(open, done.failure, standing, payload);
    }
    deps.activity?.record({ channel: row.channel, accountId: row.account, direction: "outbound" });
    return end(open, { id, state: "sent", receipt: done.receipt }, payload);
  }

  /** Never rejects for what is wrong with a row; for a store that fails it does. */
  return async function step(open: OpenRow): Promise<StepResult> {
    const { row } = open;
    const now = clock.now();
    if (row.expiresAt <= now) return { kind: "expired" };
    if (!open.waited && row.nextAttemptAt !== null && row.nextAttemptAt > now) {
      open.waited = true;
      return { kind: "wait", ms: Math.min(row.nextAttemptAt, row.expiresAt) - now };
    }
    let payload: RowPayload;
    let standing: Standing;
    try {
      payload = readPayload(row.payload);
      const waiting = live?.adapterFor(row.id, payload);
      const outbound = waiting ?? table.get(row.channel)?.outbound;
      if (!outbound || (!waiting && table.running?.(row.channel, row.account) === false)) {
        return { kind: "wait", ms: Math.min(limits.absentMs, row.expiresAt - now), absent: true };
      }
      standing = { outbound, policy: retryPolicy(deps.config(), row.channel, row.account, outbound) };
    } catch (error) {
      return end(open, { id: row.id, state: "failed", why: messageOf(error) }, {});
    }
    return tryOnce(open, payload, standing);
  };
}
