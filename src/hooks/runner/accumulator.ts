import { messageOf } from "../../base/errors.ts";
import type { HookSpec } from "../spec.ts";
import { isRecord } from "../view/plain.ts";
import { logOnce, EntryComplaints, noteFailure, type Engine } from "./engine.ts";
import type { Entry } from "./entry.ts";
import { EventTemplate, shownEvent, type Fields } from "./handler-input.ts";
import { Merged, MergedEnvironment } from "./merge.ts";
import { readResult, UnfitResult } from "./results.ts";
import type { HookCallOutcome } from "./stats.ts";

/** State of a dispatch of a deciding hook: the results so far, and the event for the next handler. */
export class Accumulator {
  readonly engine: Engine;
  readonly spec: HookSpec;
  /** The event for the next handler. */
  template: EventTemplate;
  /** Later results are ignored. */
  ended = false;
  private merged: Merged | undefined = undefined;
  private environment: MergedEnvironment | undefined = undefined;

  constructor(engine: Engine, spec: HookSpec, event: Fields) {
    this.engine = engine;
    this.spec = spec;
    this.template = new EventTemplate(spec, shownEvent(spec, event));
  }

  /** Adds a handler's result. */
  take(entry: Entry, raw: unknown): HookCallOutcome {
    if (raw === undefined || raw === null) return "ok";
    const complaints = new EntryComplaints(this.engine, entry);
    try {
      if (this.spec.environment) return this.takeEnvironment(entry, raw, complaints);
      const result = readResult(this.spec, raw, entry.injects, complaints);
      if (!result) return complaints.heard ? "ignored" : "ok";
      this.merged ??= new Merged(this.spec);
      const rewritten = this.merged.add(result, entry.pluginId, this.template.event, (field, owner) => complaints.frozen(field, owner));
      if (rewritten) this.template = new EventTemplate(this.spec, { ...this.template.event, ...rewritten });
      if (result.terminal) this.ended = true;
      return "decided";
    } catch (error) {
      return this.unfit(entry, error);
    }
  }

  /** A handler threw or timed out where that blocks. */
  block(entry: Entry, why: string): void {
    const reason = this.spec.sensitive ? `the plugin ${entry.pluginId} could not check this` : `the plugin ${entry.pluginId} ${why}`;
    (this.merged ??= new Merged(this.spec)).block(reason, entry.pluginId);
    this.ended = true;
  }

  outcome(): unknown {
    return this.spec.environment ? this.environment?.outcome() : this.merged?.outcome();
  }

  private takeEnvironment(entry: Entry, raw: unknown, complaints: EntryComplaints): HookCallOutcome {
    if (!isRecord(raw)) {
      complaints.wrong(undefined, "an object of strings");
      return "ignored";
    }
    const dropped = (this.environment ??= new MergedEnvironment()).add(raw);
    for (const name of dropped) {
      entry.tally.ignored += 1;
      logOnce(this.engine, entry, `variable ${name}`, `the variable ${name} of its ${entry.hook} handler is dropped: plugins may not set it`);
    }
    return "decided";
  }

  private unfit(entry: Entry, error: unknown): HookCallOutcome {
    if (error instanceof UnfitResult) {
      this.block(entry, `returned something from ${entry.hook} that is not a decision: ${error.message}`);
      return "decided";
    }
    // A getter that throws, or a cycle: the handler's own fault.
    noteFailure(this.engine, entry, error);
    if (this.spec.onThrow === "block") this.block(entry, `failed in ${entry.hook}: ${messageOf(error)}`);
    return "failed";
  }
}
