import type { HookRunOptions } from "../hooks.ts";
import type { HookSpec } from "../spec.ts";
import { Call, type Dispatch } from "./call.ts";
import { isThenable, noteFailure, noteTimeout, settleOnce, trace, type Engine } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { ContextTemplate, EventTemplate, type Fields } from "./handler-input.ts";

/** One dispatch of an observing hook: all handlers are started in order and run concurrently. */
export class Observation implements Dispatch {
  readonly signal: AbortSignal | undefined;
  private readonly engine: Engine;
  private readonly entries: readonly Entry[];
  private readonly event: EventTemplate;
  private readonly ctx: ContextTemplate;
  private readonly options: HookRunOptions | undefined;
  /** Handlers that are awaited. */
  private open = 0;
  private resolve: ((outcome: undefined) => void) | undefined = undefined;

  constructor(engine: Engine, spec: HookSpec, entries: readonly Entry[], event: Fields, ctx: Fields, options: HookRunOptions | undefined) {
    this.engine = engine;
    this.entries = entries;
    this.event = new EventTemplate(spec, event);
    this.ctx = new ContextTemplate(spec, ctx, options?.signal);
    this.options = options;
    this.signal = this.ctx.signal;
  }

  start(): undefined | Promise<undefined> {
    const { engine } = this;
    let now = engine.clock.monotonic();
    for (const entry of this.entries) {
      if (entry.filter && !entry.filter(this.event.event, this.ctx.ctx)) {
        entry.tally.filtered += 1;
        continue;
      }
      if (!entry.admits(now)) {
        entry.tally.skipped += 1;
        trace(this.options, entry, 0, "skipped");
        continue;
      }
      entry.apply(engine.settings(entry.pluginId));
      entry.tally.calls += 1;
      const call = new Call(entry, this, now);
      try {
        const raw = entry.handler(this.event.for(entry), this.ctx.for(call));
        now = engine.clock.monotonic();
        if (isThenable(raw)) this.wait(call, raw);
        else this.ended(call, now);
      } catch (error) {
        now = engine.clock.monotonic();
        this.failed(call, error, now);
      }
    }
    if (this.open === 0) return undefined;
    return new Promise((resolve) => (this.resolve = resolve));
  }

  timedOut(call: Call): void {
    const { entry } = call;
    const now = this.engine.clock.monotonic();
    entry.tally.time(now - call.started);
    entry.failed(now);
    noteTimeout(this.engine, entry);
    trace(this.options, entry, now - call.started, "timeout");
    this.close();
  }

  private wait(call: Call, raw: PromiseLike<unknown>): void {
    const promise = Promise.resolve(raw);
    this.open += 1;
    this.engine.budgets.start(call, call.entry.budgetMs, call.started);
    settleOnce(
      promise,
      () => {
        if (call.over) return;
        this.engine.budgets.end(call);
        this.ended(call, this.engine.clock.monotonic());
        this.close();
      },
      (error: unknown) => {
        if (call.over) {
          call.entry.tally.lateFailures += 1;
          return;
        }
        this.engine.budgets.end(call);
        this.failed(call, error, this.engine.clock.monotonic());
        this.close();
      },
    );
  }

  private ended(call: Call, now: number): void {
    call.entry.tally.time(now - call.started);
    call.entry.succeeded();
    if (this.options?.trace) trace(this.options, call.entry, now - call.started, "ok");
  }

  private failed(call: Call, error: unknown, now: number): void {
    call.entry.tally.time(now - call.started);
    call.entry.failed(now);
    noteFailure(this.engine, call.entry, error);
    trace(this.options, call.entry, now - call.started, "failed");
  }

  private close(): void {
    this.open -= 1;
    if (this.open === 0) this.resolve?.(undefined);
  }
}
