import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { createRouting, type MatchedBy, type RouteLocation } from "./index.ts";

type Match = NonNullable<OpenClawConfig["bindings"]>[number]["match"];

const { resolveRoute, explainRoute } = createRouting();

/** A configuration with one agent per binding: `b0`, `b1` and so on. `fallback` is the default agent. */
function bound(...matches: Match[]): OpenClawConfig {
  const names = matches.map((_, at) => `b${at}`);
  return {
    agents: { list: [{ id: "other" }, { id: "Fallback", default: true }, ...names.map((id) => ({ id }))] },
    bindings: matches.map((match, at) => ({ agentId: names[at]!, match })),
  };
}

const chat = (id: string) => ({ kind: "channel", id }) as const;

describe("the most specific binding wins, regardless of its position", () => {
  const tiers: readonly Match[] = [
    { channel: "discord", accountId: "*" },
    { channel: "discord" },
    { channel: "discord", teamId: "T" },
    { channel: "discord", guildId: "G" },
    { channel: "discord", guildId: "G", roles: ["R1", "R2"] },
    { channel: "discord", peer: chat("parent") },
    { channel: "discord", peer: chat("thread") },
  ];
  const everything = { channel: "discord", peer: chat("thread"), parentPeer: chat("parent"), guildId: "G", teamId: "T", roles: ["R2"] };
  test.each<readonly [number, MatchedBy]>([
    [7, "binding.peer"],
    [6, "binding.peer.parent"],
    [5, "binding.guild+roles"],
    [4, "binding.guild"],
    [3, "binding.team"],
    [2, "binding.account"],
    [1, "binding.channel"],
    [0, "default"],
  ])("of the first %i of them: %s", (count, matchedBy) => {
    const config = bound(...tiers.slice(0, count));
    const route = resolveRoute({ config, ...everything });
    const expected = count === 0 ? { agentId: "fallback" } : { agentId: `b${count - 1}`, binding: { index: count - 1, path: `bindings[${count - 1}]` } };
    expect(route).toMatchObject({ matchedBy, ...expected });
    expect(route.explanation.at(-1)).toMatchObject({ tier: matchedBy, state: "matched" });
  });
});

test("within a tier the first binding wins, also over one with more fields", () => {
  const peer = chat("c");
  const config = bound({ channel: "discord", peer }, { channel: "discord", peer, guildId: "G" }, { channel: "discord", peer, accountId: "*", roles: ["R"] });
  expect(resolveRoute({ config, channel: "discord", peer, guildId: "G", roles: ["R"] }).agentId).toBe("b0");
  const turned = { ...config, bindings: config.bindings!.toReversed() };
  expect(resolveRoute({ config: turned, channel: "discord", peer, guildId: "G", roles: ["R"] }).agentId).toBe("b2");
  expect(resolveRoute({ config: turned, channel: "discord", peer, guildId: "G" }).agentId).toBe("b1");
});

describe("all fields of a binding must match", () => {
  const full: Match = { channel: "discord", accountId: "work", peer: chat("c"), guildId: "G", teamId: "T", roles: ["R1", "R2"] };
  const fits: RouteLocation = { channel: "discord", accountId: "work", peer: chat("c"), guildId: "G", teamId: "T", roles: ["R0", "R2"] };
  test("when they do, it matches", () => expect(resolveRoute({ config: bound(full), ...fits }).matchedBy).toBe("binding.peer"));

  test.each<readonly [string, Partial<RouteLocation>, string, string]>([
    ["channel", { channel: "slack" }, "discord", "slack"],
    ["accountId", { accountId: "home" }, "work", "home"],
    ["accountId", { accountId: undefined }, "work", "default"],
    ["peer", { peer: chat("d") }, "channel:c", "channel:d"],
    ["peer", { peer: { kind: "group", id: "c" } }, "channel:c", "group:c"],
    ["peer", { peer: chat("C") }, "channel:c", "channel:C"],
    ["peer", { peer: undefined }, "channel:c", "(none)"],
    ["peer", { peer: chat("x"), parentPeer: chat("y") }, "channel:c", "channel:x in channel:y"],
    ["guildId", { guildId: "H" }, "G", "H"],
    ["teamId", { teamId: undefined }, "T", "(none)"],
    ["roles", { roles: ["R3"] }, "R1 or R2", "R3"],
    ["roles", { roles: [] }, "R1 or R2", "(none)"],
  ])("%s: %j", (field, over, expected, found) => {
    const route = explainRoute({ config: bound(full), ...fits, ...over });
    expect(route).toMatchObject({ agentId: "fallback", matchedBy: "default" });
    expect(route.bindings).toMatchObject([{ state: "refused", field, expected, found }]);
  });
});

