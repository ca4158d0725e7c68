import type { HookName } from "../events/index.ts";

/** How one handler's part in a dispatch ended. */
export type HookCallOutcome = "ok" | "decided" | "ignored" | "failed" | "timeout" | "skipped";

/** One handler's part in the trace of a run. */
export interface HookTraceRecord {
  readonly hook: string;
  readonly pluginId: string;
  readonly ms: number;
  readonly outcome: HookCallOutcome;
}

/** Statistics of a plugin's handlers of one hook since the start. */
export interface HookStat {
  readonly pluginId: string;
  readonly hook: string;
  /** Registered now. */
  readonly handlers: number;
  readonly calls: number;
  readonly failures: number;
  readonly timeouts: number;
  /** Not called: the breaker was open. */
  readonly skipped: number;
  /** Not called: the filter did not match. */
  readonly filtered: number;
  /** Invalid results, or fields of them. */
  readonly ignored: number;
  /** Additions to prompts that the operator does not allow. */
  readonly dropped: number;
  /** Abandoned handlers that failed afterwards. */
  readonly lateFailures: number;
  /** For synchronous hooks estimated from every 16th call. */
  readonly totalMs: number;
  readonly maxMs: number;
  readonly lastError?: string;
}

/** A handler of an observing hook that failed. */
export interface Breaker {
  readonly pluginId: string;
  readonly hook: HookName;
  readonly source?: string;
  /** `counting`: failed, still called. `open`: skipped. `trial`: one call decides. */
  readonly state: "counting" | "open" | "trial";
  /** In a row. */
  readonly failures: number;
  /** Milliseconds since the epoch at which it is tried again. */
  readonly retryAt?: number;
}

/** The row of a plugin and hook while it is counted. */
export class Tally {
  handlers = 0;
  calls = 0;
  failures = 0;
  timeouts = 0;
  skipped = 0;
  filtered = 0;
  ignored = 0;
  dropped = 0;
  lateFailures = 0;
  timed = 0;
  timedMs = 0;
  maxMs = 0;
  lastError: string | undefined = undefined;

  time(ms: number): void {
    this.timed += 1;
    this.timedMs += ms;
    if (ms > this.maxMs) this.maxMs = ms;
  }

  row(pluginId: string, hook: string): HookStat {
    const { handlers, calls, failures, timeouts, skipped, filtered, ignored, dropped, lateFailures, timed, timedMs, maxMs, lastError } = this;
    const totalMs = timed === 0 ? 0 : (timedMs / timed) * calls;
    const counts = { handlers, calls, failures, timeouts, skipped, filtered, ignored, dropped, lateFailures, totalMs, maxMs };
    return { pluginId, hook, ...counts, ...(lastError === undefined ? {} : { lastError }) };
  }
}
