import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { HostConfig } from "../../../protocol/index.ts";
import { bindSdkHost } from "../host-binding.ts";
import { buildChannelConfigSchema } from "../config/schemas.ts";
import * as accounts from "./accounts.ts";
import * as chat from "./chat-targets.ts";
import * as schemas from "./config-schemas.ts";
import * as directory from "./directory.ts";
import * as groups from "./group-rules.ts";
import { processLineMessage, hasMarkdownToConvert } from "./line-markdown.ts";
import { CHANNEL_MESSAGE_ACTION_NAMES, getChatChannelMeta } from "./meta.ts";
import {
  slackOnboardingAdapter,
  telegramOnboardingAdapter,
  collectDiscordAuditChannelIds,
  parseTelegramThreadId,
  resolveWhatsAppHeartbeatRecipients,
} from "./platforms.ts";
import * as slack from "./slack.ts";
import * as issues from "./status-issues.ts";
import * as targets from "./targets.ts";

describe("targets", () => {
  it.each([
    [targets.normalizeDiscordMessagingTarget, "<@!123>", "user:123"],
    [targets.normalizeDiscordMessagingTarget, "discord:7", "user:7"],
    [targets.normalizeDiscordMessagingTarget, "123", "channel:123"],
    [targets.normalizeDiscordMessagingTarget, " ", undefined],
    [targets.normalizeSlackMessagingTarget, "#C01AB", "channel:c01ab"],
    [targets.normalizeSlackMessagingTarget, "slack:U1", "user:u1"],
    [targets.normalizeTelegramMessagingTarget, "https://t.me/Claw", "telegram:@claw"],
    [targets.normalizeTelegramMessagingTarget, "tg:-100", "telegram:-100"],
    [targets.normalizeSignalMessagingTarget, "signal:group:AbC=", "group:AbC="],
    [targets.normalizeSignalMessagingTarget, "u:Anna.1", "username:anna.1"],
    [targets.normalizeSignalMessagingTarget, "uuid:", undefined],
    [targets.normalizeIMessageMessagingTarget, "SMS: +1 (555) 010", "sms:+1555010"],
    [targets.normalizeIMessageMessagingTarget, "imessage:CHAT_ID:7", "chat_id:7"],
    [targets.normalizeIMessageMessagingTarget, "Anna@X.org", "anna@x.org"],
    [targets.normalizeWhatsAppMessagingTarget, "whatsapp:49170123@s.whatsapp.net", "+49170123"],
    [targets.normalizeWhatsAppMessagingTarget, "123-456@G.US", "123-456@g.us"],
    [targets.normalizeWhatsAppMessagingTarget, "a@b.example", undefined],
  ])("%o of %j is %j", (normalize, raw, target) => {
    expect(normalize(raw)).toBe(target);
  });

  it("that name nobody say so", () => {
    expect(() => targets.normalizeDiscordMessagingTarget("@anna")).toThrow(/user:<id>/);
    expect(targets.normalizeDiscordOutboundTarget()).toMatchObject({ ok: false });
    expect(targets.normalizeDiscordOutboundTarget("5")).toEqual({ ok: true, to: "channel:5" });
  });

  it.each([
    [targets.looksLikeDiscordTargetId, ["123456", "user:1"], ["anna", "12"]],
    [targets.looksLikeSlackTargetId, ["C01234567", "#x"], ["anna"]],
    [targets.looksLikeTelegramTargetId, ["@x", "-100123456"], ["anna"]],
    [targets.looksLikeSignalTargetId, ["uuid:01234567-0123-0123-0123-0123456789ab", "+4917", "group:x"], ["anna", "uuid:x"]],
    [targets.looksLikeIMessageTargetId, ["chat_guid:x", "a@b"], ["anna"]],
    [targets.looksLikeWhatsAppTargetId, ["+4917", "1@g.us"], ["anna", ""]],
  ])("are distinguished from names by %o", (looks, yes, no) => {
    expect([yes.every((raw) => looks(raw)), no.some((raw) => looks(raw))]).toEqual([true, false]);
  });

  it("of WhatsApp that nobody asked for have to be on the list", () => {
    const resolve = (to: string, mode: string, allowFrom: string[]) => targets.resolveWhatsAppOutboundTarget({ to, mode, allowFrom }).ok;
    expect([
      resolve("+1", "explicit", ["+2"]),
      resolve("+1", "implicit", ["+2"]),
      resolve("+1", "implicit", []),
      resolve("+1", "heartbeat", ["*", "+2"]),
      resolve("1@g.us", "implicit", ["+2"]),
    ]).toEqual([true, false, true, true, true]);
  });

  it("of Apple's messages have a service or name a chat", () => {
    const parts = (text: string) => ({
      trimmed: text,
      lower: text.toLowerCase(),
      chatIdPrefixes: ["chat_id:"],
      chatGuidPrefixes: ["guid:"],
      chatIdentifierPrefixes: ["ident:"],
    });
    expect(chat.parseChatTargetPrefixesOrThrow(parts("CHAT_ID: 7"))).toEqual({ kind: "chat_id", chatId: 7 });
    expect(() => chat.parseChatTargetPrefixesOrThrow(parts("chat_id:x"))).toThrow(/chat_id needs a value/);
    expect([chat.parseChatAllowTargetPrefixes(parts("chat_id:x")), chat.parseChatAllowTargetPrefixes(parts("anna"))]).toEqual([null, null]);
    const service = (text: string) =>
      chat.resolveServicePrefixedTarget({
        ...parts(text),
        servicePrefixes: [{ prefix: "sms:", service: "sms" }],
        isChatTarget: (rest) => rest.startsWith("guid:"),
        parseTarget: (rest) => ({ chat: rest }),
      });
    expect([service("SMS:+1"), service("sms:guid:a"), service("+1")]).toEqual([{ kind: "handle", to: "+1", service: "sms" }, { chat: "guid:a" }, null]);
    expect(() => service("sms:")).toThrow(/names no target/);
  });
});

