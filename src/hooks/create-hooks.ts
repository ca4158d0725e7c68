import type { Clock } from "../base/clock.ts";
import { createDeadlines, type Deadlines } from "../base/deadlines.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { keysOf } from "../base/records.ts";
import type { Logger } from "../base/log/logger.ts";
import { checkHookAccess } from "./access.ts";
import { HOOKS, requireHookName } from "./catalog.ts";
import type { HookName } from "./events/index.ts";
import { compileFilter } from "./filter.ts";
import type { HookRegistration, HookRunOptions, Hooks } from "./hooks.ts";
import { createBudgets } from "./runner/budgets.ts";
import { Decision } from "./runner/decide.ts";
import { logOnce, isThenable, noteFailure, settleOnce, trace, type Engine } from "./runner/engine.ts";
import { Entry, type AnyHandler } from "./runner/entry.ts";
import { EntryList } from "./runner/entry-list.ts";
import { fieldsOf, PlainContextTemplate, type Fields } from "./runner/handler-input.ts";
import { Observation } from "./runner/observe.ts";
import { Tally, type Breaker, type HookCallOutcome } from "./runner/stats.ts";
import { isBudget, type HookSettings } from "./settings.ts";
import type { HookSpec } from "./spec.ts";
import { Accumulator } from "./runner/accumulator.ts";

/** One of this many calls is timed: reading the clock would cost more than the call. A power of two. */
const TIMED_EVERY = 16;

/** One dispatch of a synchronous hook. */
function runSync(engine: Engine, spec: HookSpec, entries: readonly Entry[], event: Fields, ctx: Fields, options: HookRunOptions | undefined): unknown {
  const results = new Accumulator(engine, spec, event);
  const context = new PlainContextTemplate(ctx);
  const traced = options?.trace !== undefined;
  /** When the previous handler ended, if it was timed. */
  let ended = 0;
  for (const entry of entries) {
    if (results.ended) break;
    const { tally } = entry;
    if (entry.filter && !entry.filter(results.template.event, ctx)) {
      tally.filtered += 1;
      continue;
    }
    entry.apply(engine.settings(entry.pluginId));
    tally.calls += 1;
    if (!traced && (tally.calls & (TIMED_EVERY - 1)) !== 1) {
      answer(engine, entry, results, context);
      ended = 0;
      continue;
    }
    const started = ended || engine.clock.monotonic();
    const outcome = answer(engine, entry, results, context);
    ended = engine.clock.monotonic();
    tally.time(ended - started);
    if (traced) trace(options, entry, ended - started, outcome);
  }
  return results.outcome();
}

function answer(engine: Engine, entry: Entry, results: Accumulator, context: PlainContextTemplate): HookCallOutcome {
  try {
    const raw = entry.handler(results.template.for(entry), context.copy());
    return isThenable(raw) ? ignorePromise(engine, entry, raw) : results.take(entry, raw);
  } catch (error) {
    noteFailure(engine, entry, error);
    if (entry.spec.onThrow === "block") results.block(entry, `failed in ${entry.hook}: ${messageOf(error)}`);
    return "failed";
  }
}

function ignorePromise(engine: Engine, entry: Entry, raw: PromiseLike<unknown>): HookCallOutcome {
  entry.tally.ignored += 1;
  logOnce(engine, entry, "promise", `its ${entry.hook} handler returned a promise, which is ignored: this hook is synchronous`);
  settleOnce(Promise.resolve(raw), undefined, () => (entry.tally.lateFailures += 1));
  return "ignored";
}

export interface HooksDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** The operator's settings for a plugin. Called for every call: must be quick, and return the same object until something changes. */
  readonly settings?: (pluginId: string) => HookSettings;
  /** Shared with others; created when missing. */
  readonly deadlines?: Deadlines;
}

const NO_SETTINGS: HookSettings = {};

/** The runner's parts over shared deadlines. */
export function createEngine({ clock, log, settings, deadlines }: HooksDeps): Engine & { readonly deadlines: Deadlines } {
  const wheel = deadlines ?? createDeadlines({ clock, onError: (error) => log.error(`a hook's deadline failed: ${messageOf(error)}`) });
  return { clock, log, settings: settings ?? (() => NO_SETTINGS), budgets: createBudgets(clock, wheel), deadlines: wheel };
}

/** Validates an author's budget and priority; invalid ones are logged. */
export function readOptions(
  log: Logger,
  hook: string,
  { pluginId, priority, timeoutMs }: HookRegistration,
): { priority: number; authorMs: number | undefined } {
  const warn = (what: string, value: unknown, instead: string) =>
    log.warn(`plugin ${pluginId}: the ${what} ${String(value)} of its ${hook} handler is ignored: ${instead}`, { pluginId, hook });
  const orderly = typeof priority === "number" && !Number.isNaN(priority);
  if (priority !== undefined && !orderly) warn("priority", priority, "expected a number");
  if (timeoutMs !== undefined && !isBudget(timeoutMs)) warn("timeoutMs", timeoutMs, "expected a whole number from 1 to 600000");
  return { priority: orderly ? priority : 0, authorMs: isBudget(timeoutMs) ? timeoutMs : undefined };
}