describe("accounts", () => {
  test.each<readonly [string | undefined, string | undefined, boolean]>([
    [undefined, undefined, true],
    [undefined, "default", true],
    [undefined, "work", false],
    ["work", "work", true],
    [" Work ", "WORK", true],
    ["work", undefined, false],
    ["*", "work", true],
    ["*", undefined, true],
    ["my shop!", "my-shop", true],
    ["work", "*", false],
  ])("a binding for %j takes messages of %j: %j", (written, accountId, takes) => {
    const config = bound({ channel: "irc", ...(written === undefined ? {} : { accountId: written }) });
    expect(resolveRoute({ config, channel: "IRC", accountId }).agentId === "b0").toBe(takes);
  });
});

describe("the default agent", () => {
  test.each<readonly [OpenClawConfig, string]>([
    [{}, "main"],
    [{ agents: { list: [] } }, "main"],
    [{ agents: { list: [{ id: "First" }, { id: "second" }] } }, "first"],
    [{ agents: { list: [{ id: "first" }, { id: "second", default: true }] } }, "second"],
  ])("%j: %s", (config, agentId) => {
    expect(resolveRoute({ config, channel: "irc" })).toMatchObject({ agentId, matchedBy: "default" });
  });

  test("does not replace a missing agent that a binding names", () => {
    const config: OpenClawConfig = {
      agents: { list: [{ id: "home" }, { id: "work" }] },
      bindings: [
        { agentId: "wrok", match: { channel: "irc" } },
        { agentId: "work", match: { channel: "irc", accountId: "*" } },
      ],
    };
    const route = explainRoute({ config, channel: "irc" });
    expect(route).toMatchObject({ agentId: "work", matchedBy: "binding.channel" });
    expect(route.bindings[0]).toMatchObject({ state: "refused", field: "agentId", found: "wrok" });
  });
});

describe("threads", () => {
  const topic = { channel: "telegram", peer: { kind: "group", id: "-1" }, threadId: 7 } as const;
  const peer = (id: string) => ({ channel: "telegram", peer: { kind: "group" as const, id } });
  test("take the binding of their chat", () => expect(resolveRoute({ config: bound(peer("-1")), ...topic }).matchedBy).toBe("binding.peer.parent"));
  test("unless they have one of their own", () => {
    expect(resolveRoute({ config: bound(peer("-1"), peer("-1:topic:7")), ...topic })).toMatchObject({ agentId: "b1", matchedBy: "binding.peer" });
    expect(resolveRoute({ config: bound(peer("-1"), peer("-1:topic:8")), ...topic })).toMatchObject({ agentId: "b0" });
  });
  test("belong to the chat that the channel names", () => {
    const parentPeer = { kind: "channel", id: "-2" } as const;
    const config = bound(peer("-1"), { channel: "telegram", peer: parentPeer });
    expect(resolveRoute({ config, ...topic, parentPeer })).toMatchObject({ agentId: "b1", parentSessionKey: "agent:b1:telegram:channel:-2" });
  });
  test("the other fields of the chat's binding must match as well", () => {
    const config = bound({ channel: "discord", peer: chat("p"), guildId: "G" });
    const place = { channel: "discord", peer: chat("t"), parentPeer: chat("p") };
    expect(resolveRoute({ config, ...place, guildId: "G" }).matchedBy).toBe("binding.peer.parent");
    expect(resolveRoute({ config, ...place, guildId: "H" }).matchedBy).toBe("default");
  });
});

