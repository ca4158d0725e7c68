import { systemClock, type Clock } from "../base/clock.ts";
import { createIds, type Ids } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { type Env, acquireStateLock, type StateLock } from "../config/index.ts";
import type { ServerSettings } from "../gateway/index.ts";

/** What a process keeps while its gateway is taken down and opened again: the locks, the port, the time of the last restart. */
export interface Lifetime extends Disposable {
  /** Lets the same user's CLI in, before and after a restart. */
  readonly runSecret: string;
  /** Takes the locks. When they are ours already they stay as they are. */
  lock(place: { readonly configPath: string; readonly stateDir: string }): void;
  /** The gateway listens: the lock says where and since when. */
  announce(port: number): void;
  /** Where the gateway before this one listened. */
  readonly port: number | undefined;
  /** How the gateway before this one listened: a restart that cannot listen as it should goes back to it. */
  listening: ServerSettings | undefined;
  /** The gateway goes down to come back. */
  restarting(): void;
  /** When that was last, by the monotonic clock. */
  readonly restartedAt: number | undefined;
}

export interface LifetimeDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly pid: number;
  /** The gateway is there for one turn and ends by itself; its lock says so. */
  readonly temporary?: boolean;
}

/** Disposing gives the locks back. */
export function createLifetime(deps: LifetimeDeps): Lifetime {
  const { env, clock, pid } = deps;
  const temporary = deps.temporary ? ({ temporary: true } as const) : {};
  const runSecret = deps.ids.hex(32);
  let held: { readonly lock: StateLock; readonly configPath: string; readonly stateDir: string } | undefined;
  let port: number | undefined;
  let restartedAt: number | undefined;
  return {
    runSecret,
    listening: undefined,
    lock({ configPath, stateDir }) {
      if (held?.configPath === configPath && held.stateDir === stateDir) return;
      held?.lock[Symbol.dispose]();
      held = { lock: acquireStateLock({ configPath, stateDir, runSecret, ...temporary }, env, { clock, pid }), configPath, stateDir };
    },
    announce(next) {
      const known = port === next;
      port = next;
      try {
        held?.lock.announce(next);
      } catch (error) {
        // On a full disk the lock of a restarted gateway stays as it was: all it lacks is the time of the restart.
        if (!known) throw error;
      }
    },
    get port() {
      return port;
    },
    restarting() {
      restartedAt = clock.monotonic();
    },
    get restartedAt() {
      return restartedAt;
    },
    [Symbol.dispose]() {
      held?.lock[Symbol.dispose]();
      held = undefined;
    },
  };
}

/** The lifetime of the process that runs this. */
export function createProcessLifetime(env: Env, pid: number, options: Pick<LifetimeDeps, "temporary"> = {}): Lifetime {
  return createLifetime({ ...options, env, clock: systemClock, ids: createIds(systemRandom), pid });
}
