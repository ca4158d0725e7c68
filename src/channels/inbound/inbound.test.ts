import { describe, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import type { HostConfig, MsgContext } from "../../protocol/index.ts";
import {
  buildMentionRegexes,
  createChannelActivity,
  createInboundDebouncer,
  finalizeInboundContext,
  formatAgentEnvelope,
  formatInboundEnvelope,
  hasControlCommand,
  isControlCommandMessage,
  matchesMentionPatterns,
  matchesMentionWithExplicit,
  resolveEnvelopeFormatOptions,
  resolveHumanDelayConfig,
  resolveInboundDebounceMs,
  shouldComputeCommandAuthorized,
  shouldHandleTextCommands,
} from "../index.ts";

const AT = Date.UTC(2026, 0, 18, 5, 19);

describe("the envelope", () => {
  test("contains origin, sender, elapsed time and time", () => {
    const envelope = { timezone: "utc" };
    expect(formatAgentEnvelope({ channel: "Signal", from: "Alice +1555", timestamp: AT, previousTimestamp: AT - 125_000, body: "hi", envelope })).toBe(
      "[Signal Alice +1555 +2m Sun 2026-01-18T05:19Z] hi",
    );
    expect(formatAgentEnvelope({ channel: "Signal", timestamp: AT, body: "hi", envelope: { timezone: "Asia/Tokyo" } })).toBe(
      "[Signal Sun 2026-01-18 14:19 GMT+9] hi",
    );
  });

  test("leaves out disabled and unknown parts", () => {
    const envelope = { includeTimestamp: false, includeElapsed: false };
    expect(formatAgentEnvelope({ channel: "IRC", host: "box", ip: "10.0.0.1", timestamp: AT, previousTimestamp: AT, body: "hi", envelope })).toBe(
      "[IRC box 10.0.0.1] hi",
    );
    expect(formatAgentEnvelope({ channel: "IRC", timestamp: Number.NaN, body: "hi" })).toBe("[IRC] hi");
  });

  test("cannot be ended by a name", () => {
    expect(formatAgentEnvelope({ channel: "IRC", from: "eve] [root\n", body: "hi" })).toBe("[IRC eve) (root] hi");
  });

  test("elapsed time is in hours up to two days", () => {
    const shown = [30_000, 3 * 3_600_000, 47 * 3_600_000, 48 * 3_600_000, -1].map((ms) =>
      formatAgentEnvelope({ channel: "c", timestamp: AT, previousTimestamp: AT - ms, body: "", envelope: { includeTimestamp: false } }),
    );
    expect(shown).toEqual(["[c +30s] ", "[c +3h] ", "[c +47h] ", "[c +2d] ", "[c] "]);
  });

  test("names the sender in groups only", () => {
    const params = { channel: "IRC", from: "#room", body: "hi", sender: { name: "Bo", id: "7" }, envelope: { includeTimestamp: false } };
    expect(formatInboundEnvelope({ ...params, chatType: "group" })).toBe("[IRC #room] Bo (7): hi");
    expect(formatInboundEnvelope({ ...params, chatType: "dm" })).toBe("[IRC #room] hi");
  });

  test("follows the settings", () => {
    const cfg: HostConfig = { agents: { defaults: { envelopeTimezone: "user", userTimezone: "Europe/Vienna", envelopeElapsed: "off" } } };
    expect(resolveEnvelopeFormatOptions(cfg)).toEqual({ timezone: "user", userTimezone: "Europe/Vienna", includeTimestamp: true, includeElapsed: false });
    expect(formatAgentEnvelope({ channel: "c", timestamp: AT, body: "", envelope: resolveEnvelopeFormatOptions(cfg) })).toBe("[c Sun 2026-01-18 06:19 GMT+1] ");
  });
});

describe("an inbound message", () => {
  test("is filled in place", () => {
    const ctx: MsgContext = {
      Body: "a\r\nb",
      RawBody: "raw",
      ChatType: "dm",
      SenderName: "Ann",
      From: "signal:1",
      MediaPaths: ["/x", "/y"],
      MediaTypes: ["image/png"],
    };
    expect(finalizeInboundContext(ctx)).toBe(ctx);
    expect(ctx).toMatchObject({
      Body: "a\nb",
      BodyForAgent: "raw",
      BodyForCommands: "raw",
      ChatType: "direct",
      ConversationLabel: "Ann",
      CommandAuthorized: false,
      MediaTypes: ["image/png", "application/octet-stream"],
      MediaType: "image/png",
    });
  });

  test("is authorized only by an exact true", () => {
    expect(finalizeInboundContext({ CommandAuthorized: 1 as unknown as boolean }).CommandAuthorized).toBe(false);
    expect(finalizeInboundContext({ CommandAuthorized: true }).CommandAuthorized).toBe(true);
  });

  test("preserves the channel's fields unless forced", () => {
    const given = { Body: "b", CommandBody: "c", BodyForAgent: "mine" };
    expect(finalizeInboundContext({ ...given }).BodyForAgent).toBe("mine");
    expect(finalizeInboundContext({ ...given }, { forceBodyForAgent: true }).BodyForAgent).toBe("c");
  });

  test("of a group with a numeric id is labelled with it", () => {
    expect(finalizeInboundContext({ ChatType: "group", GroupSubject: "Ops", From: "telegram:group:-100" }).ConversationLabel).toBe("Ops");
    expect(finalizeInboundContext({ ChatType: "group", GroupSubject: "Ops", From: "telegram:group:100" }).ConversationLabel).toBe("Ops id:100");
    expect(finalizeInboundContext({ ChatType: "group", GroupChannel: "#ops", From: "discord:100" }).ConversationLabel).toBe("#ops");
  });
});

describe("mentions", () => {
  const cfg: HostConfig = {
    agents: {
      list: [
        { id: "main", identity: { name: "Deep Claw", emoji: "🦞" } },
        { id: "ops", groupChat: { mentionPatterns: [String.raw`\bops\b`, "("] } },
      ],
    },
  };

  test("match the name as a word or the emoji, ignoring case and invisible characters", () => {
    const regexes = buildMentionRegexes(cfg, "main");
    const seen = ["hey @deep claw!", "DEEP\u200B CLAW", "🦞?", "deep clawed", "deeply"].map((text) => matchesMentionPatterns(text, regexes));
    expect(seen).toEqual([true, true, true, false, false]);
  });

  test("by the agent's own patterns, broken ones left out", () => {
    const regexes = buildMentionRegexes(cfg, "OPS");
    expect(regexes).toHaveLength(1);
    expect(matchesMentionPatterns("ask ops", regexes)).toBe(true);
  });

  test("a platform's own mention counts, and a voice message by its transcript", () => {
    const mentionRegexes = buildMentionRegexes(cfg, "main");
    const explicit = { hasAnyMention: true, isExplicitlyMentioned: true, canResolveExplicit: true };
    expect(matchesMentionWithExplicit({ text: "x", mentionRegexes, explicit })).toBe(true);
    expect(matchesMentionWithExplicit({ text: "x", mentionRegexes, explicit: { ...explicit, isExplicitlyMentioned: false } })).toBe(false);
    expect(matchesMentionWithExplicit({ text: "", transcript: "deep claw, help", mentionRegexes })).toBe(true);
  });
});

describe("commands in text", () => {
  test("start with a name or alias, without arguments where none are allowed", () => {
    const texts = ["/status", " /ID ", "/status please", "/think: high", "/compact now", "hello /status", "/unknown", "", undefined];
    expect(texts.map((text) => hasControlCommand(text))).toEqual([true, true, false, true, true, false, false, false, false]);
  });

  test("for another bot are ignored", () => {
    expect(hasControlCommand("/status@us", {}, { botUsername: "@Us" })).toBe(true);
    expect(hasControlCommand("/status@them", {}, { botUsername: "us" })).toBe(false);
    expect(hasControlCommand("/status@us")).toBe(false);
  });

  test("that are disabled are text", () => {
    expect(hasControlCommand("/bash ls", {})).toBe(false);
    expect(hasControlCommand("/bash ls", { commands: { bash: true } })).toBe(true);
  });

  test("abort words count alone, inline ones need authorization", () => {
    expect(["Stop", "Stop.", "stop!", "stop it", "stop?"].map((text) => isControlCommandMessage(text))).toEqual([true, true, true, false, false]);
    expect(["hi /status", "run !ls", "1/2 of it"].map((text) => shouldComputeCommandAuthorized(text))).toEqual([true, true, false]);
  });

  test("are read unless disabled on a surface with menus", () => {
    const cfg: HostConfig = { commands: { text: false } };
    expect(["telegram", "irc"].map((surface) => shouldHandleTextCommands({ cfg, surface }))).toEqual([false, true]);
    expect(shouldHandleTextCommands({ cfg, surface: "telegram", commandSource: "native" })).toBe(true);
  });
});

describe("debouncing", () => {
  function setup(shouldDebounce?: (item: string) => boolean) {
    const clock = manualClock();
    const flushed: string[][] = [];
    const debouncer = createInboundDebouncer<string>(
      { debounceMs: 100, buildKey: (item) => item[0], shouldDebounce, onFlush: async (items) => void flushed.push(items) },
      clock,
    );
    return { clock, flushed, debouncer };
  }

  test("batches quick messages until a quiet time, and passes others on alone", async () => {
    const { clock, flushed, debouncer } = setup();
    await debouncer.enqueue("a1");
    clock.advance(60);
    await debouncer.enqueue("a2");
    await debouncer.enqueue("b1");
    clock.advance(60);
    expect(flushed).toEqual([]);
    clock.advance(60);
    expect(flushed).toEqual([["a1", "a2"], ["b1"]]);
  });

  test("an urgent item takes along pending ones, in order", async () => {
    const { flushed, debouncer } = setup((item) => !item.endsWith("!"));
    await debouncer.enqueue("a1");
    await debouncer.enqueue("a!");
    expect(flushed).toEqual([["a1"], ["a!"]]);
  });

  test("a failure is reported and stops nothing", async () => {
    const clock = manualClock();
    const failed: string[][] = [];
    const debouncer = createInboundDebouncer<string>(
      { debounceMs: 0, buildKey: () => "k", onFlush: () => Promise.reject(new Error("no")), onError: (_error, items) => failed.push(items) },
      clock,
    );
    await debouncer.enqueue("x");
    expect(failed).toEqual([["x"]]);
  });

  test("the time is the override, the channel's or the general one", () => {
    const cfg: HostConfig = { messages: { inbound: { debounceMs: 5, byChannel: { irc: 7 } } } };
    expect([
      resolveInboundDebounceMs({ cfg, channel: "irc", overrideMs: 0 }),
      resolveInboundDebounceMs({ cfg, channel: "irc" }),
      resolveInboundDebounceMs({ cfg, channel: "x" }),
      resolveInboundDebounceMs({ cfg: {}, channel: "x" }),
    ]).toEqual([0, 7, 5, 0]);
  });
});

test("activity is recorded by account", () => {
  const clock = manualClock(50);
  const activity = createChannelActivity(clock);
  activity.record({ channel: "irc", direction: "inbound" });
  activity.record({ channel: "irc", accountId: "b", direction: "outbound", at: 9 });
  expect(activity.get({ channel: "irc", accountId: "default" })).toEqual({ inboundAt: 50, outboundAt: null });
  expect(activity.get({ channel: "irc", accountId: "b" })).toEqual({ inboundAt: null, outboundAt: 9 });
});

test("an agent's human delay overrides the general one", () => {
  const cfg: HostConfig = { agents: { defaults: { humanDelay: { mode: "natural", minMs: 1 } }, list: [{ id: "a", humanDelay: { mode: "off" } }] } };
  expect(resolveHumanDelayConfig(cfg, "a")).toEqual({ mode: "off", minMs: 1, maxMs: undefined });
  expect(resolveHumanDelayConfig({}, "a")).toBeUndefined();
});
