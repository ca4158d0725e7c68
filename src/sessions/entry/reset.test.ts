import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { entryAfterReset, lastHour, resetDecision, resetPolicy, resetTrigger, resetType, type ResetFacts } from "../index.ts";

type Session = NonNullable<OpenClawConfig["session"]>;

const MINUTE = 60_000;
const local = (day: number, hour: number, minute = 0): number => new Date(2026, 1, day, hour, minute).getTime();
const DIRECT: ResetFacts = { sessionKey: "agent:main:main", channel: "telegram" };
const GROUP: ResetFacts = { sessionKey: "agent:main:telegram:group:1", channel: "telegram" };
const THREAD: ResetFacts = { sessionKey: "agent:main:telegram:group:1:topic:2", channel: "telegram" };

describe("which policy holds", () => {
  test.each<readonly [string, Session | undefined, ResetFacts, object]>([
    ["daily at four without settings", undefined, DIRECT, { mode: "daily", atHour: 4, source: "default" }],
    ["the older idleMinutes by itself", { idleMinutes: 30 }, DIRECT, { mode: "idle", idleMinutes: 30, source: "idleMinutes" }],
    ["reset over idleMinutes", { idleMinutes: 30, reset: { atHour: 6 } }, DIRECT, { mode: "daily", atHour: 6, source: "reset" }],
    ["an hour of silence in mode idle", { reset: { mode: "idle" } }, DIRECT, { mode: "idle", idleMinutes: 60 }],
    [
      "the type over reset, field by field",
      { reset: { atHour: 6, idleMinutes: 9 }, resetByType: { group: { idleMinutes: 5 } } },
      GROUP,
      { mode: "daily", atHour: 6, idleMinutes: 5, source: "resetByType" },
    ],
    ["dm as a word for direct", { resetByType: { dm: { mode: "idle", idleMinutes: 7 } } }, DIRECT, { mode: "idle", idleMinutes: 7 }],
    ["a thread in a group as a thread", { resetByType: { group: { idleMinutes: 5 }, thread: { idleMinutes: 8 } } }, THREAD, { idleMinutes: 8 }],
    [
      "types that are not this one do not count, nor does the older key beside them",
      { idleMinutes: 3, resetByType: { group: { idleMinutes: 5 } } },
      DIRECT,
      { mode: "daily", source: "default" },
    ],
    [
      "the channel alone",
      { reset: { atHour: 6, idleMinutes: 9 }, resetByChannel: { telegram: { mode: "idle" } } },
      GROUP,
      { mode: "idle", idleMinutes: 60, source: "resetByChannel" },
    ],
  ])("%s", (_, session, facts, policy) => {
    expect(resetPolicy(session, facts)).toMatchObject(policy);
  });

  test("daily without idleMinutes knows no silence", () => {
    expect(resetPolicy({ reset: { mode: "daily" } }, DIRECT)).not.toHaveProperty("idleMinutes");
  });

  test.each([
    [{ sessionKey: "agent:main:slack:channel:c1" }, "group"],
    [{ sessionKey: "agent:main:main", chatType: "group" }, "group"],
    [{ sessionKey: "agent:main:main", thread: true }, "thread"],
    [{ sessionKey: "agent:main:slack:channel:c1:thread:9" }, "thread"],
    [{ sessionKey: "agent:main:telegram:direct:1" }, "direct"],
  ] as const)("%o is a %s", (facts, type) => {
    expect(resetType(facts)).toBe(type);
  });
});

