/** One connection of an account, from `startAccount` until it has settled. */
import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/records.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Logger } from "../../base/log/logger.ts";
import type {
  ChannelAccountSnapshot,
  ChannelGatewayContext,
  ChannelInbound,
  ChannelLogSink,
  ChannelPlugin,
  HostConfig,
  RuntimeEnv,
} from "../../protocol/index.ts";

/**
 * An older plugin connects, reports it, and returns: one that returns this soon counts as connected. One that returns later has
 * lost its connection.
 */
const CONNECT_MS = 30_000;

export interface RunDeps {
  readonly plugin: ChannelPlugin;
  readonly accountId: string;
  /** The plugin's own copy. */
  readonly cfg: HostConfig;
  readonly account: unknown;
  readonly generation: number;
  readonly inbound: ChannelInbound;
  readonly clock: Clock;
  readonly log: Logger;
  readonly getStatus: () => ChannelAccountSnapshot;
  /** Called with the plugin's status reports, while they count. */
  readonly onStatus: (next: ChannelAccountSnapshot) => void;
  /** Called when something from the platform arrived. */
  readonly onInbound: () => void;
}

/** `stopped`: on request. `ended`: by itself. */
export type RunEnd = { readonly kind: "stopped" } | { readonly kind: "ended"; readonly error?: unknown };

export interface Run {
  readonly plugin: ChannelPlugin;
  readonly generation: number;
  /** Monotonic time. */
  readonly startedAt: number;
  /** Never rejects. */
  readonly ended: Promise<RunEnd>;
  readonly isOver: boolean;
  /** Asks it to stop, in every possible way. Resolves when `stopAccount` has; never rejects. */
  stop(why: string): Promise<void>;
  /** Its reports are ignored from now on. */
  disown(): void;
}

/** A plugin's output goes to the log; it may not end the gateway. */
export function runtimeFor(log: Logger): RuntimeEnv {
  const line = (parts: readonly unknown[]): string => parts.map((part) => (part instanceof Error ? part.message : String(part))).join(" ");
  return {
    log: (...parts) => log.info(line(parts)),
    error: (...parts) => log.error(line(parts)),
    exit: (code) => {
      throw new AppError("UNAVAILABLE", `a channel cannot exit the gateway (it called exit with code ${code})`);
    },
  };
}

export const sinkFor = (log: Logger): ChannelLogSink => ({
  debug: (message) => log.debug(message),
  info: (message) => log.info(message),
  warn: (message) => log.warn(message),
  error: (message) => log.error(message),
});

/** The stop function that `startAccount` returned, if any. */
function stopOf(returned: unknown): (() => unknown) | undefined {
  if (typeof returned === "function") return () => Reflect.apply(returned, undefined, []);
  const stop = isRecord(returned) ? returned["stop"] : undefined;
  return typeof stop === "function" ? () => Reflect.apply(stop, returned, []) : undefined;
}

export function startRun(deps: RunDeps): Run {
  const { plugin, accountId, generation, clock, log } = deps;
  const controller = new AbortController();
  const { signal } = controller;
  const startedAt = clock.monotonic();
  const leave = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => leave.resolve(), { once: true });
  let counts = true;
  let over = false;
  let reported: Pick<ChannelAccountSnapshot, "running" | "connected"> = {};

  const context: ChannelGatewayContext = {
    cfg: deps.cfg,
    accountId,
    account: deps.account,
    runtime: runtimeFor(log),
    abortSignal: signal,
    log: sinkFor(log),
    getStatus: deps.getStatus,
    setStatus(next) {
      if (!counts) return;
      reported = { ...reported, ...("running" in next ? { running: next.running } : {}), ...("connected" in next ? { connected: next.connected } : {}) };
      if (next.running === false) leave.resolve();
      deps.onStatus(next);
    },
    inbound: {
      async accept(event) {
        if (!counts) {
          throw new AppError(
            "UNAVAILABLE",
            `connection ${generation} of ${plugin.id}:${accountId} has ended: its events are not accepted; stop when abortSignal fires`,
          );
        }
        const result = await deps.inbound.accept(event);
        // From here on the platform may be notified.
        failpoint("ack.sent");
        if (counts) deps.onInbound();
        return result;
      },
    },
  };

  async function live(): Promise<RunEnd> {
    try {
      const stop = stopOf(await plugin.gateway?.startAccount?.(context));
      const stays = (reported.connected === true || reported.running === true) && clock.monotonic() - startedAt < CONNECT_MS;
      if (stop || (!signal.aborted && stays)) await leave.promise;
      await stop?.();
    } catch (error) {
      if (!signal.aborted) return { kind: "ended", error };
      log.debug(`it ended with an error after it was asked to stop: ${messageOf(error)}`);
    } finally {
      over = true;
      counts = false;
    }
    return { kind: signal.aborted ? "stopped" : "ended" };
  }

  return {
    plugin,
    generation,
    startedAt,
    // Immediate reports find the run in place.
    ended: Promise.resolve().then(live),
    get isOver() {
      return over;
    },
    async stop(why) {
      if (!signal.aborted) controller.abort(new AppError("CANCELLED", why));
      try {
        await plugin.gateway?.stopAccount?.(context);
      } catch (error) {
        log.warn(`its stopAccount failed: ${messageOf(error)}`);
      }
    },
    disown: () => void (counts = false),
  };
}

/** Whether all promises settled in time. */
export async function settledWithin(clock: Clock, ms: number, work: readonly Promise<unknown>[]): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  using _ = clock.after(ms, () => late.resolve(false));
  return await Promise.race([Promise.allSettled(work).then(() => true), late.promise]);
}
