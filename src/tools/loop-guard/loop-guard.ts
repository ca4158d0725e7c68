import { isRecord } from "../../base/records.ts";
import { createHash } from "node:crypto";
import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { BrokerDeps } from "../broker/broker.ts";
import type { ToolOutcome } from "../tool.ts";
import { loopSettings, type LoopSettings } from "./settings.ts";

/** One call as the guard sees it. */
interface WatchedCall {
  readonly name: string;
  readonly params: unknown;
}

/** The same for calls of one tool with the same arguments, in whatever order these are written. */
function callFingerprint({ name, params }: WatchedCall): string {
  return `${name}:${digest(params)}`;
}

const POLL_FIELDS = ["status", "exitCode", "exitSignal", "aggregated"] as const;
const LOG_FIELDS = ["status", "totalLines", "totalChars", "truncated", "exitCode", "exitSignal"] as const;

/** A call that asks again and again whether something has happened. */
function pollAction({ name, params }: WatchedCall): "poll" | "log" | undefined {
  if (name === "command_status") return "poll";
  const action = name === "process" && isRecord(params) ? params["action"] : undefined;
  return action === "poll" || action === "log" ? action : undefined;
}

/** The same for results that tell the same. What only counts the attempts is left out of polls. */
function outcomeFingerprint(call: WatchedCall, { content, details, isError }: ToolOutcome): string {
  const said = content.map((part) => (part.type === "text" ? part.text : digest(part.data)));
  if (isError) return digest({ error: said });
  const action = pollAction(call);
  if (action === undefined) return digest({ details, said });
  const fields = isRecord(details) ? details : {};
  return digest({ action, said, ...Object.fromEntries((action === "poll" ? POLL_FIELDS : LOG_FIELDS).map((key) => [key, fields[key]])) });
}

function digest(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(value, (_, inner: unknown) => sorted(inner)) ?? "")
    .digest("base64url");
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

export type LoopDetector = "global_circuit_breaker" | "known_poll_no_progress" | "ping_pong" | "generic_repeat";

/** A loop that was seen. Only a critical one is a reason to refuse the call. */
export interface LoopAlarm {
  readonly level: "warning" | "critical";
  readonly detector: LoopDetector;
  /** How often it happened. */
  readonly count: number;
  /** For the model, and for the log. */
  readonly text: string;
}

/** Watches the calls of one run or session for repetition without progress. */
export interface LoopGuard {
  /** To be asked before a call. A warning comes when its threshold is reached and then with every tenth repetition. */
  check(call: WatchedCall): LoopAlarm | undefined;
  /** To be called after it, except for calls that the guard refused. */
  record(call: WatchedCall & { readonly outcome: ToolOutcome }): void;
}

interface Seen {
  readonly call: string;
  readonly name: string;
  readonly outcome: string;
}

const WARN_EVERY = 10;
const MAX_WARNED = 256;

export function createLoopGuard(settings: LoopSettings): LoopGuard {
  const history: Seen[] = [];
  const warned = new Map<string, number>();

  /** Once at the threshold, then every ten. */
  function isDue(key: string, count: number): boolean {
    const last = warned.get(key);
    if (last !== undefined && count >= last && count < last + WARN_EVERY) return false;
    if (warned.size >= MAX_WARNED) warned.clear();
    warned.set(key, count);
    return true;
  }

  return {
    check(call) {
      if (!settings.enabled) return undefined;
      const id = callFingerprint(call);
      const alarm = detect(call, id, history, settings);
      if (alarm?.level !== "warning") return alarm;
      // Of two calls that take turns, either speaks for both.
      const key = alarm.detector === "ping_pong" ? [id, history.at(-1)?.call ?? ""].sort().join(" ") : id;
      return isDue(`${alarm.detector} ${key}`, alarm.count) ? alarm : undefined;
    },
    record({ outcome, ...call }) {
      if (!settings.enabled) return;
      history.push({ call: callFingerprint(call), name: call.name, outcome: outcomeFingerprint(call, outcome) });
      if (history.length > settings.historySize) history.shift();
    },
  };
}

