import { messageOf } from "../../base/errors.ts";
import type { HookRunOptions } from "../hooks.ts";
import { Accumulator } from "./accumulator.ts";
import { complainOnce, isThenable, noteFailure, settleOnce, trace, type Engine } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { PlainContextTemplate, type Fields } from "./handler-input.ts";
import type { HookCallOutcome } from "./stats.ts";

/** Of so many calls one is timed: reading the clock would cost more than the call. A power of two. */
const TIMED_EVERY = 16;

/** One dispatch of a hook whose handlers answer at once. */
export function answerNow(engine: Engine, entries: readonly Entry[], event: Fields, ctx: Fields, options: HookRunOptions | undefined): unknown {
  const results = new Accumulator(engine, entries[0]!.spec, event);
  const context = new PlainContextTemplate(ctx);
  const traced = options?.trace !== undefined;
  /** When the handler before ended, if it was timed. */
  let ended = 0;
  for (let i = 0; i < entries.length && !results.ended; i += 1) {
    const entry = entries[i]!;
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
    const raw = entry.handler(results.template.for(entry), entry.takesContext ? context.copy() : undefined);
    return isThenable(raw) ? ignorePromise(engine, entry, raw) : results.take(entry, raw);
  } catch (error) {
    noteFailure(engine, entry, error);
    if (entry.spec.onThrow === "block") results.block(entry, `failed in ${entry.hook}: ${messageOf(error)}`);
    return "failed";
  }
}

function ignorePromise(engine: Engine, entry: Entry, raw: PromiseLike<unknown>): HookCallOutcome {
  entry.tally.ignored += 1;
  complainOnce(engine, entry, "promise", `its ${entry.hook} handler returned a promise, which is ignored: this hook is answered at once`);
  settleOnce(Promise.resolve(raw), undefined, () => (entry.tally.lateFailures += 1));
  return "ignored";
}