describe("the explanation", () => {
  test("names every tier down to the decision, and why some were skipped", () => {
    const config = bound({ channel: "slack", teamId: "T" });
    expect(resolveRoute({ config, channel: "slack", peer: chat("c"), teamId: "T" }).explanation).toEqual([
      { tier: "binding.peer", state: "none" },
      { tier: "binding.peer.parent", state: "skipped", note: "the chat is not a thread of another" },
      { tier: "binding.guild+roles", state: "skipped", note: "the message has no server" },
      { tier: "binding.guild", state: "skipped", note: "the message has no server" },
      { tier: "binding.team", state: "matched", note: "bindings[0]" },
    ]);
    expect(resolveRoute({ config: {}, channel: "slack", guildId: "G" }).explanation).toMatchObject([
      { note: "the message has no chat" },
      { note: "the chat is not a thread of another" },
      { note: "the sender has no roles" },
      { state: "none" },
      { note: "the message has no team" },
      { state: "none" },
      { state: "none" },
      { tier: "default", state: "matched", note: "the default agent" },
    ]);
  });

  test("lists other matching bindings, and why they lost", () => {
    const config = bound({ channel: "irc", accountId: "*" }, { channel: "irc" }, { channel: "irc" });
    expect(explainRoute({ config, channel: "irc" }).bindings).toEqual([
      { index: 0, path: "bindings[0]", agentId: "b0", tier: "binding.channel", state: "beaten", by: "bindings[1]", why: "is more specific" },
      { index: 1, path: "bindings[1]", agentId: "b1", tier: "binding.account", state: "chosen" },
      { index: 2, path: "bindings[2]", agentId: "b2", tier: "binding.account", state: "beaten", by: "bindings[1]", why: "comes before it" },
    ]);
  });

  test.each<readonly [string, OpenClawConfig, RouteLocation]>([
    ["no chat given: the agent's main session", {}, { channel: "x" }],
    ["each group has its own session", {}, { channel: "x", peer: { kind: "group", id: "1" } }],
    ["each thread of a group has its own session", {}, { channel: "telegram", peer: { kind: "group", id: "1" }, threadId: 2 }],
    ["each thread of a channel has its own session", {}, { channel: "discord", peer: chat("2"), parentPeer: chat("1") }],
    [
      "session.dmScope is main: direct chats share the agent's main session",
      { session: { identityLinks: { alice: ["x:1"] } } },
      { channel: "x", peer: { kind: "direct", id: "1" } },
    ],
    [
      "session.dmScope is per-peer, and session.identityLinks maps this sender to alice; each thread has its own",
      { session: { dmScope: "per-peer", identityLinks: { alice: ["x:1"] } } },
      { channel: "x", peer: { kind: "direct", id: "1" }, threadId: 3 },
    ],
  ])("of the session: %s", (session, config, place) => {
    expect(explainRoute({ config, ...place }).session).toBe(session);
  });
});

test("returns a chat's session keys for any agent, regardless of bindings", () => {
  const place = { config: bound({ channel: "telegram" }), channel: "telegram", peer: { kind: "group", id: "-1" }, threadId: 7 } as const;
  expect(createRouting().sessionKeys(" Other ", place)).toEqual({
    sessionKey: "agent:other:telegram:group:-1:topic:7",
    mainSessionKey: "agent:other:main",
    parentSessionKey: "agent:other:telegram:group:-1",
  });
});

