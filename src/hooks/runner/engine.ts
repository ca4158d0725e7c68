import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { findStackLocation } from "../../base/stack-location.ts";
import type { HookRunOptions } from "../hooks.ts";
import type { HookSettings } from "../settings.ts";
import type { Budgets } from "./budgets.ts";
import type { Entry } from "./entry.ts";
import type { Complaints } from "./results.ts";
import type { HookCallOutcome } from "./stats.ts";

/** Shared by every dispatch. */
export interface Engine {
  readonly clock: Clock;
  readonly log: Logger;
  readonly budgets: Budgets;
  readonly settings: (pluginId: string) => HookSettings;
}

const facts = (entry: Entry) => ({ pluginId: entry.pluginId, hook: entry.hook, ...(entry.source === undefined ? {} : { source: entry.source }) });

/** Where a handler threw, inside its plugin's folder. */
function findLocation({ source }: Entry, error: unknown): { readonly source?: string; readonly line?: number } {
  const folder = source?.slice(0, source.lastIndexOf("/"));
  const found = findStackLocation(error, folder);
  return found && folder !== undefined && found.file.startsWith(`${folder}/`) ? { source: found.file, line: found.line } : {};
}

/** Counts and logs a thrown error. Errors of sensitive hooks are not logged. */
export function noteFailure(engine: Engine, entry: Entry, error: unknown): void {
  entry.tally.failures += 1;
  const at = { ...facts(entry), ...findLocation(entry, error) };
  if (entry.spec.sensitive) {
    engine.log.error(`plugin ${entry.pluginId}: its ${entry.hook} handler failed; its error may contain private text and is not logged`, at);
    return;
  }
  const text = messageOf(error);
  entry.tally.lastError = text;
  engine.log.error(`plugin ${entry.pluginId}: its ${entry.hook} handler failed: ${text}`, at);
}

/** Counts and logs a timeout. */
export function noteTimeout(engine: Engine, entry: Entry): void {
  entry.tally.timeouts += 1;
  const level = entry.spec.onTimeout === "skip" ? "warn" : "error";
  const end = entry.blocksOnTimeout ? "this counts as a block" : "it was abandoned and its result will be ignored";
  const text = `plugin ${entry.pluginId}: its ${entry.hook} handler took longer than ${entry.budgetMs} ms; ${end}`;
  if (!entry.spec.sensitive) entry.tally.lastError = `took longer than ${entry.budgetMs} ms`;
  engine.log[level](text, { ...facts(entry), budgetMs: entry.budgetMs });
}

/** Logs a problem with a handler the first time it happens. */
export function logOnce(engine: Engine, entry: Entry, key: string, text: string): void {
  const logged = (entry.complaints ??= new Set());
  if (logged.has(key)) return;
  logged.add(key);
  engine.log.warn(`plugin ${entry.pluginId}: ${text}`, facts(entry));
}

/** Problems with one handler's result. */
export class EntryComplaints implements Complaints {
  private readonly engine: Engine;
  private readonly entry: Entry;
  /** A problem was reported. */
  heard = false;

  constructor(engine: Engine, entry: Entry) {
    this.engine = engine;
    this.entry = entry;
  }

  wrong(field: string | undefined, expected: string): void {
    this.heard = true;
    this.entry.tally.ignored += 1;
    const what = field === undefined ? "result" : `result's ${field}`;
    logOnce(this.engine, this.entry, `wrong ${field}`, `its ${this.entry.hook} handler's ${what} is ignored: expected ${expected}`);
  }

  dropped(field: string): void {
    this.heard = true;
    this.entry.tally.dropped += 1;
    const key = `plugins.entries.${this.entry.pluginId}.hooks.allowPromptInjection`;
    logOnce(this.engine, this.entry, `dropped ${field}`, `the ${field} of its ${this.entry.hook} handler is dropped, since ${key} is false`);
  }

  frozen(field: string, owner: string): void {
    this.heard = true;
    this.entry.tally.ignored += 1;
    logOnce(
      this.engine,
      this.entry,
      `frozen ${field}`,
      `the ${field} of its ${this.entry.hook} handler is ignored: ${owner} has the operator asked about the call as it was`,
    );
  }
}

export function trace(options: HookRunOptions | undefined, entry: Entry, ms: number, outcome: HookCallOutcome): void {
  options?.trace?.push({ hook: entry.hook, pluginId: entry.pluginId, ms, outcome });
}

/** Whether a value has to be awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Uses the platform's own `then`: one that a plugin replaced could call back synchronously, or twice. */
export function settleOnce(promise: Promise<unknown>, onValue: ((value: unknown) => void) | undefined, onError: (error: unknown) => void): void {
  void Promise.prototype.then.call(promise, onValue, onError);
}
