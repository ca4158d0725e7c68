import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseDocument, type OpenClawConfig } from "../config/index.ts";
import { canonicalSessionKey } from "../protocol/index.ts";
import { createRouting, type MatchedBy, type RouteLocation } from "./index.ts";

const example = (name: string): OpenClawConfig =>
  parseDocument(readFileSync(new URL(`../../test/fixtures/config/examples/${name}.json5`, import.meta.url), "utf8"), name).value as OpenClawConfig;
const { resolveRoute } = createRouting();
const user = (id: string) => ({ kind: "direct", id }) as const;
const group = (id: string) => ({ kind: "group", id }) as const;
const channel = (id: string) => ({ kind: "channel", id }) as const;

type Row = readonly [string, RouteLocation, string, MatchedBy, string];

describe("the documented set-ups", () => {
  const whatsapp = { channel: "whatsapp" };
  test.each<Row>([
    ["two-people-one-number", { ...whatsapp, peer: user("+15551230001") }, "alex", "binding.peer", "agent:alex:main"],
    ["two-people-one-number", { ...whatsapp, peer: user("+15551230002") }, "mia", "binding.peer", "agent:mia:main"],
    ["two-people-one-number", { ...whatsapp, peer: user("+15551230003") }, "alex", "default", "agent:alex:main"],
    ["two-accounts", { ...whatsapp, accountId: "personal", peer: user("+1") }, "home", "binding.account", "agent:home:main"],
    ["two-accounts", { ...whatsapp, accountId: "biz", peer: user("+1") }, "work", "binding.account", "agent:work:main"],
    [
      "two-accounts",
      { ...whatsapp, accountId: "personal", peer: group("1203630...@g.us") },
      "work",
      "binding.peer",
      "agent:work:whatsapp:group:1203630...@g.us",
    ],
    ["two-accounts", { ...whatsapp, accountId: "biz", peer: group("1203630...@g.us") }, "work", "binding.account", "agent:work:whatsapp:group:1203630...@g.us"],
    ["two-accounts", { ...whatsapp, peer: user("+1") }, "home", "default", "agent:home:main"],
    ["agents-by-channel", { ...whatsapp, peer: user("+1") }, "chat", "binding.account", "agent:chat:main"],
    ["agents-by-channel", { channel: "telegram", peer: user("1") }, "opus", "binding.account", "agent:opus:main"],
    ["agents-by-channel", { channel: "telegram", accountId: "second", peer: user("1") }, "chat", "default", "agent:chat:main"],
    ["agents-by-peer", { ...whatsapp, peer: user("+15551234567") }, "opus", "binding.peer", "agent:opus:main"],
    ["agents-by-peer", { ...whatsapp, peer: user("+15550000000") }, "chat", "binding.account", "agent:chat:main"],
    ["family-group", { ...whatsapp, peer: group("120363999999999999@g.us") }, "family", "binding.peer", "agent:family:whatsapp:group:120363999999999999@g.us"],
    ["dm-scope", { channel: "telegram", peer: user("123456789") }, "main", "default", "agent:main:telegram:direct:123456789"],
    ["session", { channel: "telegram", peer: user("123456789") }, "main", "default", "agent:main:main"],
  ])("%s: %j is answered by %s (%s) in %s", (name, place, agentId, matchedBy, sessionKey) => {
    expect(resolveRoute({ config: example(name), ...place })).toMatchObject({ agentId, matchedBy, sessionKey, mainSessionKey: `agent:${agentId}:main` });
  });
});

describe("keys of direct chats by session.dmScope", () => {
  const place = { channel: "Telegram", accountId: "Work", peer: user("Alice") };
  test.each([
    ["main", "agent:main:main"],
    ["per-peer", "agent:main:direct:alice"],
    ["per-channel-peer", "agent:main:telegram:direct:alice"],
    ["per-account-channel-peer", "agent:main:telegram:work:direct:alice"],
  ] as const)("%s: %s", (dmScope, sessionKey) => {
    expect(resolveRoute({ config: { session: { dmScope } }, ...place }).sessionKey).toBe(sessionKey);
  });

  test("without an account it is the default one", () => {
    const config: OpenClawConfig = { session: { dmScope: "per-account-channel-peer" } };
    expect(resolveRoute({ config, channel: "telegram", peer: user("7") }).sessionKey).toBe("agent:main:telegram:default:direct:7");
  });

  test("`dm` means `direct`, in messages, bindings and configured keys", () => {
    const config: OpenClawConfig = {
      agents: { list: [{ id: "a" }, { id: "b" }] },
      session: { dmScope: "per-channel-peer" },
      bindings: [{ agentId: "b", match: { channel: "telegram", peer: { kind: "dm", id: "7" } } }],
    };
    const { sessionKey } = resolveRoute({ config, channel: "telegram", peer: { kind: "dm", id: 7 } });
    expect(sessionKey).toBe("agent:b:telegram:direct:7");
    expect(canonicalSessionKey("agent:b:telegram:dm:7", { defaultAgentId: "a" })).toBe(sessionKey);
  });

  test("in global scope the main session is the global one, groups have their own", () => {
    const config: OpenClawConfig = { session: { scope: "global" } };
    expect(resolveRoute({ config, channel: "telegram", peer: user("1") })).toMatchObject({ sessionKey: "global", mainSessionKey: "global" });
    expect(resolveRoute({ config, channel: "telegram", peer: group("-1") }).sessionKey).toBe("agent:main:telegram:group:-1");
  });

  test("a message without a chat goes to the main session in every scope", () => {
    const config: OpenClawConfig = { session: { dmScope: "per-account-channel-peer" } };
    expect(resolveRoute({ config, channel: "webchat" }).sessionKey).toBe("agent:main:main");
  });
});