describe("accounts", () => {
  it("take their token from their own keys, the channel's, then the environment", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sdk-"));
    const file = join(folder, "token");
    await writeFile(file, " file-token\n");
    using _bound = bindSdkHost({ env: { DISCORD_BOT_TOKEN: "env-token", TELEGRAM_BOT_TOKEN: " ", SLACK_APP_TOKEN: "xapp" }, stateDir: folder });
    expect(accounts.resolveDiscordAccount({ cfg: {} })).toMatchObject({ token: "env-token", tokenSource: "env", enabled: true });
    const discord = { channels: { discord: { token: "Bot shared", accounts: { work: { enabled: false, token: "own" } } } } };
    expect(accounts.resolveDiscordAccount({ cfg: discord })).toMatchObject({ token: "shared", tokenSource: "config" });
    expect(accounts.resolveDiscordAccount({ cfg: discord, accountId: "Work" })).toMatchObject({ accountId: "work", token: "own", enabled: false });
    expect(accounts.resolveDiscordAccount({ cfg: discord, accountId: "other" })).toMatchObject({ token: "", tokenSource: "none" });
    const telegram = { channels: { telegram: { accounts: { ops: { tokenFile: file } } } } };
    expect(accounts.resolveTelegramAccount({ cfg: telegram })).toMatchObject({ accountId: "ops", token: "file-token", tokenSource: "tokenFile" });
    expect(accounts.resolveTelegramAccount({ cfg: { channels: { telegram: { tokenFile: join(folder, "none"), botToken: "x" } } } }).tokenSource).toBe("none");
    expect(accounts.resolveSlackAccount({ cfg: { channels: { slack: { botToken: "xoxb", replyToMode: "first" } } } })).toMatchObject({
      botTokenSource: "config",
      appTokenSource: "env",
      replyToMode: "first",
    });
    expect(accounts.resolveWhatsAppAccount({ cfg: { channels: { whatsapp: { allowFrom: ["+1"] } } } })).toMatchObject({
      sendReadReceipts: true,
      allowFrom: ["+1"],
      authDir: join(folder, "credentials", "whatsapp", "default"),
    });
    await rm(folder, { recursive: true });
  });

  it("know whether they are set up", () => {
    expect(accounts.resolveSignalAccount({ cfg: { channels: { signal: { httpPort: 9 } } } })).toMatchObject({
      configured: true,
      baseUrl: "http://127.0.0.1:9",
    });
    expect([
      accounts.resolveSignalAccount({ cfg: {} }).configured,
      accounts.resolveIMessageAccount({ cfg: { channels: { imessage: { groups: {} } } } }).configured,
    ]).toEqual([false, false]);
    expect(accounts.resolveIMessageAccount({ cfg: { channels: { imessage: { mediaMaxMb: 5 } } } }).configured).toBe(true);
    const line = { channels: { line: { channelAccessToken: "t", channelSecret: "s", accounts: { two: { channelAccessToken: "t2", enabled: false } } } } };
    expect(accounts.listLineAccountIds(line)).toEqual(["default", "two"]);
    expect(accounts.resolveLineAccount({ cfg: line, accountId: "two" })).toMatchObject({ enabled: false, channelAccessToken: "t2", tokenSource: "config" });
  });
});

