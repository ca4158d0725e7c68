import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { RestartReport, RestartRequest, SentinelPayload } from "../methods/deps.ts";
import type { SentinelDeps } from "./sentinel.ts";
import { waitUntil } from "./wait.ts";

/** Requests to restart, made one: the earliest decides when, the others are answered with it. */
export interface Restarts extends Disposable {
  /** `urgent`: a person or the file asks, so that the cooldown after the last restart does not count. */
  request(request: RestartRequest, options?: { readonly urgent?: boolean }): RestartReport;
  /** Resolves with the reason when it is time: the delay is over, and no run is in the way or has been for too long. */
  readonly due: Promise<string>;
}

export interface RestartsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly pid: number;
  /** When this process last restarted its gateway, by the monotonic clock. */
  readonly restartedAt: number | undefined;
  /** Runs that wait or run. */
  readonly runs: () => number;
}

const COOLDOWN_MS = 30_000;
/** How long runs may hold up a restart. */
const IDLE_MS = 30_000;
const LOOK_MS = 50;

interface Pending {
  readonly at: number;
  readonly reason: string;
  readonly timer: Disposable;
}

/** Disposing forgets what was asked for. */
export function createRestarts({ clock, log, pid, restartedAt, runs }: RestartsDeps): Restarts {
  const due = Promise.withResolvers<string>();
  const over = new AbortController();
  let pending: Pending | undefined;

  async function begin(reason: string): Promise<void> {
    const waiting = runs();
    if (waiting > 0) log.info(`the restart (${reason}) waits for ${waiting} runs, up to ${IDLE_MS / 1000} s`);
    const idle = await waitUntil(() => runs() === 0, { clock, everyMs: LOOK_MS, forMs: IDLE_MS, signal: over.signal });
    if (over.signal.aborted) return;
    if (!idle) log.warn(`the restart (${reason}) no longer waits for ${runs()} runs; unfinished runs resume afterwards`);
    due.resolve(reason);
  }

  return {
    due: due.promise,
    request({ reason, delayMs }, { urgent = false } = {}) {
      const now = clock.monotonic();
      const cooldownMsApplied = urgent || restartedAt === undefined ? 0 : Math.max(0, Math.ceil(restartedAt + COOLDOWN_MS - now));
      const at = now + delayMs + cooldownMsApplied;
      const coalesced = pending !== undefined && pending.at <= at;
      if (!pending || !coalesced) {
        pending?.timer[Symbol.dispose]();
        pending = { at, reason, timer: clock.after(at - now, () => void begin(reason)) };
        log.info(`a restart is planned in ${Math.round(at - now)} ms: ${reason}`);
      }
      const report = { delayMs: Math.max(0, Math.round(pending.at - now)), reason: pending.reason, coalesced, cooldownMsApplied };
      return { ok: true, pid, signal: "SIGUSR1", mode: "emit", ...report };
    },
    [Symbol.dispose]() {
      over.abort();
      pending?.timer[Symbol.dispose]();
    },
  };
}

/** What SIGUSR1 asks for, where `commands.restart` allows it. */
export function requestBySignal(restarts: Pick<Restarts, "request">, { commands }: OpenClawConfig, log: Logger): void {
  if (commands?.restart !== false) restarts.request({ reason: "SIGUSR1", delayMs: 0 }, { urgent: true });
  else log.warn("SIGUSR1 is ignored: commands.restart is false");
}

/** Notes from a gateway to the one after its restart. Most starts find none: what reads and writes them is loaded when there is one. */
export interface RestartNotes {
  leave(payload: SentinelPayload, deps: { readonly ids: Ids; readonly log: Logger }): Promise<string | null>;
  take(deps: SentinelDeps): Promise<void>;
}

export function restartNotes(stateDir: string): RestartNotes {
  const path = join(stateDir, "restart-sentinel.json");
  return {
    leave: async (payload, deps) => (await import("./sentinel.ts")).leaveSentinel(path, payload, deps),
    async take(deps) {
      if (existsSync(path)) await (await import("./sentinel.ts")).takeSentinel(path, deps);
    },
  };
}
