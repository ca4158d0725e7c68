import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { RunRequest } from "../../conversation/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { beatSession, eventOf, requestOf, skipOf, targetOf, type Beat, type BeatFacts } from "./beat.ts";

const NOON = Date.UTC(2026, 0, 15, 12);
const talks: SessionEntry = { sessionId: "s", updatedAt: 0, deliveryContext: { channel: "telegram", to: "7", accountId: "bot" } };
const config: OpenClawConfig = { channels: { telegram: { botToken: "x" }, irc: {} } };
const beat: Beat = { agentId: "main", sessionKey: "agent:main:main", reason: "interval" };
const facts: BeatFacts = {
  config,
  now: NOON,
  entry: talks,
  pending: [],
  refs: [],
  isBusy: false,
  file: { state: "filled" },
  isUnchanged: false,
  isEdited: false,
  isPaused: false,
};
const set = (heartbeat: object, more: OpenClawConfig = {}): BeatFacts => ({ ...facts, config: { ...config, ...more, agents: { defaults: { heartbeat } } } });
const quiet = set({ activeHours: { start: "08:00", end: "10:00", timezone: "UTC" } });
const hidden: OpenClawConfig = { channels: { ...config.channels, defaults: { heartbeat: { showOk: false, showAlerts: false, useIndicator: false } } } };

test.each([
  ["everything is in order", beat, facts, undefined],
  ["they are paused", beat, { ...facts, isPaused: true }, "disabled"],
  ["they are off", beat, set({ every: "0m" }), "disabled"],
  ["another agent has them", beat, { ...facts, config: { agents: { list: [{ id: "main" }, { id: "other", heartbeat: {} }] } } }, "disabled"],
  ["they are off and something came in", { ...beat, reason: "wake" }, { ...set({ every: "0m" }), pending: ["wake"] }, undefined],
  ["it is too early", beat, quiet, "quiet-hours"],
  ["something comes in when it is too early", { ...beat, reason: "wake" }, { ...quiet, pending: ["wake"] }, "quiet-hours"],
  ["a command ends when it is too early", { ...beat, reason: "exec-event" }, { ...quiet, pending: ["exec"] }, undefined],
  ["the session is busy", beat, { ...facts, isBusy: true, file: { state: "missing" } }, "requests-in-flight"],
  ["there is no file", beat, { ...facts, file: { state: "missing" } }, "no-heartbeat-file"],
  ["the file asks for nothing", beat, { ...facts, file: { state: "empty" } }, "empty-heartbeat-file"],
  ["there is no file and something waits", beat, { ...facts, file: { state: "missing" }, pending: ["wake"] }, undefined],
  ["nothing has changed", beat, { ...facts, isUnchanged: true }, "unchanged"],
  ["another turn has taken what came in", { ...beat, reason: "exec-event" }, facts, "nothing-pending"],
  ["nothing of it is shown anywhere", beat, { ...facts, config: hidden }, "alerts-disabled"],
] as const satisfies readonly (readonly [string, Beat, BeatFacts, string | undefined])[])("when %s", (_, one, given, expected) => {
  expect(skipOf(one, given)).toBe(expected);
});

test.each([
  ["the last chat", {}, { channel: "telegram", to: "7", accountId: "bot" }],
  ["none", { target: "none" }, "none"],
  ["a channel with its recipient", { target: "irc", to: "#ops", accountId: "second" }, { channel: "irc", to: "#ops", accountId: "second" }],
  ["a channel without one", { target: "irc" }, "none"],
  ["a channel that is not there", { target: "signal", to: "x" }, "none"],
] as const)("the answer goes to %s", (_, heartbeat, expected) => {
  const target = targetOf(beat, talks, set(heartbeat).config);
  if (typeof expected === "string") expect(target).toBe(expected);
  else expect(target).toMatchObject(expected);
});

test("what came in for a session is answered where it talks, whatever the settings for regular beats are", () => {
  expect(targetOf({ ...beat, reason: "exec-event" }, talks, set({ target: "none" }).config)).toMatchObject({ channel: "telegram", to: "7" });
  expect(targetOf({ ...beat, reason: "wake" }, undefined, config)).toBeUndefined();
});

test("a session of another agent is not beaten in", () => {
  const of = (session: string): string => beatSession({ agents: { defaults: { heartbeat: { session } } } }, "main");
  expect([of("main"), of("agent:main:telegram:direct:7"), of("agent:other:main"), of("")]).toEqual([
    "agent:main:main",
    "agent:main:telegram:direct:7",
    "agent:main:main",
    "agent:main:main",
  ]);
  expect(beatSession({ session: { scope: "global" } }, "main")).toBe("global");
});

test("the agent is asked about what waits, and at its regular times also about its file", () => {
  const message = (one: Beat, given: BeatFacts): string => requestOf(one, "1", given).message;
  expect(message(beat, facts)).toMatch(/^Read HEARTBEAT\.md[^]*\nCurrent time: /);
  expect(message(beat, set({ prompt: "Look around." }))).toMatch(/^Look around\.\nCurrent time: /);
  expect(message({ ...beat, reason: "exec-event" }, { ...facts, pending: ["exec"] })).toMatch(/^A command that you started[^]*has ended/);
  expect(message(beat, { ...facts, pending: ["cron"] })).toMatch(/^A reminder is due[^]*Read HEARTBEAT\.md/);
});

test("a beat says whether something new caused it", () => {
  const cause = (one: Beat, given: BeatFacts): unknown => requestOf(one, "1", given).heartbeat;
  expect(cause(beat, facts)).toEqual({});
  expect(cause(beat, { ...facts, isEdited: true })).toEqual({ hasNews: true });
  expect(cause({ ...beat, reason: "hook:1" }, { ...facts, pending: ["hook"] })).toEqual({ hasNews: true });
  expect(cause(beat, { ...facts, pending: ["cron"] })).toEqual({ hasNews: true, isRelay: true });
});

test("a beat outside the main session has its own key, few tools, and the lines of the main one", () => {
  const request = requestOf(beat, "1", set({ isolated: true, model: "acme/small" }));
  expect(request).toMatchObject({
    runId: "heartbeat:main:1",
    sessionKey: "agent:main:heartbeat",
    eventsOf: "agent:main:main",
    heartbeat: { main: "agent:main:main" },
    model: "acme/small",
    tools: expect.arrayContaining(["read"]),
  });
  expect(requestOf({ ...beat, reason: "exec-event" }, "1", { ...set({ isolated: true }), pending: ["exec"] })).toMatchObject({
    sessionKey: "agent:main:main",
    heartbeat: { isRelay: true },
  });
});

test("what is reported says how it went, where it was sent, and how it is marked", () => {
  const request: RunRequest = requestOf(beat, "1", facts);
  const ended = { status: "ok", text: "", sessionId: "s", durationMs: 1 } as const;
  const times = { ts: 2, durationMs: 1 };
  expect(eventOf({ ...ended, heartbeat: { status: "sent", preview: "The disk is full" } }, request, config, times)).toEqual({
    ...times,
    status: "sent",
    preview: "The disk is full",
    channel: "telegram",
    to: "7",
    accountId: "bot",
    indicatorType: "alert",
  });
  expect(eventOf({ ...ended, heartbeat: { status: "ok-token", isShown: false } }, request, hidden, times)).not.toHaveProperty("indicatorType");
  expect(eventOf({ status: "error", error: "no key" }, request, config, times)).toMatchObject({ status: "failed", reason: "no key", indicatorType: "error" });
});
