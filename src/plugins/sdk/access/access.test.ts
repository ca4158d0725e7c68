import { describe, expect, it, vi } from "vitest";
import * as lists from "./allow-lists.ts";
import * as entries from "../values/channel-entries.ts";
import * as gating from "./gating.ts";
import { resolveChannelGroupPolicy, resolveChannelGroupRequireMention, resolveChannelGroupToolsPolicy, resolveToolsBySender } from "./groups.ts";

describe("allow lists", () => {
  it("are merged, trimmed and kept unique", () => {
    expect(lists.addWildcardAllowFrom([" a ", 5])).toEqual(["a", "5", "*"]);
    expect(lists.addWildcardAllowFrom(["*"])).toEqual(["*"]);
    expect(lists.mergeAllowFromEntries(["a", " "], ["b", "a"])).toEqual(["a", "b"]);
    expect(lists.mergeAllowlist({ existing: ["Anna"], additions: ["anna", "Bob"] })).toEqual(["Anna", "Bob"]);
    expect(lists.formatAllowFromLowercase({ allowFrom: ["IRC:Anna", 5], stripPrefixRe: /^irc:/i })).toEqual(["anna", "5"]);
  });

  it.each([
    [[], "u1", undefined, { allowed: false }],
    [["*"], "u1", undefined, { allowed: true, matchKey: "*", matchSource: "wildcard" }],
    [["U1"], "u1", undefined, { allowed: true, matchKey: "u1", matchSource: "id" }],
    [["anna"], "u1", "Anna", { allowed: true, matchKey: "anna", matchSource: "name" }],
    [["bob"], "u1", "Anna", { allowed: false }],
  ])("%j for %s (%s)", (allowFrom, senderId, senderName, match) => {
    expect(lists.resolveAllowlistMatchSimple({ allowFrom, senderId, senderName })).toEqual(match);
  });

  it("know chats as well as people", () => {
    const parse = (entry: string): lists.ParsedChatAllowTarget =>
      entry.startsWith("chat:") ? { kind: "chat_id", chatId: Number(entry.slice(5)) } : { kind: "handle", handle: entry };
    const allowed = (allowFrom: string[], sender: string, chatId?: number) =>
      lists.isAllowedParsedChatSender({ allowFrom, sender, chatId, normalizeSender: (text) => text.toLowerCase(), parseAllowTarget: parse });
    expect([allowed([], "x"), allowed(["chat:7"], "x", 7), allowed(["chat:7"], "x", 8), allowed(["anna"], "ANNA"), allowed(["anna"], "bob")]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it("say what was found, and how many more there are", () => {
    const log = vi.fn();
    lists.summarizeMapping("irc", ["1", "2", "3", "4", "5", "6", "7"], ["x"], { log });
    expect(log.mock.calls).toEqual([["irc resolved: 1, 2, 3, 4, 5, 6 (+1)\nirc unresolved: x"]]);
    lists.summarizeMapping("irc", [], [], { log });
    expect(log).toHaveBeenCalledTimes(1);
  });
});

describe("rooms in a map", () => {
  it("are found directly, by slug, by their parent, by the wildcard, in that order", () => {
    const rooms = { general: 1, "Dev Talk": 2, parent: 3, "*": 4 };
    const find = (keys: string[], parentKeys: string[] = []) =>
      entries.resolveChannelEntryMatchWithFallback({ entries: rooms, keys, parentKeys, wildcardKey: "*", normalizeKey: entries.normalizeChannelSlug });
    expect(find(["general"])).toMatchObject({ entry: 1, matchKey: "general", matchSource: "direct" });
    expect(find(["#dev-talk"])).toMatchObject({ entry: 2, matchKey: "Dev Talk", matchSource: "direct" });
    expect(find(["x"], ["parent"])).toMatchObject({ entry: 3, parentKey: "parent", matchSource: "parent" });
    expect(find(["x"])).toMatchObject({ entry: 4, matchKey: "*", matchSource: "wildcard" });
  });

  it("are not found in what every object has", () => {
    expect(entries.resolveChannelEntryMatch({ entries: {}, keys: ["constructor"] })).toEqual({});
  });

  it.each([
    [false, false, false, false, true],
    [true, false, false, false, false],
    [true, true, false, false, true],
    [true, true, true, false, false],
    [true, true, true, true, true],
  ])("nested lists: %s %s %s %s → %s", (outerConfigured, outerMatched, innerConfigured, innerMatched, answer) => {
    expect(entries.resolveNestedAllowlistDecision({ outerConfigured, outerMatched, innerConfigured, innerMatched })).toBe(answer);
  });

  it("have candidates without blanks and repeats", () => {
    expect(entries.buildChannelKeyCandidates(" a ", undefined, "", "a", "b")).toEqual(["a", "b"]);
  });
});

describe("gates", () => {
  const mention = { requireMention: true, canDetectMention: true, wasMentioned: false };

  it.each([
    [mention, true],
    [{ ...mention, canDetectMention: false }, false],
    [{ ...mention, implicitMention: true }, false],
    [{ ...mention, shouldBypassMention: true }, false],
    [{ ...mention, requireMention: false }, false],
  ])("%j is skipped: %s", (facts, skipped) => {
    expect(gating.resolveMentionGating(facts).shouldSkip).toBe(skipped);
  });

  it("let an authorised command in a group through without a mention, unless someone else is mentioned", () => {
    const facts = { ...mention, isGroup: true, allowTextCommands: true, hasControlCommand: true, commandAuthorized: true };
    expect(gating.resolveMentionGatingWithBypass(facts)).toEqual({ effectiveWasMentioned: true, shouldSkip: false, shouldBypassMention: true });
    for (const change of [{ hasAnyMention: true }, { commandAuthorized: false }, { isGroup: false }]) {
      expect(gating.resolveMentionGatingWithBypass({ ...facts, ...change }).shouldBypassMention).toBe(false);
    }
  });

  it.each([
    [true, [], undefined, false],
    [true, [{ configured: true, allowed: true }], undefined, true],
    [true, [{ configured: false, allowed: true }], undefined, false],
    [false, [], undefined, true],
    [false, [], "deny", false],
    [false, [], "configured", true],
    [false, [{ configured: true, allowed: false }], "configured", false],
  ] as const)("commands with access groups %s, %j, %s: %s", (useAccessGroups, authorizers, modeWhenAccessGroupsOff, allowed) => {
    const facts = { useAccessGroups, authorizers, modeWhenAccessGroupsOff, allowTextCommands: true, hasControlCommand: true };
    expect(gating.resolveControlCommandGate(facts)).toEqual({ commandAuthorized: allowed, shouldBlock: !allowed });
  });

  it("ask the paired list in direct chats only, and live with one that cannot be read", async () => {
    const readAllowFromStore = vi.fn(async () => ["paired"]);
    const params = {
      cfg: {},
      rawBody: "/x",
      isGroup: false,
      dmPolicy: "pairing",
      configuredAllowFrom: ["owner"],
      senderId: "paired",
      isSenderAllowed: (id: string, list: string[]) => list.includes(id),
      readAllowFromStore,
      shouldComputeCommandAuthorized: () => true,
      resolveCommandAuthorizedFromAuthorizers: gating.resolveCommandAuthorizedFromAuthorizers,
    };
    expect(await gating.resolveSenderCommandAuthorization(params)).toMatchObject({ effectiveAllowFrom: ["owner", "paired"], commandAuthorized: true });
    expect(await gating.resolveSenderCommandAuthorization({ ...params, isGroup: true })).toMatchObject({
      effectiveAllowFrom: ["owner"],
      commandAuthorized: false,
    });
    expect(readAllowFromStore).toHaveBeenCalledTimes(1);
    const broken = { ...params, readAllowFromStore: () => Promise.reject(new Error("gone")), shouldComputeCommandAuthorized: () => false };
    expect(await gating.resolveSenderCommandAuthorization(broken)).toMatchObject({ effectiveAllowFrom: ["owner"], commandAuthorized: undefined });
  });

  it("acknowledge in groups where the agent was mentioned, unless another scope is set", () => {
    const facts = { isDirect: false, isGroup: true, isMentionableGroup: true, requireMention: true, canDetectMention: true, effectiveWasMentioned: true };
    expect(gating.shouldAckReaction(facts)).toBe(true);
    expect(gating.shouldAckReaction({ ...facts, effectiveWasMentioned: false })).toBe(false);
    expect((["all", "direct", "group-all", "off", "none"] as const).map((scope) => gating.shouldAckReaction({ ...facts, scope }))).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });

  it("take a reaction away only when it was set", async () => {
    const remove = vi.fn(async () => {});
    const params = { removeAfterReply: true, ackReactionValue: "👀", remove };
    gating.removeAckReactionAfterReply({ ...params, ackReactionPromise: Promise.resolve(false) });
    gating.removeAckReactionAfterReply({ ...params, ackReactionPromise: Promise.resolve(true) });
    await vi.waitFor(() => expect(remove).toHaveBeenCalledTimes(1), { timeout: 20_000 });
  });
});

describe("groups", () => {
  const cfg = {
    channels: {
      irc: {
        groups: { "#dev": { requireMention: false, toolsBySender: { "@anna": { allow: ["exec"] }, "*": { deny: ["exec"] } } }, "#ops": {} },
        accounts: { work: { groups: { "*": { tools: { deny: ["write"] } } } } },
      },
    },
  };

  it("are a list of the only ones that are answered", () => {
    const allowed = (groupId: string, more = {}) => resolveChannelGroupPolicy({ cfg, channel: "irc", groupId, ...more }).allowed;
    expect([allowed("#dev"), allowed("#DEV"), allowed("#DEV", { groupIdCaseInsensitive: true }), allowed("#x"), allowed("#x", { accountId: "work" })]).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    expect(resolveChannelGroupPolicy({ cfg: {}, channel: "irc", groupId: "#x" })).toMatchObject({ allowlistEnabled: false, allowed: true });
  });

  it("need a mention unless something says otherwise", () => {
    const needed = (groupId: string, more = {}) => resolveChannelGroupRequireMention({ cfg, channel: "irc", groupId, ...more });
    expect([needed("#dev"), needed("#ops"), needed("#ops", { requireMentionOverride: false })]).toEqual([false, true, false]);
    expect(needed("#dev", { requireMentionOverride: true, overrideOrder: "before-config" })).toBe(true);
  });

  it("have tools by sender first", () => {
    const tools = (sender: object, groupId = "#dev", more = {}) => resolveChannelGroupToolsPolicy({ cfg, channel: "irc", groupId, ...sender, ...more });
    expect(tools({ senderUsername: "Anna" })).toEqual({ allow: ["exec"] });
    expect(tools({ senderId: "bob" })).toEqual({ deny: ["exec"] });
    expect(tools({}, "#any", { accountId: "work" })).toEqual({ deny: ["write"] });
    expect(resolveToolsBySender({ senderId: "*", toolsBySender: { "*": { deny: ["x"] }, a: { allow: ["y"] } } })).toEqual({ deny: ["x"] });
  });
});