/** The first that applies, in the documented order. */
function detect(call: WatchedCall, id: string, history: readonly Seen[], settings: LoopSettings): LoopAlarm | undefined {
  const { warningThreshold, criticalThreshold, globalCircuitBreakerThreshold, detectors } = settings;
  const { name } = call;
  const same = sameOutcomes(history, id);
  if (same >= globalCircuitBreakerThreshold) {
    const text = `${name} was called ${same} times with the same arguments and gave the same result each time. The call is blocked: try something else, or explain what is blocking you.`;
    return { level: "critical", detector: "global_circuit_breaker", count: same, text };
  }
  const isPoll = pollAction(call) !== undefined;
  if (isPoll && detectors.knownPollNoProgress && same >= warningThreshold) {
    const alarm = { detector: "known_poll_no_progress", count: same } as const;
    if (same < criticalThreshold)
      return { ...alarm, level: "warning", text: `${name} was polled ${same} times without any change; wait longer between the calls` };
    return {
      ...alarm,
      level: "critical",
      text: `${name} was polled ${same} times without any change. The call is blocked: stop polling, and report the progress so far.`,
    };
  }
  const turns = detectors.pingPong ? alternation(history, id) : undefined;
  if (turns && turns.count >= warningThreshold) {
    const alarm = { detector: "ping_pong", count: turns.count } as const;
    const text = `${name} and ${turns.other} alternate for ${turns.count} calls`;
    if (turns.count >= criticalThreshold && turns.noProgress) {
      return {
        ...alarm,
        level: "critical",
        text: `${text} and their results stay the same. The call is blocked: try something else, or explain what is blocking you.`,
      };
    }
    return { ...alarm, level: "warning", text };
  }
  const repeated = history.filter((seen) => seen.call === id).length;
  if (isPoll || !detectors.genericRepeat || repeated < warningThreshold) return undefined;
  return { level: "warning", detector: "generic_repeat", count: repeated, text: `${name} was called ${repeated} times with the same arguments` };
}

/** How often this call gave its latest result, without another one in between. Other calls in between do not count. */
function sameOutcomes(history: readonly Seen[], id: string): number {
  const own = history.filter((seen) => seen.call === id);
  const latest = own.at(-1)?.outcome;
  const other = own.findLastIndex((seen) => seen.outcome !== latest);
  return own.length - 1 - other;
}

/** The calls at the end of the history, this one included, when two take turns and it is the turn of this one. */
function alternation(history: readonly Seen[], id: string): { readonly count: number; readonly other: string; readonly noProgress: boolean } | undefined {
  const last = history.at(-1);
  if (!last || last.call === id) return undefined;
  let from = history.length;
  while (from > 0 && history[from - 1]?.call === ((history.length - from) % 2 === 0 ? last.call : id)) from -= 1;
  const tail = history.slice(from);
  if (tail.length < 2) return undefined;
  const outcomes = (call: string): number => new Set(tail.filter((seen) => seen.call === call).map((seen) => seen.outcome)).size;
  return { count: tail.length + 1, other: last.name, noProgress: outcomes(last.call) === 1 && outcomes(id) === 1 };
}

/** Sessions that are watched at a time; the one that has rested longest is forgotten first. */
const MAX_SESSIONS = 512;

export interface SessionLoopsDeps {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  /** Receives every alarm, for diagnostics. */
  readonly onAlarm?: (alarm: LoopAlarm & { readonly sessionKey: string; readonly tool: string }) => void;
}

/** A guard per session, as the broker takes it: `createBroker({ …, ...sessionLoops({ config, log }) })`. */
export function sessionLoops(deps: SessionLoopsDeps): Required<Pick<BrokerDeps, "loopGuard" | "onOutcome">> {
  const guards = new Map<string, { readonly settings: LoopSettings; readonly guard: LoopGuard; readonly config: OpenClawConfig }>();

  function guardOf(agentId: string, sessionKey: string): LoopGuard | undefined {
    const config = deps.config();
    const known = guards.get(sessionKey);
    if (known?.config === config) {
      guards.delete(sessionKey);
      guards.set(sessionKey, known);
      return known.guard;
    }
    const settings = loopSettings(config, agentId);
    guards.delete(sessionKey);
    if (!settings.enabled) return undefined;
    const guard = known && JSON.stringify(known.settings) === JSON.stringify(settings) ? known.guard : createLoopGuard(settings);
    guards.set(sessionKey, { settings, guard, config });
    const [oldest] = guards.keys();
    if (guards.size > MAX_SESSIONS && oldest !== undefined) guards.delete(oldest);
    return guard;
  }

  return {
    loopGuard({ name, params, context: { agentId, sessionKey } }) {
      const alarm = guardOf(agentId, sessionKey)?.check({ name, params });
      if (!alarm) return undefined;
      deps.log.warn(alarm.text, { sessionKey, tool: name, detector: alarm.detector, level: alarm.level });
      deps.onAlarm?.({ ...alarm, sessionKey, tool: name });
      return alarm.level === "critical" ? alarm.text : undefined;
    },
    onOutcome({ name, params, context: { agentId, sessionKey }, outcome }) {
      guardOf(agentId, sessionKey)?.record({ name, params, outcome });
    },
  };
}
