import type { HookAlias } from "./catalog.ts";
import type { ExecEnvironment } from "./limits.ts";
import type { HookContext, HookEvent, HookHandler, HookName, HookResult, SyncHookName } from "./events/index.ts";
import type { HookOptions } from "./registration.ts";
import type { Breaker, HookStat, HookTraceRecord } from "./runner/stats.ts";

/** Who registers a handler, and how it is to be called. */
export interface HookRegistration extends HookOptions {
  readonly pluginId: string;
  /** The file that registers, for diagnostics. */
  readonly source?: string;
  /** A handler of the host itself: no access check. */
  readonly trusted?: boolean;
}

export interface HookRunOptions {
  /** Receives one record per handler, in the order in which they ended. */
  readonly trace?: HookTraceRecord[];
  /** The run's signal; a handler's signal fires with it. */
  readonly signal?: AbortSignal;
}

/** The merged results of all handlers, and the plugin whose result was terminal or came first. */
export type HookOutcome<K extends HookName> = K extends "resolve_exec_env" ? ExecEnvironment : NonNullable<HookResult<K>> & { readonly decidedBy?: string };

/** One of many calls of a hook. */
export interface HookCall<K extends HookName> {
  readonly event: HookEvent<K>;
  readonly ctx: HookContext<K>;
}

export interface Hooks extends Disposable {
  /**
   * Registers a handler until it is disposed of. A running dispatch is not affected. Throws `INVALID_INPUT` for an unknown hook
   * or a handler that is not a function, `PERMISSION_DENIED` where the operator has not allowed the hook for this plugin.
   */
  on<K extends HookName>(hook: K | HookAlias, handler: HookHandler<K>, registration: HookRegistration): Disposable;
  /** Whether there are handlers. With a context: whether a handler's filter accepts calls with that context. */
  has(hook: HookName, ctx?: object): boolean;
  /** Calls every handler. Returns synchronously when there are no handlers or none is asynchronous; never rejects because of a handler. */
  run<K extends SyncHookName>(hook: K, event: HookEvent<K>, ctx: HookContext<K>, options?: HookRunOptions): HookOutcome<K> | undefined;
  run<K extends HookName>(
    hook: K,
    event: HookEvent<K>,
    ctx: HookContext<K>,
    options?: HookRunOptions,
  ): HookOutcome<K> | undefined | Promise<HookOutcome<K> | undefined>;
  /** Calls an observing hook for each of `calls` and waits `totalMs` for all of them together. Resolves to the number that finished by then. */
  runBounded<K extends HookName>(hook: K, calls: readonly HookCall<K>[], totalMs: number): Promise<{ readonly finished: number; readonly abandoned: number }>;
  /** One row for each plugin and hook that was registered or called. */
  stats(): HookStat[];
  /** Handlers of observing hooks that failed last time, and whether they are skipped. */
  breakers(): Breaker[];
}
