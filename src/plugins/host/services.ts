import { isRecord } from "../../base/records.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Registration, ServiceRegistration, Table } from "../registry/index.ts";
import { within } from "./within.ts";

/** A start that takes longer is left to itself; the next service is started. */
const START_MS = 10_000;
/** A stop that takes longer is left to itself. */
const STOP_MS = 3000;

/** Milliseconds for each stop, and for all of them: those that come after that are called and not waited for. */
export interface StopLimits {
  readonly each: number;
  readonly total: number;
}

export interface ServicesDeps {
  readonly table: Table<ServiceRegistration>;
  readonly clock: Clock;
  /** What `start` and `stop` get. */
  readonly context: (pluginId: string) => Readonly<Record<string, unknown>>;
  readonly tell: (pluginId: string, code: string, message: string, error: unknown) => void;
}

/** Background work of plugins: started in the order of registration, stopped in reverse. */
export interface Services {
  /** Starts what is registered and not started. From now on late ones are started too. */
  start(): Promise<void>;
  /** Stops those of one generation, or all; resolves within the budget, whatever they do. */
  stop(which: (service: Registration<ServiceRegistration>) => boolean, limits?: StopLimits): Promise<void>;
  /** Started ones, in order. */
  readonly running: readonly Registration<ServiceRegistration>[];
  readonly started: boolean;
}

type Service = Registration<ServiceRegistration>;

export function createServices({ table, clock, context, tell }: ServicesDeps): Services {
  const running: Service[] = [];
  const known = new WeakSet<Service>();
  let started = false;
  let queue: Promise<void> = Promise.resolve();

  async function startOne(service: Service): Promise<void> {
    const { owner, value } = service;
    try {
      running.push(service);
      await within(clock, START_MS, `the service ${value.id}'s start`, () => value.start(context(owner.pluginId)));
    } catch (error) {
      const late = isRecord(error) && error["code"] === "TIMEOUT";
      // One that is only slow is stopped in the end; one that failed is not.
      if (!late && running.includes(service)) running.splice(running.indexOf(service), 1);
      tell(
        owner.pluginId,
        late ? "service-slow" : "service-failed",
        late ? messageOf(error) : `the service ${value.id} could not be started: ${messageOf(error)}`,
        error,
      );
    }
  }

  async function startNew(): Promise<void> {
    for (const service of table.list()) {
      // One that was taken away in the meantime is not started any more.
      if (known.has(service) || !table.list().includes(service)) continue;
      known.add(service);
      await startOne(service);
    }
  }

  return {
    running,
    get started() {
      return started;
    },
    start() {
      started = true;
      queue = queue.then(startNew);
      return queue;
    },
    async stop(which, { each, total } = { each: STOP_MS, total: Infinity }) {
      const until = clock.monotonic() + total;
      const chosen = running.filter(which).toReversed();
      for (const service of chosen) running.splice(running.indexOf(service), 1);
      for (const { owner, value } of chosen) {
        if (!value.stop) continue;
        try {
          await within(clock, Math.min(each, Math.max(0, until - clock.monotonic())), `the service ${value.id}'s stop`, () =>
            value.stop?.(context(owner.pluginId)),
          );
        } catch (error) {
          tell(owner.pluginId, "service-stop", `the service ${value.id} failed to stop: ${messageOf(error)}`, error);
        }
      }
    },
  };
}
