import { describe, expect, test } from "vitest";
import { silentLogger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { failedOutcome, textOutcome, type ToolContext, type ToolOutcome } from "../tool.ts";
import { createLoopGuard, sessionLoops, type LoopAlarm } from "./loop-guard.ts";
import { LOOP_DEFAULTS, loopSettings, type LoopSettings } from "./settings.ts";

interface Step {
  readonly name: string;
  readonly params: unknown;
  readonly outcome: ToolOutcome;
}

const ON: LoopSettings = { ...LOOP_DEFAULTS, enabled: true };
const READ: Step = { name: "read", params: { path: "a" }, outcome: textOutcome("same") };
const LIST: Step = { name: "ls", params: { path: "." }, outcome: textOutcome("a") };
const POLL: Step = { name: "process", params: { action: "poll", sessionId: "x" }, outcome: textOutcome("(no new output)", { status: "running" }) };
const times = (count: number, step: (at: number) => Step): readonly Step[] => Array.from({ length: count }, (_, at) => step(at));
const turns = (count: number, other: Step = LIST): readonly Step[] => times(count, (at) => (at % 2 === 0 ? READ : other));

/** What is said before each call that has an alarm: at which call, how loud, by whom. */
function alarms(steps: readonly Step[], settings = ON): readonly string[] {
  const guard = createLoopGuard(settings);
  const said: string[] = [];
  for (const [at, step] of steps.entries()) {
    const alarm = guard.check(step);
    if (alarm) said.push(`${at}: ${alarm.level} ${alarm.detector} ${alarm.count}`);
    if (alarm?.level !== "critical") guard.record(step);
  }
  return said;
}

describe("what counts as a loop", () => {
  test.each<[string, readonly Step[], readonly string[]]>([
    ["nine times the same call is none", times(10, () => READ), []],
    ["ten times is reported, and again after ten more", times(30, () => READ), ["10: warning generic_repeat 10", "20: warning generic_repeat 20"]],
    [
      "thirty times with the same result is blocked, and stays so",
      times(32, () => READ),
      ["10: warning generic_repeat 10", "20: warning generic_repeat 20", "30: critical global_circuit_breaker 30", "31: critical global_circuit_breaker 30"],
    ],
    [
      "with other results it is never blocked",
      times(60, (at) => ({ ...READ, outcome: textOutcome(`${at}`) })),
      ["10: warning generic_repeat 10", "20: warning generic_repeat 20", "30: warning generic_repeat 30"],
    ],
    ["other arguments are another call", times(60, (at) => ({ ...READ, params: { path: `${at}` } })), []],
    [
      "the order of arguments does not matter",
      times(11, (at) => ({ ...READ, params: at % 2 === 0 ? { a: 1, b: { c: 2, d: 3 } } : { b: { d: 3, c: 2 }, a: 1 } })),
      ["10: warning generic_repeat 10"],
    ],
    [
      "polling without progress is reported after ten and blocked after twenty",
      times(22, () => POLL),
      ["10: warning known_poll_no_progress 10", "20: critical known_poll_no_progress 20", "21: critical known_poll_no_progress 20"],
    ],
    ["polling with progress is none", times(60, (at) => ({ ...POLL, outcome: textOutcome("new", { status: "running", aggregated: "x".repeat(at) }) })), []],
    [
      "what only counts attempts is no progress",
      times(11, (at) => ({ ...POLL, outcome: textOutcome("(no new output)", { status: "running", retryInMs: at }) })),
      ["10: warning known_poll_no_progress 10"],
    ],
    [
      "reading the same log is polling too",
      times(11, () => ({ name: "process", params: { action: "log", sessionId: "x" }, outcome: textOutcome("l", { totalLines: 1 }) })),
      ["10: warning known_poll_no_progress 10"],
    ],
    ["two alternating calls are reported after ten and blocked after twenty", turns(20), ["9: warning ping_pong 10", "19: critical ping_pong 20"]],
    [
      "while one of them gives new results they are not blocked",
      times(24, (at) => (at % 2 === 0 ? READ : { ...LIST, outcome: textOutcome(`${at}`) })),
      ["9: warning ping_pong 10", "19: warning ping_pong 20"],
    ],
    ["a third call in between ends the turns", [...turns(8), POLL, ...turns(8)], []],
    [
      "failures with the same words are the same result",
      times(31, (at) => ({ ...READ, outcome: failedOutcome("no", { at }) })),
      ["10: warning generic_repeat 10", "20: warning generic_repeat 20", "30: critical global_circuit_breaker 30"],
    ],
  ])("%s", (_, steps, expected) => {
    expect(alarms(steps)).toEqual(expected);
  });

  test("nothing is watched by default, and each pattern can be left out", () => {
    expect(
      alarms(
        times(60, () => READ),
        LOOP_DEFAULTS,
      ),
    ).toEqual([]);
    const without = (detector: keyof LoopSettings["detectors"]): LoopSettings => ({ ...ON, detectors: { ...ON.detectors, [detector]: false } });
    expect(
      alarms(
        times(29, () => READ),
        without("genericRepeat"),
      ),
    ).toEqual([]);
    expect(
      alarms(
        times(29, () => POLL),
        without("knownPollNoProgress"),
      ),
    ).toEqual([]);
    expect(alarms(turns(18), without("pingPong"))).toEqual([]);
    expect(
      alarms(
        times(31, () => POLL),
        without("knownPollNoProgress"),
      ),
    ).toEqual(["30: critical global_circuit_breaker 30"]);
  });

  test("only the last calls are looked at", () => {
    const mixed = times(90, (at) => (at % 10 === 0 ? READ : { ...READ, params: { path: `${at}` } }));
    expect(alarms(mixed)).toEqual([]);
  });
});

describe("the settings", () => {
  test.each<[string, OpenClawConfig, Partial<LoopSettings>]>([
    ["have defaults", {}, LOOP_DEFAULTS],
    [
      "an agent's own stand before the general ones, key by key",
      {
        tools: { loopDetection: { enabled: true, warningThreshold: 3, detectors: { pingPong: false } } },
        agents: { list: [{ id: "Main", tools: { loopDetection: { warningThreshold: 5, detectors: { genericRepeat: false } } } }] },
      },
      { enabled: true, warningThreshold: 5, detectors: { genericRepeat: false, knownPollNoProgress: true, pingPong: false } },
    ],
    [
      "thresholds rise, and the window is long enough for them",
      { tools: { loopDetection: { warningThreshold: 40, historySize: 5 } } },
      {
        warningThreshold: 40,
        criticalThreshold: 41,
        globalCircuitBreakerThreshold: 42,
        historySize: 42,
      },
    ],
  ])("%s", (_, config, expected) => {
    expect(loopSettings(config, "main")).toMatchObject(expected);
  });
});

describe("in the broker", () => {
  const context = (sessionKey: string): ToolContext => ({ agentId: "main", sessionKey, sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false });

  test("sessions are watched separately, warnings are only reported, and a critical alarm is the text that blocks", () => {
    const alarms: (LoopAlarm & { readonly sessionKey: string })[] = [];
    let config: OpenClawConfig = { tools: { loopDetection: { enabled: true, warningThreshold: 1, criticalThreshold: 2, globalCircuitBreakerThreshold: 3 } } };
    const { loopGuard, onOutcome } = sessionLoops({ config: () => config, log: silentLogger, onAlarm: (alarm) => alarms.push(alarm) });
    const call = (key: string): string | undefined => {
      const said = loopGuard({ ...READ, context: context(key) });
      if (said === undefined) onOutcome({ ...READ, context: context(key) });
      return said;
    };
    expect([call("a"), call("a"), call("b"), call("a")]).toEqual([undefined, undefined, undefined, undefined]);
    expect(call("a")).toMatch(/^read was called 3 times .* blocked/);
    expect(alarms.map(({ sessionKey, level }) => `${sessionKey} ${level}`)).toEqual(["a warning", "a critical"]);
    config = { ...config, logging: {} };
    expect(call("a"), "another configuration with the same settings forgets nothing").toMatch(/blocked/);
    config = {};
    expect(call("a"), "switched off").toBeUndefined();
  });
});
