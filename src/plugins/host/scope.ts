import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { realpathSync } from "node:fs";
import type { Server } from "node:net";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../../base/errors.ts";
import { CURRENT, RUNNING, type LoopMonitor } from "../../base/watchdog/loop-monitor.ts";
import type { Owner } from "../registry/index.ts";
import { watchResources, type Started } from "./resources.ts";

type Callable = (...args: never[]) => unknown;

/** Where code of one generation of a plugin runs: what it does is counted, and what it starts can be ended. */
export interface Scope {
  readonly owner: Owner;
  /** The function, to be called from anywhere, running as this plugin. */
  bind<F extends Callable>(fn: F, what: string): F;
  /** See `Runner`. */
  bindTool(fn: (...args: readonly unknown[]) => unknown, what: string): (...args: readonly unknown[]) => Promise<unknown>;
  /** Calls that have not settled. */
  readonly running: number;
  /** Timers and servers it started that are still there. */
  readonly started: { readonly timers: number; readonly servers: number };
  /** Calls of its tools that have not settled. */
  readonly toolCalls: number;
  /** Resolves when no call is running. */
  idle(): Promise<void>;
  /** Resolves when no call of a tool is running. */
  toolsIdle(): Promise<void>;
  /**
   * Clears its timers and closes its servers, and rejects calls of its tools that still run. A call that is made later still runs: what it
   * starts is ended when the last such call is over.
   */
  end(): void;
}

/** All scopes of a host. Disposing puts the platform's functions back. */
export interface Scopes extends Disposable {
  /** `rootDir`: the folder with the plugin's code; what other code starts on its behalf is not touched. */
  create(owner: Owner, rootDir: string): Scope;
  /** `end` is called when the plugin whose code runs now ends; nothing outside of plugins' code. */
  adopt(end: () => void): void;
  /** The plugin whose code runs now, also in `uncaughtException` and `unhandledRejection` listeners. */
  current(): Owner | undefined;
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";

/** Ended timers are forgotten when this many are kept, then at each doubling. */
const SWEEP_AT = 64;

interface Inside {
  readonly owner: Owner;
  readonly places: readonly string[];
  take(started: Started): void;
  adopt(end: () => void): void;
}

/** Timers and servers that are still there. */
function createBelongings() {
  const timers = new Set<Started & { kind: "timer" }>();
  const servers = new Set<Server>();
  let sweepAt = SWEEP_AT;
  function forgetEnded(): void {
    for (const timer of timers) if (timer.isOver()) timers.delete(timer);
  }
  return {
    take(started: Started): void {
      if (started.kind === "server") {
        servers.add(started.server);
        started.server.once("close", () => servers.delete(started.server));
        return;
      }
      timers.add(started);
      if (timers.size < sweepAt) return;
      forgetEnded();
      sweepAt = Math.max(SWEEP_AT, timers.size * 2);
    },
    counts() {
      forgetEnded();
      return { timers: timers.size, servers: servers.size };
    },
    end(): void {
      for (const timer of timers) timer.end();
      timers.clear();
      for (const server of servers) closeServer(server);
      servers.clear();
    },
  };
}

/** Calls of a plugin's tools that have not settled. */
function createToolCalls({ pluginId }: Owner) {
  const calls = new Set<() => void>();
  const waiting: (() => void)[] = [];
  return {
    get size() {
      return calls.size;
    },
    idle: (): Promise<void> => (calls.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    /** The tool's function, whose calls reject when `end` comes before their own end. */
    bind: (fn: (...args: readonly unknown[]) => unknown, what: string) => {
      const message = `the plugin ${pluginId} was reloaded or stopped, and ${what} did not finish in time`;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const ending = Promise.withResolvers<never>();
        const end = (): void => ending.reject(new AppError("PLUGIN_FAILED", message));
        calls.add(end);
        try {
          return await Promise.race([fn(...args), ending.promise]);
        } finally {
          calls.delete(end);
          if (calls.size === 0) for (const resolve of waiting.splice(0)) resolve();
        }
      };
    },
    end(): void {
      for (const end of calls) end();
    },
  };
}

/** `monitor`: notes which plugin's code runs. */
export function createScopes(monitor?: LoopMonitor): Scopes {
  const cells = monitor?.cells ?? new Int32Array(RUNNING + 1);
  const inside = new AsyncLocalStorage<Inside>();
  const watching = watchResources(inside);

  function create(owner: Owner, rootDir: string): Scope {
    const belongings = createBelongings();
    const tools = createToolCalls(owner);
    const adopted: (() => void)[] = [];
    let running = 0;
    let ended = false;
    let waiting: (() => void)[] = [];
    const take = (started: Started): void => (ended && running === 0 ? started.end() : belongings.take(started));
    const callEnded = (): void => {
      running -= 1;
      if (running > 0) return;
      if (ended) belongings.end();
      for (const resolve of waiting.splice(0)) resolve();
    };
    const realDir = realOf(rootDir);
    const adopt = (end: () => void): void => (ended ? end() : void adopted.push(end));
    // A resource changes the frame without copying it: a quarter of the price of `run`, which matters for hooks.
    const frame = inside.run({ owner, places: placesOf(rootDir), take, adopt }, () => new AsyncResource("OPENCLAWPLUGIN"));

    function bind<F extends Callable>(given: F, what: string): F {
      const fn = given as unknown as (...args: unknown[]) => unknown;
      const label = monitor?.label({ pluginId: owner.pluginId, what, rootDir: realDir }) ?? 0;
      const settled = (): void => {
        cells[RUNNING + label]! -= 1;
        callEnded();
      };
      const bound = function (this: unknown, ...args: unknown[]): unknown {
        running += 1;
        cells[RUNNING + label]! += 1;
        const before = cells[CURRENT]!;
        cells[CURRENT] = label;
        let result: unknown;
        try {
          result = frame.runInAsyncScope(fn, this, ...args);
        } catch (error) {
          settled();
          throw error;
        } finally {
          cells[CURRENT] = before;
        }
        if (isThenable(result)) result.then(settled, settled);
        else settled();
        return result;
      };
      return bound as unknown as F;
    }

    return {
      owner,
      bind,
      bindTool: (fn, what) => tools.bind(bind(fn, what), what),
      get toolCalls() {
        return tools.size;
      },
      toolsIdle: tools.idle,
      get running() {
        return running;
      },
      get started() {
        return belongings.counts();
      },
      idle: () => (running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
      end() {
        ended = true;
        tools.end();
        belongings.end();
        for (const end of adopted.splice(0).toReversed()) end();
        waiting.splice(0).forEach((resolve) => resolve());
        waiting = [];
      },
    };
  }

  return {
    create,
    adopt: (end) => inside.getStore()?.adopt(end),
    current: () => inside.getStore()?.owner,
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  };
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // A plugin made in memory, in tests.
  }
}

/** A folder as stacks name it: with links followed, and as a URL. */
function placesOf(rootDir: string): readonly string[] {
  return [...new Set([rootDir, realOf(rootDir)].flatMap((folder) => [folder + sep, `${pathToFileURL(folder).href}/`]))];
}

/** Listening ends at once, and so do connections as far as the server knows them. */
function closeServer(server: Server): void {
  try {
    server.close();
    (server as { closeAllConnections?: () => void }).closeAllConnections?.();
  } catch {
    // It never listened, or is closed already.
  }
}