describe("broadcast", () => {
  const config: OpenClawConfig = {
    agents: { list: [{ id: "main" }, { id: "Alfred" }, { id: "baerbel" }] },
    broadcast: { "120363@g.us": ["alfred", "Baerbel", "alfred"], "+15551234567": ["baerbel"] },
  };
  test("several agents answer a chat, each in its own session, in the order of the list", () => {
    const route = resolveRoute({ config, channel: "whatsapp", peer: { kind: "group", id: "120363@g.us" } });
    expect(route.broadcast).toEqual({
      chatId: "120363@g.us",
      strategy: "parallel",
      agents: [
        { agentId: "alfred", sessionKey: "agent:alfred:whatsapp:group:120363@g.us", mainSessionKey: "agent:alfred:main" },
        { agentId: "baerbel", sessionKey: "agent:baerbel:whatsapp:group:120363@g.us", mainSessionKey: "agent:baerbel:main" },
      ],
    });
    expect(route).toMatchObject({ agentId: "main", matchedBy: "default" });
  });
  test("applies to direct chats, and to threads of a chat", () => {
    const direct = resolveRoute({ config, channel: "whatsapp", peer: { kind: "direct", id: "+15551234567" } });
    expect(direct.broadcast?.agents.map(({ sessionKey }) => sessionKey)).toEqual(["agent:baerbel:main"]);
    const thread = resolveRoute({ config, channel: "telegram", peer: { kind: "group", id: "120363@g.us" }, threadId: 7 });
    expect(thread.broadcast?.agents[0]?.sessionKey).toBe("agent:alfred:telegram:group:120363@g.us:topic:7");
  });
  test("in sequence when the strategy is sequential", () => {
    const sequential = { ...config, broadcast: { ...config.broadcast, strategy: "sequential" as const } };
    expect(resolveRoute({ config: sequential, channel: "x", peer: { kind: "direct", id: "+15551234567" } }).broadcast?.strategy).toBe("sequential");
  });
  test.each(["other", "strategy", "__proto__", "constructor", "toString", ""])("not in the chat %j", (id) => {
    const strategic = { ...config, broadcast: { ...config.broadcast, strategy: "parallel" as const } };
    expect(resolveRoute({ config: strategic, channel: "x", peer: { kind: "group", id } }).broadcast).toBeUndefined();
  });
  test("skips agents that do not exist", () => {
    const nobody: OpenClawConfig = { broadcast: { "1": ["ghost"], "2": ["ghost", "main"] } };
    expect(resolveRoute({ config: nobody, channel: "x", peer: { kind: "group", id: "1" } }).broadcast).toBeUndefined();
    expect(resolveRoute({ config: nobody, channel: "x", peer: { kind: "group", id: "2" } }).broadcast?.agents).toHaveLength(1);
  });
});

describe("ten thousand bindings", () => {
  const matches = Array.from({ length: 10_000 }, (_, at): Match => {
    const kinds: readonly Match[] = [
      { channel: "discord", peer: chat(`c${at}`) },
      { channel: "discord", guildId: `g${at}` },
      { channel: "discord", guildId: `g${at}`, roles: [`r${at}`, "shared"] },
      { channel: "discord", teamId: `t${at}`, accountId: "*" },
      { channel: "discord", peer: chat("busy"), guildId: `g${at}`, accountId: `a${at}` },
    ];
    return kinds[at % kinds.length]!;
  });
  const agents = { list: [{ id: "main" }, { id: "b" }] };
  const of = (list: readonly Match[]): OpenClawConfig => ({ agents, bindings: list.map((match) => ({ agentId: "b", match })) });
  const place = { channel: "discord", peer: chat("busy"), parentPeer: chat("c9995"), guildId: "g9997", teamId: "t1", roles: ["x", "shared"] };

  test("need as many lookups as ten", () => {
    const many = resolveRoute({ config: of(matches), ...place });
    expect(many).toMatchObject({ matchedBy: "binding.peer.parent", binding: { index: 9995 } });
    expect(resolveRoute({ config: of(matches.slice(0, 10)), ...place, parentPeer: chat("c5") })).toMatchObject({
      binding: { index: 5 },
      lookups: many.lookups,
    });
    expect(many.lookups).toBeLessThanOrEqual(4);
  });

  test("the worst case is one lookup for each shape of binding and role of the sender", () => {
    expect(resolveRoute({ config: of(matches), ...place, parentPeer: undefined, guildId: "nowhere" })).toMatchObject({
      matchedBy: "default",
      lookups: 2 + 2 + 1 + 1,
    });
  });

  test("are parsed once per configuration", () => {
    let reads = 0;
    const config = of(matches.slice(0, 5));
    const watched = new Proxy(config, {
      get(target, key, receiver) {
        if (key === "bindings") reads += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    for (let at = 0; at < 3; at += 1) resolveRoute({ config: watched, ...place });
    expect(reads).toBe(1);
  });
});
