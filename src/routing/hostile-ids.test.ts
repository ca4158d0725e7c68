import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { canonicalSessionKey, parseSessionKey, resolveSessionKey } from "../protocol/index.ts";
import { createRouting, type RouteLocation } from "./index.ts";

const { resolveRoute } = createRouting();
const links = { alice: ["irc:123", "telegram:thread"], unknown: ["irc:9"], "%!x": ["matrix:8"], "a:group:b": ["7"] };
const config = (dmScope: "per-peer" | "per-channel-peer" | "per-account-channel-peer"): OpenClawConfig => ({ session: { dmScope, identityLinks: links } });
const SCOPES = ["per-peer", "per-channel-peer", "per-account-channel-peer"] as const;
const CONFIGS = {
  "per-peer": config("per-peer"),
  "per-channel-peer": config("per-channel-peer"),
  "per-account-channel-peer": config("per-account-channel-peer"),
};

/** Parts of keys and of escapes, and characters that look or fold like others. No plain capitals: case makes no difference. */
const piece = fc.constantFrom(
  ..."agent main direct dm group channel thread topic subagent cron hook global unknown slash default alice alike 123 7 a k i ss % %! %~ %25; %3a; ! ~ ; 3a 61".split(
    " ",
  ),
  ":",
  "::",
  "%",
  " ",
  "\t",
  "\n",
  "\0",
  "\u00a0",
  "\u200b",
  "\u202e",
  "\ufeff",
  "\u212a",
  "\u0130",
  "\u1e9e",
  "\u01c5",
  "ß",
  "é",
  "e\u0301",
  "\ud800",
  "\udc00",
  "😀",
  "__proto__",
);
const id = fc.oneof(
  { weight: 5, arbitrary: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("")) },
  { weight: 3, arbitrary: fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(":")) },
  { weight: 1, arbitrary: piece.map((text) => text.repeat(300)) },
);
const kind = fc.constantFrom("direct" as const, "group" as const, "channel" as const);
const channel = fc.constantFrom("irc", "matrix", "direct", "group", "cron", "subagent", "main", "x:direct", "unknown", "%!direct");
const accountId = fc.constantFrom("default", "direct", "group", "channel", "slash", "dm", "irc");
const place = fc.record({ channel, accountId, peer: fc.record({ kind, id }), threadId: fc.option(id, { nil: undefined }) });
type Place = typeof place extends fc.Arbitrary<infer T> ? T : never;

/** The person according to `session.identityLinks`, computed independently. */
function personOf({ channel: on, peer }: Place): string | undefined {
  if (peer.id === "7") return "a:group:b";
  return new Map([
    ["irc:123", "alice"],
    ["irc:9", "unknown"],
    ["matrix:8", "%!x"],
  ]).get(`${on}:${peer.id}`);
}

/** What distinguishes sessions. */
function identity(at: Place, scope: (typeof SCOPES)[number]): string {
  const thread = at.threadId === "" ? undefined : at.threadId;
  if (at.peer.kind !== "direct") return JSON.stringify([at.peer.kind, at.channel, at.peer.id, thread]);
  const person = personOf(at);
  const who = person === undefined ? { id: at.peer.id } : { person };
  return JSON.stringify([who, scope === "per-peer" ? "" : at.channel, scope === "per-account-channel-peer" ? at.accountId : "", thread]);
}

test.each(SCOPES)("%s: two chats never have the same key", (scope) => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(place, (at) => {
      const { sessionKey } = resolveRoute({ config: CONFIGS[scope], ...at });
      const who = identity(at, scope);
      expect(seen.get(sessionKey) ?? who).toBe(who);
      seen.set(sessionKey, who);
    }),
    { numRuns: 10_000 },
  );
});

test.each(SCOPES)("%s: every key is canonical, short enough to be used, and of a chat", (scope) => {
  fc.assert(
    fc.property(place, (at) => {
      const route = resolveRoute({ config: CONFIGS[scope], ...at });
      for (const key of [route.sessionKey, route.parentSessionKey ?? route.sessionKey]) {
        expect(parseSessionKey(key)).toBeDefined();
        expect(canonicalSessionKey(key, { defaultAgentId: "main" })).toBe(key);
        expect(resolveSessionKey(key, { defaultAgentId: "main" }, ["main"])).toMatchObject({ ok: true, key });
        expect(key.isWellFormed()).toBe(true);
        expect(key).not.toMatch(/^agent:main:(?:main|global|subagent|cron|hook)(?::|$)/);
      }
    }),
    { numRuns: 3000 },
  );
});

test.each(SCOPES)("%s: no id makes a chat look like another kind of chat, or like a thread", (scope) => {
  fc.assert(
    fc.property(place, (at) => {
      const { sessionKey } = resolveRoute({ config: CONFIGS[scope], ...at, threadId: undefined });
      expect(sessionKey).not.toMatch(/:(?:thread|topic):/);
      if (at.peer.kind === "direct") expect(sessionKey).not.toMatch(/:(?:group|channel):/);
    }),
    { numRuns: 3000 },
  );
});

