import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry, Usage } from "../../protocol/index.ts";
import {
  authProfileOverride,
  chatFields,
  deliveryOf,
  deliveryPatch,
  knownTokens,
  modelOverride,
  originOf,
  queueSettings,
  reasoningLevel,
  sendPolicy,
  thinkingLevel,
  usageAfterCompaction,
  usageAfterRun,
  usageFooter,
  verboseLevel,
  ZERO_USAGE,
} from "../index.ts";

const entry = (fields: Record<string, unknown> = {}): SessionEntry => ({ sessionId: "s1", updatedAt: 1, ...fields });
const defaults = (fields: object): OpenClawConfig => ({ agents: { defaults: fields } });

describe("send policy", () => {
  type Policy = NonNullable<NonNullable<OpenClawConfig["session"]>["sendPolicy"]>;
  const ask = (policy: Policy, key: string, fields?: Record<string, unknown>, channel?: string) =>
    sendPolicy({ session: { sendPolicy: policy } }, key, fields && entry(fields), channel);

  test("the documented example: groups of a channel, cron jobs and a raw beginning are denied, the rest is allowed", () => {
    const policy: Policy = {
      rules: [
        { action: "deny", match: { channel: "discord", chatType: "group" } },
        { action: "deny", match: { keyPrefix: "cron:" } },
        { action: "deny", match: { rawKeyPrefix: "agent:main:discord:" } },
      ],
      default: "allow",
    };
    expect(ask(policy, "agent:x:discord:group:1", { channel: "discord", chatType: "group" })).toEqual({ allowed: false, source: "rule", rule: 0 });
    expect(ask(policy, "agent:x:cron:job")).toEqual({ allowed: false, source: "rule", rule: 1 });
    expect(ask(policy, "agent:main:discord:direct:1")).toEqual({ allowed: false, source: "rule", rule: 2 });
    expect(ask(policy, "agent:x:discord:direct:1", undefined, "discord")).toEqual({ allowed: true, source: "default" });
  });

  test("dm means direct, as a type and within a beginning", () => {
    const key = "agent:main:telegram:direct:7";
    expect(ask({ rules: [{ action: "deny", match: { chatType: "dm" } }] }, key).allowed).toBe(false);
    expect(ask({ rules: [{ action: "deny", match: { keyPrefix: "telegram:dm:" } }] }, key).allowed).toBe(false);
    expect(ask({ rules: [{ action: "deny", match: { rawKeyPrefix: "agent:main:telegram:DM" } }] }, key).allowed).toBe(false);
    expect(ask({ rules: [{ action: "deny", match: { keyPrefix: "telegram:dmz" } }] }, key).allowed).toBe(true);
  });

  test("any deny wins over an allow, a matching allow over the default, the session's own word over all", () => {
    const both: Policy = {
      rules: [
        { action: "allow", match: {} },
        { action: "deny", match: { keyPrefix: "main" } },
      ],
      default: "deny",
    };
    expect(ask(both, "agent:main:main")).toEqual({ allowed: false, source: "rule", rule: 1 });
    expect(ask(both, "agent:main:other")).toEqual({ allowed: true, source: "rule", rule: 0 });
    expect(ask(both, "agent:main:main", { sendPolicy: "allow" })).toEqual({ allowed: true, source: "session" });
    expect(ask({ default: "deny" }, "agent:main:main")).toEqual({ allowed: false, source: "default" });
  });
});

describe("tokens after a run", () => {
  const usage = (input: number, output: number, cacheRead = 0): Usage => ({ ...ZERO_USAGE, input, output, cacheRead, totalTokens: input + output + cacheRead });
  const run = { provider: "p", model: "m", contextTokens: 48_000 };

  test("input and output are sums over the run, the total is the last prompt without its answer", () => {
    const patch = usageAfterRun({ ...run, calls: [usage(11_420, 5), usage(1_897, 7, 10_000)] });
    expect(patch).toEqual({
      modelProvider: "p",
      model: "m",
      contextTokens: 48_000,
      inputTokens: 13_317,
      outputTokens: 12,
      totalTokens: 11_897,
      totalTokensFresh: true,
    });
  });

  test("a prompt size that the provider tells comes first; with a sum only the size is unknown", () => {
    expect(usageAfterRun({ ...run, calls: [usage(5, 5)], promptTokens: 77 })).toMatchObject({ totalTokens: 77, totalTokensFresh: true });
    expect(usageAfterRun({ ...run, calls: [usage(5, 5)], sumOnly: true })).toMatchObject({ inputTokens: 5, totalTokens: null, totalTokensFresh: false });
  });

  test("without any usage only the model's facts change", () => {
    expect(usageAfterRun({ ...run, calls: [ZERO_USAGE] })).toEqual({ modelProvider: "p", model: "m", contextTokens: 48_000 });
  });

  test("a compaction counts, clears the run's figures and knows the new size", () => {
    expect(usageAfterCompaction(entry({ compactionCount: 2 }), 900)).toEqual({
      compactionCount: 3,
      inputTokens: null,
      outputTokens: null,
      totalTokens: 900,
      totalTokensFresh: true,
    });
  });

  test("a size that is out of date is unknown", () => {
    expect([knownTokens(entry({ totalTokens: 5 })), knownTokens(entry({ totalTokens: 5, totalTokensFresh: false })), knownTokens(undefined)]).toEqual([
      5,
      undefined,
      undefined,
    ]);
  });
});

