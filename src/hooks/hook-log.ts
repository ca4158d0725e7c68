import type { HookName } from "./events/index.ts";
import type { HookRunOptions, Hooks } from "./hooks.ts";
import { HOOKS } from "./catalog.ts";
import type { HookCallOutcome, HookTraceRecord } from "./runner/stats.ts";

/** The result of one plugin's handler, small enough to be stored with its turn or message. */
export interface HookLogEntry {
  readonly hook: string;
  /** When the dispatch ended. */
  readonly at: number;
  readonly pluginId: string;
  readonly ms: number;
  readonly decision: HookCallOutcome;
  /** The decision, for people: `block: not on sundays`. */
  readonly said?: string;
}

/** Hooks that log their results. */
export interface HookLog {
  readonly hooks: Pick<Hooks, "has" | "run">;
  /** In the order in which handlers ended, at most 50. */
  readonly entries: readonly HookLogEntry[];
  add(entries: readonly HookLogEntry[]): void;
}

const MOST = 50;
const SAID_CHARS = 200;
const REASONS = ["blockReason", "cancelReason", "reason"] as const;

/** Wraps hooks so that results of deciding handlers are logged. Costs nothing without handlers. */
export function createHookLog(hooks: Pick<Hooks, "has" | "run">, now: () => number): HookLog {
  const entries: HookLogEntry[] = [];
  const add = (more: readonly HookLogEntry[]): void => void entries.push(...more.slice(0, MOST - entries.length));
  const run = (hook: HookName, event: never, ctx: never, options: HookRunOptions = {}): unknown => {
    const { mode } = HOOKS[hook];
    if (mode === "observe" || entries.length >= MOST) return hooks.run(hook, event, ctx, options);
    const trace = options.trace ?? [];
    const from = trace.length;
    const outcome: unknown = hooks.run(hook, event, ctx, { ...options, trace });
    // Synchronous handlers run for every line of a transcript: only their changes are worth logging.
    const note = (said: unknown): void => add(hookLogEntries(trace.slice(from), said, now()).filter(({ decision }) => mode === "decide" || decision !== "ok"));
    if (!(outcome instanceof Promise)) {
      note(outcome);
      return outcome;
    }
    return outcome.then((said: unknown) => {
      note(said);
      return said;
    });
  };
  return { hooks: { has: (hook, ctx) => hooks.has(hook, ctx), run }, entries, add };
}

/** The trace of one dispatch with its outcome. */
export function hookLogEntries(trace: readonly HookTraceRecord[], outcome: unknown, at: number): readonly HookLogEntry[] {
  const decided = trace.findLastIndex(({ outcome: how, pluginId }) => how === "decided" && isDecider(outcome, pluginId));
  const last = decided === -1 ? trace.findLastIndex(({ outcome: how }) => how === "decided") : decided;
  return trace.map(({ hook, pluginId, ms, outcome: decision }, index) => {
    const said = index === last ? describeOutcome(hook, outcome) : "";
    return { hook, pluginId, at, ms: Math.round(ms * 10) / 10, decision, ...(said === "" ? {} : { said }) };
  });
}

const isDecider = (outcome: unknown, pluginId: string): boolean => (outcome as { readonly decidedBy?: unknown } | undefined)?.decidedBy === pluginId;

/** Names of the fields that were set, and the reason if there is one. Texts of prompts and messages are never included. */
function describeOutcome(hook: string, outcome: unknown): string {
  const { sensitive, environment } = Object.hasOwn(HOOKS, hook) ? HOOKS[hook as HookName] : {};
  if (typeof outcome !== "object" || outcome === null || environment) return "";
  const fields = outcome as Readonly<Record<string, unknown>>;
  const reason = sensitive ? undefined : REASONS.map((name) => fields[name]).find((value) => typeof value === "string");
  const names = Object.keys(fields).filter((name) => name !== "decidedBy" && fields[name] !== false && !(REASONS as readonly string[]).includes(name));
  const words = names.map((name) => (name === "outcome" && typeof fields[name] === "string" ? fields[name] : name)).join(", ");
  return `${words}${typeof reason === "string" ? `: ${reason}` : ""}`.slice(0, SAID_CHARS).toWellFormed();
}