test("topics: no chat and topic have the key of another chat and topic", () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(id, fc.oneof(id, fc.constant("7")), (chat, topic) => {
      // A chat's id that already ends in the topic is that topic.
      if (topic === "" || chat.endsWith(`:topic:${topic}`)) return;
      const { sessionKey } = resolveRoute({ config: {}, channel: "telegram", peer: { kind: "group", id: chat }, threadId: topic });
      const who = JSON.stringify([chat, topic]);
      expect(seen.get(sessionKey) ?? who).toBe(who);
      seen.set(sessionKey, who);
    }),
    { numRuns: 10_000 },
  );
});

describe("examples", () => {
  const keyOf = (at: RouteLocation, rules: OpenClawConfig = CONFIGS["per-peer"]) => resolveRoute({ config: rules, ...at }).sessionKey;
  const irc = (peerId: string) => ({ channel: "irc", peer: { kind: "direct", id: peerId } }) as const;

  test.each<readonly [string, RouteLocation, string]>([
    ["a group that is called like another one's thread", { channel: "irc", peer: { kind: "group", id: "#a:thread:5" } }, "agent:main:irc:group:#a:%!thread:5"],
    ["a group that is called like another one's topic", { channel: "irc", peer: { kind: "group", id: "#a:topic:5" } }, "agent:main:irc:group:#a:%!topic:5"],
    [
      "a topic of a group that is called like another one's topic",
      { channel: "telegram", peer: { kind: "group", id: "-1:topic:7" }, threadId: 8 },
      "agent:main:telegram:group:-1:%!topic:7:topic:8",
    ],
    ["a stranger with the name of a linked person", irc("Alice"), "agent:main:direct:%!alice"],
    ["a stranger who writes an entry of the links as its id", { channel: "x", peer: { kind: "direct", id: "irc:123" } }, "agent:main:direct:irc:123"],
    ["a Kelvin sign for a k", irc("mi\u212ae"), "agent:main:direct:mi%212a;e"],
    ["an id that ends in a space that is not seen", irc("bob\u00a0"), "agent:main:direct:bob%a0;"],
    ["an id with a blank around it", irc(" bob"), "agent:main:direct:%20;bob"],
    ["an id that is written as an escape", irc("bob%a0;"), "agent:main:direct:bob%25;a0;"],
    ["the same with a capital letter", irc("bob%A0;"), "agent:main:direct:bob%25;a0;"],
    ["a sender named unknown", irc("unknown"), "agent:main:direct:%!unknown"],
    ["a sender without an id", irc(""), "agent:main:direct:unknown"],
    ["a percent sign that means nothing", { channel: "irc", peer: { kind: "group", id: "#100%" } }, "agent:main:irc:group:#100%"],
    ["a sender who would be a group", irc("group:evil"), "agent:main:direct:%!group:evil"],
    ["prototype's names", irc("__proto__"), "agent:main:direct:__proto__"],
  ])("%s", (_name, at, key) => {
    expect(keyOf(at)).toBe(key);
  });

  test("an account named like a kind of chat", () => {
    const own = keyOf({ ...irc("x"), accountId: "group" }, CONFIGS["per-account-channel-peer"]);
    expect(own).toBe("agent:main:irc:%!group:direct:x");
    expect(keyOf({ channel: "irc", peer: { kind: "group", id: "direct:x" } }, CONFIGS["per-account-channel-peer"])).toBe("agent:main:irc:group:direct:x");
  });

  test("long ids with the same beginning", () => {
    const long = (last: string) => keyOf(irc("x".repeat(100_000) + last));
    expect(long("a")).toMatch(/^agent:main:direct:x{120}%~[0-9a-f]{64}$/);
    expect(long("a")).not.toBe(long("b"));
    expect(long("a")).toBe(long("a"));
    expect(keyOf(irc(`${"x".repeat(119)}${"😀".repeat(99)}`))).toMatch(/^agent:main:direct:x{119}%~/);
    expect(keyOf(irc(long("a").slice("agent:main:direct:".length)))).not.toBe(long("a"));
  });

  test("an unknown kind is not the main session", () => {
    const at = { channel: "irc", peer: { kind: "x:direct", id: "1" } } as unknown as RouteLocation;
    expect(keyOf(at, {})).toBe("agent:main:irc:group:1");
  });

  test("ids that look like two fields of a binding match none", () => {
    const bindings = [{ agentId: "main", match: { channel: "discord", guildId: "12", teamId: "3" } }];
    const matchedBy = (guildId: string, teamId: string) => resolveRoute({ config: { bindings }, channel: "discord", guildId, teamId }).matchedBy;
    expect(matchedBy("12", "3")).toBe("binding.guild");
    for (const [guildId, teamId] of [
      ["1", "23"],
      ["123", ""],
      ["121:3", "-"],
      ["12\0", "3"],
    ] as const)
      expect(matchedBy(guildId, teamId)).toBe("default");
  });
});
