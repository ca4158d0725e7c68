import type { HookSpec } from "../spec.ts";
import { isBudget, type HookSettings } from "../settings.ts";
import type { FilterCheck } from "../filter.ts";
import { isolate } from "../view/view.ts";
import type { Tally } from "./stats.ts";

/** A handler as the runner calls it. */
export type AnyHandler = (event: unknown, ctx: unknown) => unknown;

export interface EntryFacts {
  readonly hook: string;
  readonly spec: HookSpec;
  readonly handler: AnyHandler;
  readonly pluginId: string;
  readonly source: string | undefined;
  readonly priority: number;
  readonly authorMs: number | undefined;
  readonly filter: FilterCheck | undefined;
  readonly tally: Tally;
}

/** Failures in a row after which an observing handler is skipped. */
const BREAK_AFTER = 3;
/** Milliseconds for which it is skipped. */
const BREAK_MS = 60_000;

/** One registered handler with the operator's settings. */
export class Entry {
  readonly hook: string;
  readonly spec: HookSpec;
  readonly handler: AnyHandler;
  readonly pluginId: string;
  readonly source: string | undefined;
  readonly priority: number;
  readonly filter: FilterCheck | undefined;
  readonly tally: Tally;
  budgetMs = 0;
  blocksOnTimeout = false;
  injects = true;
  /** The plugin's configuration, copied for this handler. */
  config: unknown = undefined;
  /** In a row. */
  broken = 0;
  /** Monotonic milliseconds; 0 while closed, infinite during a trial. */
  openUntil = 0;
  /** Problems that were already logged. */
  complaints: Set<string> | undefined = undefined;
  private settings: HookSettings | undefined = undefined;
  private readonly authorMs: number | undefined;

  constructor(facts: EntryFacts) {
    this.hook = facts.hook;
    this.spec = facts.spec;
    this.handler = facts.handler;
    this.pluginId = facts.pluginId;
    this.source = facts.source;
    this.priority = facts.priority;
    this.authorMs = facts.authorMs;
    this.filter = facts.filter;
    this.tally = facts.tally;
  }

  /** Applies the operator's settings, if they changed. */
  apply(settings: HookSettings): void {
    if (settings === this.settings) return;
    this.settings = settings;
    this.budgetMs = [settings.timeouts?.[this.hook], settings.timeoutMs, this.authorMs].find(isBudget) ?? this.spec.budgetMs;
    this.blocksOnTimeout = this.spec.onTimeout === "block" || (this.spec.onTimeout === "operator" && settings.failClosed === true);
    this.injects = settings.allowPromptInjection !== false;
    this.config = isolate(settings.pluginConfig);
  }

  /** Whether the breaker allows a call; the first one after the pause is the trial. */
  admits(now: number): boolean {
    if (this.openUntil === 0) return true;
    if (now < this.openUntil) return false;
    this.openUntil = Infinity;
    return true;
  }

  succeeded(): void {
    this.broken = 0;
    this.openUntil = 0;
  }

  failed(now: number): void {
    this.broken += 1;
    if (this.broken >= BREAK_AFTER) this.openUntil = now + BREAK_MS;
  }
}