describe("keys of groups and threads, channel by channel", () => {
  test.each<readonly [RouteLocation, string, string | undefined]>([
    [{ channel: "telegram", peer: group("-1001") }, "agent:main:telegram:group:-1001", undefined],
    [{ channel: "telegram", peer: group("-1001"), threadId: 7 }, "agent:main:telegram:group:-1001:topic:7", "agent:main:telegram:group:-1001"],
    [{ channel: "telegram", peer: group("-1001:topic:7") }, "agent:main:telegram:group:-1001:topic:7", "agent:main:telegram:group:-1001"],
    [{ channel: "telegram", peer: group("-1001:topic:7"), threadId: "7" }, "agent:main:telegram:group:-1001:topic:7", "agent:main:telegram:group:-1001"],
    [{ channel: "telegram", peer: user("5"), threadId: 9 }, "agent:main:main:thread:9", "agent:main:main"],
    [{ channel: "discord", peer: channel("42") }, "agent:main:discord:channel:42", undefined],
    [{ channel: "discord", peer: channel("43"), parentPeer: channel("42") }, "agent:main:discord:channel:43", "agent:main:discord:channel:42"],
    [{ channel: "discord", peer: channel("42"), threadId: "43" }, "agent:main:discord:channel:43", "agent:main:discord:channel:42"],
    [{ channel: "discord", peer: group("8") }, "agent:main:discord:group:8", undefined],
    [{ channel: "slack", peer: channel("C042"), threadId: "1712.0001" }, "agent:main:slack:channel:c042:thread:1712.0001", "agent:main:slack:channel:c042"],
    [{ channel: "slack", peer: group("G7") }, "agent:main:slack:group:g7", undefined],
    [{ channel: "whatsapp", peer: group("120363@g.us") }, "agent:main:whatsapp:group:120363@g.us", undefined],
    [{ channel: "signal", peer: group("aBc+/=") }, "agent:main:signal:group:abc+/=", undefined],
    [{ channel: "irc", peer: group("#Lobby") }, "agent:main:irc:group:#lobby", undefined],
    [
      { channel: "mattermost", peer: channel("town"), threadId: "root1" },
      "agent:main:mattermost:channel:town:thread:root1",
      "agent:main:mattermost:channel:town",
    ],
    [
      { channel: "matrix", peer: channel("!Room:example.org"), threadId: "$Event" },
      "agent:main:matrix:channel:!room:example.org:thread:$event",
      "agent:main:matrix:channel:!room:example.org",
    ],
    [{ channel: "line", peer: group("group:C0ffee") }, "agent:main:line:group:group:c0ffee", undefined],
    [{ channel: "line", peer: group("room:R1") }, "agent:main:line:group:room:r1", undefined],
    [{ channel: "gchat", peer: channel("spaces/AAA") }, "agent:main:googlechat:channel:spaces/aaa", undefined],
    [{ channel: "feed", peer: group("oc_1"), threadId: "om_2", threadForm: "topic" }, "agent:main:feed:group:oc_1:topic:om_2", "agent:main:feed:group:oc_1"],
    [{ channel: "irc", peer: group("") }, "agent:main:irc:group:unknown", undefined],
  ])("%j: %s", (place, sessionKey, parent) => {
    const route = resolveRoute({ config: {}, ...place });
    expect([route.sessionKey, route.parentSessionKey]).toEqual([sessionKey, parent]);
  });

  test("direct ids keep their colons", () => {
    const config: OpenClawConfig = { session: { dmScope: "per-channel-peer" } };
    expect(resolveRoute({ config, channel: "signal", peer: user("uuid:AB-1") }).sessionKey).toBe("agent:main:signal:direct:uuid:ab-1");
    expect(resolveRoute({ config, channel: "matrix", peer: user("@Alice:example.org") }).sessionKey).toBe("agent:main:matrix:direct:@alice:example.org");
  });
});

describe("identity links", () => {
  const links = { Alice: ["telegram:123456789", "discord:987654321012345678"], bob: ["bobby", "matrix:@bob:example.org"] };
  const keyOf = (dmScope: "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer", place: RouteLocation) =>
    resolveRoute({ config: { session: { dmScope, identityLinks: links } }, ...place }).sessionKey;

  test.each([
    ["per-peer", "telegram", "123456789", "agent:main:direct:alice"],
    ["per-peer", "discord", "987654321012345678", "agent:main:direct:alice"],
    ["per-channel-peer", "telegram", "123456789", "agent:main:telegram:direct:alice"],
    ["per-account-channel-peer", "telegram", "123456789", "agent:main:telegram:default:direct:alice"],
    ["per-peer", "whatsapp", "123456789", "agent:main:direct:123456789"],
    ["per-peer", "irc", "Bobby", "agent:main:direct:bob"],
    ["per-peer", "matrix", "@Bob:example.org", "agent:main:direct:bob"],
    ["main", "telegram", "123456789", "agent:main:main"],
  ] as const)("%s, %s %s: %s", (dmScope, id, peer, key) => {
    expect(keyOf(dmScope, { channel: id, peer: user(peer) })).toBe(key);
  });

  test("an account claimed by two people belongs to the first", () => {
    const both = (identityLinks: Record<string, string[]>) =>
      resolveRoute({ config: { session: { dmScope: "per-peer", identityLinks } }, channel: "irc", peer: user("x") }).sessionKey;
    expect(both({ first: ["x"], second: ["irc:x"] })).toBe("agent:main:direct:first");
    expect(both({ first: ["irc:x"], second: ["x"] })).toBe("agent:main:direct:first");
  });

  test("groups are never linked", () => {
    expect(keyOf("per-peer", { channel: "telegram", peer: group("123456789") })).toBe("agent:main:telegram:group:123456789");
  });
});
