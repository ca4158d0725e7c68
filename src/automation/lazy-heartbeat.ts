import type { EventPayload } from "../protocol/index.ts";
import { lazy } from "../base/lazy.ts";
import type { HeartbeatDeps, WakeRequest } from "./heartbeat/heartbeat.ts";

export interface LazyHeartbeat extends Disposable {
  /** Beats from now on, and for what the previous process left. */
  start(): Promise<void>;
  /** The configuration changed: where that concerns when agents are woken, their times begin again. */
  follow(): void;
  /** Asks for a beat soon. */
  wake(request: WakeRequest): void;
  /** Off until the next start, or on again. */
  setEnabled(enabled: boolean): void;
  readonly isEnabled: boolean;
  last(): Promise<EventPayload<"heartbeat"> | null>;
}

export interface LazyHeartbeatDeps extends Omit<HeartbeatDeps, "isPaused"> {
  /** The agents that have heartbeats, and the milliseconds between two; 0 is off. */
  readonly times: () => readonly (readonly [agentId: string, everyMs: number])[];
}

/** Heartbeats: until the first is due or asked for, they are a timer. */
export function createLazyHeartbeat(deps: LazyHeartbeatDeps): LazyHeartbeat {
  const { store, clock, log, times } = deps;
  let isEnabled = true;
  let startedAt: number | undefined;
  let timer: Disposable | undefined;
  let planned: string | undefined;
  const open = lazy(async () => {
    const { createHeartbeat } = await import("./heartbeat/index.ts");
    return createHeartbeat({ ...deps, isPaused: () => !isEnabled }, startedAt ?? clock.monotonic());
  });
  const failed = (error: unknown): void => log.error("heartbeats are not running", { error });

  function arm(ms: number | undefined): void {
    timer?.[Symbol.dispose]();
    timer = ms === undefined ? undefined : clock.after(ms, () => void open().then((heartbeat) => arm(heartbeat.tick()), failed));
  }

  const planOf = (): string => JSON.stringify(times());

  /** Until the first beat. */
  function first(): number | undefined {
    const on = times().flatMap(([, ms]) => (ms > 0 ? [ms] : []));
    return on.length === 0 ? undefined : Math.min(...on);
  }

  function wake(request: WakeRequest): void {
    void open().then((heartbeat) => heartbeat.wake(request), failed);
  }

  /** Lines that asked for a beat and were not acted on: before the previous process died, or while heartbeats were off. */
  async function wakeWaiting(): Promise<void> {
    for (const { sessionKey, source } of await store.read("injections.waking", {})) wake({ sessionKey, reason: source === "exec" ? "exec-event" : source });
  }

  return {
    async start() {
      startedAt = clock.monotonic();
      planned = planOf();
      arm(first());
      const left = await store.read("idempotency.running", { scope: "heartbeat" });
      if (left.length > 0) void open().then((heartbeat) => heartbeat.resume(left), failed);
      await wakeWaiting();
    },
    follow() {
      if (startedAt === undefined || planned === planOf()) return;
      planned = planOf();
      startedAt = clock.monotonic();
      if (!open.started()) return arm(first());
      void open().then((heartbeat) => {
        heartbeat.reconsider();
        arm(heartbeat.tick());
      }, failed);
    },
    wake,
    setEnabled(enabled) {
      const isTurnedOn = enabled && !isEnabled;
      isEnabled = enabled;
      if (isTurnedOn) wakeWaiting().catch(failed);
    },
    get isEnabled() {
      return isEnabled;
    },
    async last() {
      const { lastHeartbeat } = await import("./heartbeat/index.ts");
      return lastHeartbeat(store);
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      if (open.started()) void open().then((heartbeat) => heartbeat[Symbol.dispose](), failed);
    },
  };
}