describe("rules of groups", () => {
  const cfg: HostConfig = {
    channels: {
      discord: { guilds: { "1": { slug: "My Server", requireMention: false, channels: { general: { requireMention: true, tools: { deny: ["exec"] } } } } } },
      slack: { channels: { C1: { requireMention: false }, "*": { tools: { allow: ["read"] } } } },
      telegram: { groups: { "-100": { requireMention: true, topics: { "7": { requireMention: false } } } } },
    },
  };

  it("come from the room, then its server, then the wildcard", () => {
    expect(groups.resolveDiscordGroupRequireMention({ cfg, groupSpace: "my-server", groupChannel: "#general" })).toBe(true);
    expect(groups.resolveDiscordGroupRequireMention({ cfg, groupSpace: "1", groupId: "9" })).toBe(false);
    expect(groups.resolveDiscordGroupRequireMention({ cfg, groupSpace: "2" })).toBe(true);
    expect(groups.resolveDiscordGroupToolPolicy({ cfg, groupSpace: "1", groupChannel: "General" })).toEqual({ deny: ["exec"] });
    expect([groups.resolveSlackGroupRequireMention({ cfg, groupId: "C1" }), groups.resolveSlackGroupToolPolicy({ cfg, groupId: "C9" })]).toEqual([
      false,
      { allow: ["read"] },
    ]);
    expect(["-100:topic:7", "-100:topic:8", "-100"].map((groupId) => groups.resolveTelegramGroupRequireMention({ cfg, groupId }))).toEqual([false, true, true]);
  });

  it("list whom the configuration names", async () => {
    const named: HostConfig = {
      channels: {
        discord: { allowFrom: ["<@5>", "*", "anna"], guilds: { "1": { users: [6], channels: { "7": { users: ["8"] }, general: {} } } } },
        telegram: { allowFrom: ["anna", 5] },
        whatsapp: { allowFrom: ["+1", "2@g.us"], groups: { "2@g.us": {} } },
      },
    };
    const ids = async (list: typeof directory.listDiscordDirectoryPeersFromConfig, more = {}) => (await list({ cfg: named, ...more })).map(({ id }) => id);
    expect(await ids(directory.listDiscordDirectoryPeersFromConfig)).toEqual(["user:5", "user:6", "user:8"]);
    expect(await ids(directory.listDiscordDirectoryPeersFromConfig, { query: "USER:", limit: 1 })).toEqual(["user:5"]);
    expect(await ids(directory.listDiscordDirectoryGroupsFromConfig)).toEqual(["channel:7"]);
    expect(await ids(directory.listTelegramDirectoryPeersFromConfig)).toEqual(["@anna", "5"]);
    expect([await ids(directory.listWhatsAppDirectoryPeersFromConfig), await ids(directory.listWhatsAppDirectoryGroupsFromConfig)]).toEqual([
      ["+1"],
      ["2@g.us"],
    ]);
    expect(collectDiscordAuditChannelIds({ cfg: named })).toEqual({ channelIds: ["7"], unresolvedChannels: 1 });
  });
});

describe("status", () => {
  const on = { accountId: "a", enabled: true, configured: true };

  it.each([
    [issues.collectDiscordStatusIssues, { ...on, application: { intents: { messageContent: "disabled" } } }, ["intent"]],
    [
      issues.collectDiscordStatusIssues,
      {
        ...on,
        audit: {
          unresolvedChannels: 1,
          channels: [
            { channelId: "1", ok: false, missing: ["SEND"] },
            { channelId: "2", ok: true },
          ],
        },
      },
      ["config", "permissions"],
    ],
    [issues.collectDiscordStatusIssues, { ...on, enabled: false, audit: { unresolvedChannels: 1 } }, []],
    [issues.collectTelegramStatusIssues, { ...on, allowUnmentionedGroups: true, audit: { groups: [{ chatId: "1", ok: false }] } }, ["config", "runtime"]],
    [issues.collectWhatsAppStatusIssues, { accountId: "a" }, ["auth"]],
    [issues.collectWhatsAppStatusIssues, { accountId: "a", linked: true, running: true, connected: false }, ["runtime"]],
    [issues.collectBlueBubblesStatusIssues, { accountId: "a" }, ["config"]],
    [issues.collectBlueBubblesStatusIssues, { ...on, running: true, lastError: "x", probe: { ok: false, status: 500 } }, ["runtime", "runtime"]],
  ])("%o finds in %j: %j", (collect, account, kinds) => {
    expect(collect([account]).map(({ kind, accountId }) => [kind, accountId])).toEqual(kinds.map((kind) => [kind, "a"]));
  });
});

