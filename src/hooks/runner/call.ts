import { AppError } from "../../base/errors.ts";
import type { Budgeted } from "./budgets.ts";
import type { Entry } from "./entry.ts";

/** The part of a dispatch that one of its calls needs. */
export interface Dispatch {
  /** The run's signal. */
  readonly signal: AbortSignal | undefined;
  timedOut(call: Call): void;
}

/** One call of one handler. */
export class Call implements Budgeted {
  readonly entry: Entry;
  readonly dispatch: Dispatch;
  /** Monotonic milliseconds. */
  readonly started: number;
  due = 0;
  lane: Budgeted["lane"] = undefined;
  before: Budgeted | undefined = undefined;
  after: Budgeted | undefined = undefined;
  /** Abandoned: later results are ignored. */
  over = false;
  private controller: AbortController | undefined = undefined;
  private joined: AbortSignal | undefined = undefined;

  constructor(entry: Entry, dispatch: Dispatch, started: number) {
    this.entry = entry;
    this.dispatch = dispatch;
    this.started = started;
  }

  /** Fires when the budget is used up or the run ends. Created on first use. */
  get signal(): AbortSignal {
    if (this.joined) return this.joined;
    this.controller = new AbortController();
    if (this.over) this.abort();
    const { signal } = this.dispatch;
    return (this.joined = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal);
  }

  expire(): void {
    this.over = true;
    this.abort();
    this.dispatch.timedOut(this);
  }

  private abort(): void {
    const { hook, pluginId, budgetMs } = this.entry;
    this.controller?.abort(
      new AppError("TIMEOUT", `${hook} of ${pluginId} had ${budgetMs} ms; raise plugins.entries.${pluginId}.hooks.timeouts.${hook} if it needs more`),
    );
  }
}
