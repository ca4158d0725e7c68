import { hash } from "node:crypto";
import { isRecord } from "../base/records.ts";
import type { HookName } from "./events/index.ts";
import type { HookTrace } from "./events/values.ts";
import type { HookRunOptions, Hooks } from "./hooks.ts";
import { HOOKS, resolveHookName } from "./catalog.ts";
import type { HookCallOutcome, HookTraceRecord } from "./runner/stats.ts";
import type { HookSpec } from "./spec.ts";

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
const REASONS: readonly string[] = ["blockReason", "cancelReason", "reason"];

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

const isDecider = (outcome: unknown, pluginId: string): boolean => isRecord(outcome) && outcome["decidedBy"] === pluginId;

/** Names of the fields that were set, and the reason if there is one. Texts of prompts and messages are never included. */
function describeOutcome(hook: string, outcome: unknown): string {
  const name = resolveHookName(hook);
  const { sensitive, environment }: Partial<HookSpec> = name ? HOOKS[name] : {};
  if (!isRecord(outcome) || environment) return "";
  const reason = sensitive ? undefined : REASONS.map((field) => outcome[field]).find((value) => typeof value === "string");
  const fields = Object.entries(outcome).filter(([field, value]) => field !== "decidedBy" && value !== false && !REASONS.includes(field));
  const words = fields.map(([field, value]) => (field === "outcome" && typeof value === "string" ? value : field)).join(", ");
  return `${words}${typeof reason === "string" ? `: ${reason}` : ""}`.slice(0, SAID_CHARS).toWellFormed();
}

/** Ids in the W3C trace context format. They are derived from names: the same message has the same trace in every hook, also after a restart. */
export const traceIdOf = (...names: readonly string[]): string => hash("sha256", names.join("\0"), "hex").slice(0, 32);

const spanIdOf = (traceId: string, name: string): string => hash("sha256", `${traceId}\0${name}`, "hex").slice(0, 16);

/** The span `span` of a trace, inside of `parent`. */
export function hookTrace(traceId: string, span: string, parent?: string): { traceId: string; spanId: string; parentSpanId?: string } {
  const spanId = spanIdOf(traceId, span);
  return { traceId, spanId, ...(parent === undefined ? {} : { parentSpanId: spanIdOf(traceId, parent) }) };
}

/** The span of an inbound message: everything that follows from it is inside. */
export const MESSAGE_SPAN = "message";

/** The tracing fields of message hook contexts. A message from a person or a client has depth 0. */
export function messageTrace(traceId: string, reply = false): HookTrace & { trace: HookTrace; callDepth: number } {
  const trace = reply ? hookTrace(traceId, "reply", MESSAGE_SPAN) : hookTrace(traceId, MESSAGE_SPAN);
  return { ...trace, trace: { ...trace }, callDepth: 0 };
}

/** The hooks of the plugins that run at the moment of each call: plugins come and go while the gateway runs. */
export function currentHooks(current: () => Pick<Hooks, "has" | "run"> | undefined): Pick<Hooks, "has" | "run"> {
  return {
    has: (hook, ctx) => current()?.has(hook, ctx) ?? false,
    run: (...args: Parameters<Hooks["run"]>) => current()?.run(...args),
  };
}
