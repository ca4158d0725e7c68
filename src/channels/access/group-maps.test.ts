/** Servers and channels of Discord, channels of Slack: the maps that say where the agent answers, and whom. */
import { describe, expect, test } from "vitest";
import type { ChannelInboundEvent } from "../../protocol/index.ts";
import { accessRequest, inboundEvent } from "./access.fixture.ts";
import { decideAccess, type AccessDecision } from "../index.ts";

const brief = (verdict: AccessDecision): string => `${verdict.allow ? "yes" : "no"} ${verdict.reason}`;
const MENTIONED = { mentioned: true };

type Chat = Partial<ChannelInboundEvent["chat"]>;
type Sender = Partial<ChannelInboundEvent["sender"]>;

function on(channel: "discord" | "slack", section: object, chat: Chat, sender: Sender = {}, over: Partial<ChannelInboundEvent> = {}): AccessDecision {
  const event = inboundEvent({ mention: MENTIONED, ...over, chat: { type: "channel", ...chat }, sender });
  return decideAccess(accessRequest({ [channel]: section }, event, { channel, plugin: undefined }));
}

describe("discord: guilds.<id>.channels.<id>", () => {
  const CHAT: Chat = { id: "222", guildId: "111", channelName: "help" };
  const discord = (section: object, chat: Chat = {}, sender: Sender = {}) => on("discord", section, { ...CHAT, ...chat }, sender);
  const guilds = (guild: object) => ({ guilds: { "111": guild } });

  test.each([
    ["without a map nobody is answered", {}, "no group-allowlist"],
    ["the list of direct messages is not one for servers", { allowFrom: ["7"] }, "no group-allowlist"],
    ["a listed server is answered, in every channel and for everybody", guilds({}), "yes group-allowlist"],
    ["another server is not", { guilds: { "999": {} } }, "no group-unknown"],
    ["… nor under an open policy", { groupPolicy: "open", guilds: { "999": {} } }, "no group-unknown"],
    ["an open policy without a map", { groupPolicy: "open" }, "yes group-open"],
    ["a star stands for all servers", { guilds: { "*": {} } }, "yes group-allowlist"],
    ["servers that are off", { groupPolicy: "disabled", ...guilds({}) }, "no group-disabled"],
    ["a listed channel", guilds({ channels: { "222": { allow: true } } }), "yes group-allowlist"],
    ["a channel by its name", guilds({ channels: { help: { allow: true } } }), "yes group-allowlist"],
    ["where channels are listed, others are not answered", guilds({ channels: { "333": { allow: true } } }), "no group-unknown"],
    ["a star matches all channels", guilds({ channels: { "*": {} } }), "yes group-allowlist"],
    ["a channel that is not allowed", guilds({ channels: { "222": { allow: false } } }), "no group-disabled"],
    ["a disabled channel", guilds({ channels: { "222": { enabled: false } } }), "no group-disabled"],
    ["people of the server", guilds({ users: ["7"] }), "yes sender-allowlist"],
    ["others of the server", guilds({ users: ["8"] }), "no sender-allowlist"],
    ["… whatever the policy", { groupPolicy: "open", ...guilds({ users: ["8"] }) }, "no sender-allowlist"],
    ["users of the channel come before those of the server", guilds({ users: ["7"], channels: { "222": { users: ["8"] } } }), "no sender-allowlist"],
    ["a role of the server", guilds({ roles: ["51"] }), "yes sender-allowlist"],
    ["another role", guilds({ roles: ["52"] }), "no sender-allowlist"],
    ["people or roles: one of them is enough", guilds({ users: ["8"], roles: ["51"] }), "yes sender-allowlist"],
    ["roles of the channel come before users of the server", guilds({ users: ["7"], channels: { "222": { roles: ["52"] } } }), "no sender-allowlist"],
    ["an account's map replaces the channel's", { ...guilds({}), accounts: { default: { guilds: { "999": {} } } } }, "no group-unknown"],
  ] as const)("%s", (_name, section, verdict) => {
    expect(brief(discord(section, {}, { roles: ["50", "51"] }))).toBe(verdict);
  });

  test("the decision names the configuration key", () => {
    expect(discord(guilds({ users: ["8"], roles: ["51"] }), {}, { roles: ["51"] })).toMatchObject({ path: 'channels.discord.guilds["111"].roles' });
    expect(discord(guilds({ channels: { "222": { users: ["8"] } } }))).toMatchObject({ path: 'channels.discord.guilds["111"].channels["222"].users' });
    expect(discord(guilds({ channels: { "333": {} } }))).toMatchObject({ path: 'channels.discord.guilds["111"].channels' });
    expect(discord({})).toMatchObject({ why: expect.stringContaining("channels.discord.guilds") });
  });

  test("a server is identified by its id, or by its name where the channel vouches that no other has it: what it is called allows nobody", () => {
    const named = { guilds: { friends: { users: ["7"] } } };
    expect(brief(discord(named, { guildSlug: "friends", space: "Friends" }))).toBe("yes sender-allowlist");
    expect(brief(discord(named, { guildSlug: "others", space: "friends" }))).toBe("no group-unknown");
    expect(brief(discord({ guilds: { "111": { users: ["8"] }, friends: { users: ["7"] } } }, { guildSlug: "friends" }))).toBe("no sender-allowlist");
    expect(brief(discord({ guilds: { "999": {} } }, { guildSlug: "999" })), "a name that is another server's id").toBe("no group-unknown");
    for (const section of [{ guilds: { friends: {} } }, { guilds: { "999": { slug: "friends" } } }]) {
      expect(brief(discord(section, { space: "friends" }))).toBe("no group-unknown");
    }
  });

  test("ids may be numbers; one that has lost digits names nobody, and the list stays closed", () => {
    const rounded = 123_456_789_012_345_680;
    expect(brief(discord(guilds({ users: [7] })))).toBe("yes sender-allowlist");
    expect(brief(discord(guilds({ roles: [51] }), {}, { roles: ["51"] }))).toBe("yes sender-allowlist");
    expect(brief(discord(guilds({ users: [rounded] }), {}, { id: String(rounded) }))).toBe("no sender-allowlist");
    expect(brief(discord(guilds({ roles: [rounded] }), {}, { roles: [String(rounded)] }))).toBe("no sender-allowlist");
  });

  test("a channel named like another one's id is not that one, nor is a thread named like a channel", () => {
    expect(brief(discord(guilds({ channels: { "333": {} } }), { channelName: "333" }))).toBe("no group-unknown");
    expect(brief(discord(guilds({ channels: { help: {} } }), { id: "444", parentId: "223", parentName: "off-topic", channelName: "help" }))).toBe(
      "no group-unknown",
    );
  });

  test("a thread has the settings of its channel, by id or by name", () => {
    for (const key of ["222", "help", "#help"]) {
      const thread: Chat = { id: "444", parentId: "222", parentName: "help", channelName: "my question" };
      expect(brief(discord(guilds({ channels: { [key]: { users: ["7"] } } }), thread))).toBe("yes sender-allowlist");
      expect(brief(discord(guilds({ channels: { [key]: { users: ["8"] } } }), thread))).toBe("no sender-allowlist");
    }
  });

  test.each([
    ["is asked for by default", {}, false],
    ["the server says otherwise", { requireMention: false }, true],
    ["its channel comes first", { requireMention: false, channels: { "222": { requireMention: true } } }, false],
    ["a channel without a setting inherits the server's", { requireMention: false, channels: { "222": {} } }, true],
    ["a channel inherits from * before the server", { requireMention: true, channels: { "222": {}, "*": { requireMention: false } } }, true],
  ] as const)("a mention %s", (_name, guild, trigger) => {
    expect(on("discord", guilds(guild), CHAT, {}, { mention: {} })).toMatchObject({ allow: true, trigger });
  });

  test("senders allowed by name or role may give commands; a listed server alone allows none", () => {
    const command = (guild: object, sender: Sender = {}) => brief(on("discord", guilds(guild), CHAT, sender, { text: "/status" }));
    expect(command({ users: ["7"] })).toBe("yes sender-allowlist");
    expect(command({ roles: ["51"] }, { roles: ["51"] })).toBe("yes sender-allowlist");
    expect(command({})).toBe("no command-unauthorised");
  });

  test("group chats without a server are answered where dm.groupEnabled is set, and only in dm.groupChannels", () => {
    const together = (dm: object) => brief(on("discord", { dm, guilds: { "111": {} } }, { type: "group", id: "222" }));
    expect([together({}), together({ groupEnabled: false }), together({ groupEnabled: true })]).toEqual([
      "no group-unknown",
      "no group-unknown",
      "yes group-allowlist",
    ]);
    expect([together({ groupEnabled: true, groupChannels: ["223"] }), together({ groupEnabled: true, groupChannels: ["222"] })]).toEqual([
      "no group-unknown",
      "yes group-allowlist",
    ]);
  });

  test("every kind of event passes the same gate", () => {
    for (const kind of ["edit", "reaction", "button", "member", "command"] as const) {
      expect(on("discord", guilds({ users: ["8"] }), CHAT, {}, { kind }).allow).toBe(false);
    }
  });
});