export function createHooks(deps: HooksDeps): Hooks {
  const engine = createEngine(deps);
  const { clock, log } = engine;
  const lists = Object.fromEntries(keysOf(HOOKS).map((name) => [name, new EntryList()])) as Record<HookName, EntryList>;
  const tallies = new Map<string, { readonly pluginId: string; readonly hook: HookName; readonly tally: Tally }>();

  function tallyOf(pluginId: string, hook: HookName): Tally {
    const key = `${hook}\0${pluginId}`;
    let row = tallies.get(key);
    if (!row) tallies.set(key, (row = { pluginId, hook, tally: new Tally() }));
    return row.tally;
  }

  function on(name: string, handler: unknown, registration: HookRegistration): Disposable {
    const hook = requireHookName(name);
    const { pluginId, source, trusted } = registration;
    if (typeof handler !== "function") {
      throw new AppError("INVALID_INPUT", `the ${hook} handler of ${pluginId} must be a function, but is ${typeof handler}`, { details: { pluginId, hook } });
    }
    const refused = trusted ? undefined : checkHookAccess(hook, engine.settings(pluginId), pluginId);
    if (refused) throw new AppError("PERMISSION_DENIED", refused, { details: { pluginId, hook } });
    const tally = tallyOf(pluginId, hook);
    const order = readOptions(log, hook, registration);
    const facts = { hook, spec: HOOKS[hook], handler: handler as AnyHandler, pluginId, source, filter: compileFilter(registration), tally, ...order };
    const entry = new Entry(facts);
    lists[hook].add(entry);
    tally.handlers += 1;
    return {
      [Symbol.dispose]() {
        if (lists[hook].remove(entry)) tally.handlers -= 1;
      },
    };
  }

  function run(hook: HookName, event: unknown, ctx: unknown, options?: HookRunOptions): unknown {
    const entries = lists[hook].sorted();
    if (entries.length === 0) return undefined;
    const spec = HOOKS[hook];
    const [fields, context] = [fieldsOf(event), fieldsOf(ctx)];
    if (spec.mode === "sync") return runSync(engine, spec, entries, fields, context, options);
    if (spec.mode === "decide") return new Decision(engine, spec, entries, fields, context, options).start();
    return new Observation(engine, spec, entries, fields, context, options).start();
  }

  function breakers(): Breaker[] {
    const now = clock.monotonic();
    return keysOf(lists).flatMap((hook) => lists[hook].sorted().flatMap((entry) => breakerOf(hook, entry, now, clock.now())));
  }

  return {
    on,
    has(hook, ctx) {
      if (ctx === undefined || lists[hook].size === 0) return lists[hook].size > 0;
      return lists[hook].sorted().some(({ filter }) => filter === undefined || filter({}, fieldsOf(ctx)));
    },
    run,
    runBounded: (hook, calls, totalMs) => bounded(engine.deadlines, calls, totalMs, ({ event, ctx }) => run(hook, event, ctx)),
    stats: () => [...tallies.values()].map(({ pluginId, hook, tally }) => tally.row(pluginId, hook)),
    breakers,
    [Symbol.dispose]() {
      if (!deps.deadlines) engine.deadlines[Symbol.dispose]();
    },
  };
}

function breakerOf(hook: HookName, entry: Entry, now: number, time: number): Breaker[] {
  if (entry.spec.mode !== "observe" || entry.broken === 0) return [];
  const state = entry.openUntil === 0 ? "counting" : now < entry.openUntil && entry.openUntil !== Infinity ? "open" : "trial";
  const facts = { pluginId: entry.pluginId, hook, state, failures: entry.broken } as const;
  return [
    { ...facts, ...(entry.source === undefined ? {} : { source: entry.source }), ...(state === "open" ? { retryAt: time + entry.openUntil - now } : {}) },
  ];
}

/** Starts all calls and waits at most this long for all of them together. */
function bounded<T>(deadlines: Deadlines, items: readonly T[], totalMs: number, start: (item: T) => unknown): Promise<{ finished: number; abandoned: number }> {
  return new Promise((resolve) => {
    let finished = 0;
    const answer = () => resolve({ finished, abandoned: items.length - finished });
    const deadline = deadlines.after(totalMs, answer);
    const one = () => {
      finished += 1;
      if (finished < items.length) return;
      deadline[Symbol.dispose]();
      answer();
    };
    for (const item of items) Promise.resolve(start(item)).then(one, one);
    if (items.length === 0) answer();
  });
}