describe("settings of a session, with who decided", () => {
  test("thinking: the run, the session, the configuration, the model", () => {
    const config = defaults({ thinkingDefault: "medium" });
    const facts = { modelDefault: "low" } as const;
    expect(thinkingLevel(config, entry({ thinkingLevel: "HIGH " }), { ...facts, run: "off" })).toEqual({ value: "off", source: "run" });
    expect(thinkingLevel(config, entry({ thinkingLevel: "HIGH " }), facts)).toEqual({ value: "high", source: "session" });
    expect(thinkingLevel(config, entry({ thinkingLevel: "nonsense" }), facts)).toEqual({ value: "medium", source: "config" });
    expect(thinkingLevel({}, undefined, facts)).toEqual({ value: "low", source: "model" });
  });

  test("verbose and reasoning are off by default; an explicit off holds against the configuration", () => {
    expect(verboseLevel({}, undefined)).toEqual({ value: "off", source: "default" });
    expect(verboseLevel(defaults({ verboseDefault: "full" }), entry({ verboseLevel: "off" }))).toEqual({ value: "off", source: "session" });
    expect(verboseLevel(defaults({ verboseDefault: "full" }), entry())).toEqual({ value: "full", source: "config" });
    expect([reasoningLevel(undefined).value, reasoningLevel(entry({ reasoningLevel: "stream" })).value]).toEqual(["off", "stream"]);
  });

  test("model, credential and usage footer", () => {
    expect(modelOverride(entry({ modelOverride: " m ", providerOverride: "p" }))).toEqual({ modelOverride: "m", providerOverride: "p" });
    expect([modelOverride(entry({ providerOverride: "p" })), modelOverride(undefined)]).toEqual([undefined, undefined]);
    expect(authProfileOverride(entry({ authProfileOverride: "p:work", authProfileOverrideSource: "auto" }))).toEqual({ profile: "p:work", source: "auto" });
    expect([usageFooter(entry({ responseUsage: "on" })).value, usageFooter(undefined).value]).toEqual(["tokens", "off"]);
  });

  test("the queue: session over channel over all, older words understood", () => {
    const config: OpenClawConfig = { messages: { queue: { mode: "steer+backlog", byChannel: { irc: "queue" }, debounceMsByChannel: { irc: 5 }, cap: 7 } } };
    expect(queueSettings(config, undefined, "irc")).toEqual({
      mode: { value: "steer", source: "config" },
      debounceMs: { value: 5, source: "config" },
      cap: { value: 7, source: "config" },
      drop: { value: "summarize", source: "default" },
    });
    expect(queueSettings(config, entry({ queueMode: "interrupt", queueCap: 0 }), "telegram")).toMatchObject({
      mode: { value: "interrupt", source: "session" },
      debounceMs: { value: 1000, source: "default" },
      cap: { value: 7, source: "config" },
    });
    expect(queueSettings({}, undefined, undefined).mode).toEqual({ value: "collect", source: "default" });
  });
});

describe("where a session came from and where its answers go", () => {
  test("the route of the last message is kept in both forms, and what it does not have is taken away", () => {
    const patch = deliveryPatch({ channel: "telegram", to: "7" });
    expect(patch).toEqual({ deliveryContext: { channel: "telegram", to: "7" }, lastChannel: "telegram", lastTo: "7", lastAccountId: null, lastThreadId: null });
    expect(deliveryPatch({ to: "7" })).toEqual({});
  });

  test("older entries are read by their last fields; those of another channel do not mix in", () => {
    expect(deliveryOf(entry({ lastChannel: "irc", lastTo: "#a", lastThreadId: 3 }))).toEqual({ channel: "irc", to: "#a", threadId: 3 });
    expect(deliveryOf(entry({ deliveryContext: { channel: "telegram" }, lastChannel: "irc", lastTo: "#a" }))).toEqual({ channel: "telegram" });
    expect(deliveryOf(entry())).toBeUndefined();
  });

  test("an origin takes what the message tells and keeps the rest", () => {
    const before = { label: "old", accountId: "work" };
    expect(originOf({ Provider: "Telegram", From: "telegram:7", To: "bot", ChatType: "dm", SenderName: "Ann", MessageThreadId: 4 }, before)).toEqual({
      label: "Ann",
      provider: "telegram",
      chatType: "direct",
      from: "telegram:7",
      to: "bot",
      accountId: "work",
      threadId: 4,
    });
  });

  test("a group's names become fields of the entry", () => {
    const context = { Provider: "discord", ChatType: "channel", GroupSubject: "Talk", GroupChannel: "#dev", GroupSpace: "Guild", To: "channel:5" };
    expect(chatFields(context, undefined)).toMatchObject({
      chatType: "channel",
      channel: "discord",
      subject: "Talk",
      groupChannel: "#dev",
      space: "Guild",
      groupId: "channel:5",
      displayName: "#dev",
    });
    expect(chatFields({ Provider: "discord", ChatType: "direct", GroupSubject: "Talk" }, undefined)).not.toHaveProperty("subject");
  });
});
