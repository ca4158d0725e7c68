import { messageOf } from "../../base/errors.ts";
import type { HookRunOptions } from "../hooks.ts";
import type { HookSpec } from "../spec.ts";
import { Accumulator } from "./accumulator.ts";
import { Call, type Dispatch } from "./call.ts";
import { isThenable, noteFailure, noteTimeout, settleOnce, trace, type Engine } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { ContextTemplate, type Fields } from "./handler-input.ts";

/** One dispatch of a deciding hook: handler after handler, awaiting only asynchronous ones. */
export class Decision implements Dispatch {
  readonly signal: AbortSignal | undefined;
  private readonly engine: Engine;
  private readonly entries: readonly Entry[];
  private readonly ctx: ContextTemplate;
  private readonly options: HookRunOptions | undefined;
  private readonly results: Accumulator;
  private index = 0;
  /** Monotonic milliseconds at which the last handler ended. */
  private now: number;
  private resolve: ((outcome: unknown) => void) | undefined = undefined;
  private reject: ((error: unknown) => void) | undefined = undefined;

  constructor(engine: Engine, spec: HookSpec, entries: readonly Entry[], event: Fields, ctx: Fields, options: HookRunOptions | undefined) {
    this.engine = engine;
    this.entries = entries;
    this.options = options;
    this.ctx = new ContextTemplate(spec, ctx, options?.signal);
    this.signal = this.ctx.signal;
    this.results = new Accumulator(engine, spec, event);
    this.now = engine.clock.monotonic();
  }

  start(): unknown {
    if (this.advance()) return this.results.outcome();
    return new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  timedOut(call: Call): void {
    const { entry } = call;
    this.now = this.engine.clock.monotonic();
    entry.tally.time(this.now - call.started);
    noteTimeout(this.engine, entry);
    trace(this.options, entry, this.now - call.started, "timeout");
    if (entry.blocksOnTimeout) this.results.block(entry, `took longer than ${entry.budgetMs} ms in ${entry.hook}`);
    this.proceed();
  }

  /** Calls handlers until one has to be awaited. True when all are done. */
  private advance(): boolean {
    const { engine, entries, results } = this;
    while (!results.ended) {
      const entry = entries[this.index];
      if (!entry) break;
      this.index += 1;
      if (entry.filter && !entry.filter(results.template.event, this.ctx.ctx)) {
        entry.tally.filtered += 1;
        continue;
      }
      entry.apply(engine.settings(entry.pluginId));
      entry.tally.calls += 1;
      const call = new Call(entry, this, this.now);
      try {
        const raw = entry.handler(results.template.for(entry), this.ctx.for(call));
        if (isThenable(raw)) {
          this.wait(call, raw);
          return false;
        }
        this.settled(call, raw);
      } catch (error) {
        this.failed(call, error);
      }
    }
    return true;
  }

  private wait(call: Call, raw: PromiseLike<unknown>): void {
    const promise = Promise.resolve(raw);
    this.engine.budgets.start(call, call.entry.budgetMs, call.started);
    settleOnce(
      promise,
      (value) => {
        if (call.over) return;
        this.engine.budgets.end(call);
        this.settled(call, value);
        this.proceed();
      },
      (error: unknown) => {
        if (call.over) {
          call.entry.tally.lateFailures += 1;
          return;
        }
        this.engine.budgets.end(call);
        this.failed(call, error);
        this.proceed();
      },
    );
  }

  private settled(call: Call, raw: unknown): void {
    const { entry } = call;
    this.now = this.engine.clock.monotonic();
    const ms = this.now - call.started;
    entry.tally.time(ms);
    const outcome = this.results.take(entry, raw);
    if (this.options?.trace) trace(this.options, entry, ms, outcome);
  }

  private failed(call: Call, error: unknown): void {
    const { entry } = call;
    this.now = this.engine.clock.monotonic();
    entry.tally.time(this.now - call.started);
    noteFailure(this.engine, entry, error);
    trace(this.options, entry, this.now - call.started, "failed");
    if (entry.spec.onThrow === "block") this.results.block(entry, `failed in ${entry.hook}: ${messageOf(error)}`);
  }

  private proceed(): void {
    try {
      if (!this.advance()) return;
      this.resolve?.(this.results.outcome());
    } catch (error) {
      // The host's own event could not be read; no handler is at fault.
      this.reject?.(error);
    }
  }
}