describe("slack: channels.<id>", () => {
  const CHAT: Chat = { id: "C0HELP", channelName: "help", teamId: "T1" };
  const slack = (section: object, chat: Chat = {}, sender: Sender = {}) => on("slack", section, { ...CHAT, ...chat }, sender);

  test.each([
    ["without a map nobody is answered", { allowFrom: ["7"] }, "no group-allowlist"],
    ["a listed channel, for everybody in it", { channels: { C0HELP: { allow: true } } }, "yes group-allowlist"],
    ["by its name", { channels: { "#help": {} } }, "yes group-allowlist"],
    ["all channels", { channels: { "*": { requireMention: true } } }, "yes group-allowlist"],
    ["another channel", { channels: { C0OTHER: {} } }, "no group-unknown"],
    ["a channel that is not allowed", { channels: { C0HELP: { allow: false }, "*": {} } }, "no group-disabled"],
    ["a disabled channel", { channels: { C0HELP: { enabled: false } } }, "no group-disabled"],
    ["its people", { channels: { C0HELP: { users: ["7"] } } }, "yes sender-allowlist"],
    ["others", { channels: { C0HELP: { users: ["8"] } } }, "no sender-allowlist"],
    ["an open policy without a map", { groupPolicy: "open" }, "yes group-open"],
  ] as const)("%s", (_name, section, verdict) => {
    expect(brief(slack(section))).toBe(verdict);
  });

  test("a channel named like another one's id is not that one", () => {
    expect(brief(slack({ channels: { C0OTHER: {} } }, { channelName: "c0other" }))).toBe("no group-unknown");
  });

  test("mention and bot settings of the chat come first, then the channel's", () => {
    const section = { requireMention: false, channels: { C0HELP: { requireMention: true, allowBots: true }, C0B: {} } };
    const quiet = (id: string) => on("slack", section, { ...CHAT, id }, {}, { mention: {} });
    expect([quiet("C0HELP"), quiet("C0B")]).toMatchObject([{ trigger: false }, { trigger: true }]);
    expect([slack(section, {}, { isBot: true }), slack(section, { id: "C0B" }, { isBot: true })].map(brief)).toEqual(["yes group-allowlist", "no bot-sender"]);
  });
});