describe("Slack", () => {
  const cfg = { channels: { slack: { botToken: "x", actions: { pins: false }, replyToMode: "off", replyToModeByChatType: { direct: "all" } } } };
  const act = async (action: "send" | "read" | "pin" | "kick", params: Record<string, unknown>, more = {}) => {
    const invoke = vi.fn(async (_action: Record<string, unknown>) => ({ content: [] }));
    await slack.handleSlackMessageAction({ providerId: "slack", ctx: { channel: "slack", action, cfg, params }, invoke, ...more });
    return JSON.parse(JSON.stringify(invoke.mock.calls[0]![0])) as unknown;
  };

  it("speaks its own words", async () => {
    expect(await act("send", { to: "C1", message: "hi", replyTo: "1.2" })).toEqual({ action: "sendMessage", to: "C1", content: "hi", threadTs: "1.2" });
    expect(await act("read", { to: "c1", limit: "3" }, { normalizeChannelId: (id: string) => id.toUpperCase() })).toEqual({
      action: "readMessages",
      channelId: "C1",
      limit: 3,
    });
    await expect(act("send", { to: "C1" })).rejects.toThrow(/needs message, blocks or media/);
    await expect(act("pin", { to: "C1" })).rejects.toThrow("messageId required");
    await expect(act("kick", {})).rejects.toThrow(/no action kick/);
  });

  it("offers what the switches allow, and replies in threads by kind of chat", () => {
    expect(slack.listSlackMessageActions({})).toEqual([]);
    expect(slack.listSlackMessageActions(cfg)).toEqual(["send", "react", "reactions", "read", "edit", "delete", "member-info", "emoji-list"]);
    const mode = (context: object) => slack.buildSlackThreadingToolContext({ cfg, context }).replyToMode;
    expect([mode({ ChatType: "direct" }), mode({ ChatType: "channel" }), mode({ ThreadLabel: "x" })]).toEqual(["all", "off", "all"]);
  });
});

describe("what is not there", () => {
  it("says so and names the channel", async () => {
    await expect(telegramOnboardingAdapter.configure({} as never)).rejects.toMatchObject({ code: "UNAVAILABLE", details: { channel: "telegram" } });
    expect(() => resolveWhatsAppHeartbeatRecipients({})).toThrow(/WhatsApp heartbeat.*pass to/);
    expect(resolveWhatsAppHeartbeatRecipients({}, { to: "1" })).toEqual({ recipients: ["+1"], source: "flag" });
  });

  it("can still be read and given a policy", async () => {
    expect(await slackOnboardingAdapter.getStatus({ cfg: { channels: { slack: { botToken: "b", appToken: "a" } } }, accountOverrides: {} })).toMatchObject({
      configured: true,
    });
    expect(telegramOnboardingAdapter.dmPolicy!.setPolicy({ channels: { telegram: { allowFrom: ["1"] } } }, "open").channels).toEqual({
      telegram: { allowFrom: ["1", "*"], dmPolicy: "open" },
    });
  });
});

describe("facts", () => {
  it("have an order, and every action has one name", () => {
    expect(getChatChannelMeta("telegram")).toMatchObject({ label: "Telegram", docsPath: "/channels/telegram", order: 0 });
    expect(() => getChatChannelMeta("fax")).toThrow(/no such channel/);
    expect(new Set(CHANNEL_MESSAGE_ACTION_NAMES).size).toBe(51);
    expect([parseTelegramThreadId("7"), parseTelegramThreadId(" "), parseTelegramThreadId(7.9)]).toEqual([7, undefined, 7]);
  });

  it("of LINE become cards, the rest plain text", () => {
    const { text, flexMessages } = processLineMessage("**Hi** [x](https://e.example)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet a\n```");
    expect([text, flexMessages.map(({ altText }) => altText)]).toEqual(["Hi x (https://e.example)", ["Table", "Code"]]);
    expect([hasMarkdownToConvert("plain"), hasMarkdownToConvert("| a |\n|---|\n| b |")]).toEqual([false, true]);
  });

  it("of sections are schemas that keep unknown keys and refuse an open door without a star", () => {
    expect(schemas.DiscordConfigSchema.safeParse({ token: "x", later: 1, accounts: { a: { token: "y" } } })).toMatchObject({
      success: true,
      data: { later: 1 },
    });
    expect(schemas.TelegramConfigSchema.safeParse({ dmPolicy: "open", allowFrom: ["1"] }).success).toBe(false);
    expect(schemas.SlackConfigSchema.safeParse({ mode: "carrier pigeon" }).success).toBe(false);
    const all = [
      schemas.SignalConfigSchema,
      schemas.IMessageConfigSchema,
      schemas.WhatsAppConfigSchema,
      schemas.GoogleChatConfigSchema,
      schemas.MSTeamsConfigSchema,
      schemas.LineConfigSchema,
    ];
    expect(all.every((schema) => schema.safeParse({ enabled: true, dmPolicy: "pairing" }).success)).toBe(true);
    expect(JSON.stringify(buildChannelConfigSchema(schemas.LineConfigSchema).schema)).toContain("channelAccessToken");
  });
});