describe("whether a message begins a new session", () => {
  const decide = (updatedAt: number | undefined, now: number, session?: Session, facts: Partial<ResetFacts> = {}) => {
    const all = { ...DIRECT, authorised: true, ...facts };
    return resetDecision(updatedAt === undefined ? undefined : { updatedAt }, resetPolicy(session, all), now, { ...all, triggers: session?.resetTriggers });
  };

  test("at the hour, in the host's time, and not before", () => {
    expect(decide(local(10, 3, 59), local(10, 4))).toEqual({ kind: "expired", why: "daily" });
    expect(decide(local(9, 4), local(10, 3, 59))).toEqual({ kind: "none" });
    expect(decide(local(10, 4), local(10, 4))).toEqual({ kind: "none" });
    expect(lastHour(4, local(10, 3, 59))).toBe(local(9, 4));
  });

  test("after silence, and in daily mode whichever comes first", () => {
    const idle: Session = { reset: { mode: "idle", idleMinutes: 10 } };
    expect(decide(local(10, 12), local(10, 12, 10), idle)).toEqual({ kind: "none" });
    expect(decide(local(10, 12), local(10, 12, 10) + 1, idle)).toEqual({ kind: "expired", why: "idle" });
    expect(decide(local(8, 12), local(10, 12), { reset: { mode: "idle", idleMinutes: 10_000 } })).toEqual({ kind: "none" });
    expect(decide(local(10, 12), local(10, 13), { reset: { mode: "daily", idleMinutes: 10 } })).toEqual({ kind: "expired", why: "idle" });
  });

  test("when an authorised sender asks for it, with the rest as the message", () => {
    const now = local(10, 12);
    expect(decide(now, now, undefined, { text: "/NEW what is up" })).toEqual({ kind: "explicit", trigger: "/new", rest: "what is up" });
    expect(decide(now, now, undefined, { text: "/new", authorised: false })).toEqual({ kind: "none" });
    expect(decide(now, now, { resetTriggers: ["fresh start"] }, { text: "Fresh start" })).toEqual({ kind: "explicit", trigger: "fresh start", rest: "" });
    expect(decide(now, now, undefined, { text: "/newer" })).toEqual({ kind: "none" });
    expect(resetTrigger("say /new")).toBeUndefined();
  });

  test("when there is none, and for every isolated run", () => {
    expect(decide(undefined, local(10, 12))).toEqual({ kind: "new" });
    expect(decide(local(10, 12), local(10, 12) + MINUTE, undefined, { isolated: true })).toEqual({ kind: "isolated" });
  });
});

describe("what the entry keeps", () => {
  const ASKED = ["thinkingLevel", "verboseLevel", "reasoningLevel", "ttsAuto"];
  const EXEC = ["elevatedLevel", "execHost", "execSecurity", "execAsk", "execNode"];
  const ALWAYS = [...EXEC, "groupActivation", "label", "authProfileOverride", "origin", "spawnedBy", "spawnDepth", "cliSessionIds", "unknownField"];
  const QUEUE = ["queueMode", "queueDebounceMs", "queueCap", "queueDrop"];
  const TOKENS = ["inputTokens", "outputTokens", "totalTokens", "memoryFlushAt", "memoryFlushCompactionCount", "compactionCount"];
  const NEVER = [...QUEUE, ...TOKENS, "modelOverride", "providerOverride", "responseUsage", "sendPolicy", "displayName", "subject", "skillsSnapshot"];
  const OLD = [...ASKED, ...ALWAYS, ...NEVER];
  const named = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, field]));
  const old: SessionEntry = {
    sessionId: "s1",
    updatedAt: 1,
    sessionFile: "x.jsonl",
    systemSent: true,
    abortedLastRun: true,
    ...named(OLD),
  };

  const FRESH = { sessionId: "s2", updatedAt: 9, systemSent: false, abortedLastRun: false, compactionCount: 0 };

  test("after a reset that was asked for", () => {
    const entry = entryAfterReset(old, "explicit", { sessionId: "s2", now: 9 });
    expect(entry).toEqual({ ...FRESH, ...named([...ALWAYS, ...ASKED]) });
  });

  test.each(["expired", "isolated"] as const)("after it is %s", (kind) => {
    expect(entryAfterReset(old, kind, { sessionId: "s2", now: 9 })).toEqual({ ...FRESH, ...named(ALWAYS) });
  });
});