test("slack: messages with several people are answered where dm.groupEnabled is set, whatever the list of channels says", () => {
  const together = (section: object) => brief(on("slack", section, { type: "group", id: "G222" }));
  expect([together({}), together({ channels: { "*": {} } }), together({ dm: { groupEnabled: true } })]).toEqual([
    "no group-unknown",
    "no group-unknown",
    "yes group-allowlist",
  ]);
  expect([together({ dm: { groupEnabled: true, groupChannels: ["G9"] } }), together({ dm: { groupEnabled: true, groupChannels: ["G222"] } })]).toEqual([
    "no group-unknown",
    "yes group-allowlist",
  ]);
  expect(together({ groupPolicy: "disabled", dm: { groupEnabled: true } })).toBe("no group-disabled");
});

test("groups of Signal whose ids differ only in case do not share a policy; ids of other channels are compared whatever their case", () => {
  const groups = { "AbC=": {} };
  const allowed = (channel: string, id: string) => {
    const event = inboundEvent({ mention: MENTIONED, chat: { type: "group", id } });
    return brief(decideAccess(accessRequest({ [channel]: { groupPolicy: "open", groups } }, event, { channel, plugin: undefined })));
  };
  expect([allowed("signal", "AbC="), allowed("signal", "aBc="), allowed("irc", "aBc=")]).toEqual(["yes group-open", "no group-unknown", "yes group-open"]);
});
