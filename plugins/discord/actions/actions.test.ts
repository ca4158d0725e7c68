import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChannelMessageActionName } from "openclaw/plugin-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Channel, type FakeDiscord, type Guild, type Message, startDiscord } from "../../../test/fakes/discord/index.ts";
import { createDiscordPlugin, type DiscordChannel } from "../channel.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const FOLDER = mkdtempSync(join(tmpdir(), "discord-"));
const ALL = { roles: true, moderation: true, presence: true };

let discord: FakeDiscord;
let plugin: DiscordChannel;
let guild: Guild;
let channel: Channel;
let message: Message;
beforeEach(async () => {
  discord = await startDiscord();
  guild = discord.world.guild({ members: [discord.me] });
  channel = discord.world.channel(guild, { name: "general" });
  message = discord.say("a needle in the hay", { channel });
  plugin = createDiscordPlugin({ apiRoot: discord.apiRoot });
});
afterEach(async () => {
  plugin[Symbol.dispose]();
  await discord[Symbol.asyncDispose]();
});

async function act(
  action: ChannelMessageActionName,
  params: Record<string, unknown> = {},
  actions: Record<string, boolean> = ALL,
): Promise<Record<string, unknown>> {
  const cfg = { channels: { discord: { token: discord.token, actions } } };
  const result = await plugin.actions!.handleAction!({
    channel: "discord",
    action,
    cfg,
    mediaLocalRoots: [FOLDER],
    params: { to: `channel:${channel.id}`, ...params },
  });
  return (result as { details?: unknown }).details as Record<string, unknown>;
}

test("what is offered follows the switches; roles, moderation and presence are off by default", () => {
  const listed = (actions: Record<string, boolean>) => plugin.actions!.listActions!({ cfg: { channels: { discord: { token: "t", actions } } } });
  const usual = listed({});
  expect(usual).toEqual(expect.arrayContaining(["send", "poll", "react", "thread-create", "channel-create", "event-list"]));
  for (const off of ["role-add", "role-remove", "timeout", "kick", "ban", "set-presence"]) expect(usual).not.toContain(off);
  expect(listed(ALL)).toEqual(expect.arrayContaining(["role-add", "ban", "set-presence"]));
  expect(listed({ reactions: false })).not.toContain("react");
});

test("an action that is off says which key switches it on", async () => {
  await expect(act("ban", { userId: "1" }, {})).rejects.toThrow("channels.discord.actions.moderation");
});

test("reactions: set, list, take away", async () => {
  const at = { messageId: message.id };
  await act("react", { ...at, emoji: "👍" });
  expect(await act("reactions", at)).toMatchObject({ reactions: [{ emoji: "👍", count: 1, users: [{ id: discord.world.bot.id }] }] });
  await act("react", { ...at, emoji: "" });
  expect(message.reactions).toEqual([]);
});

test("messages: read, edit, delete, pin, search", async () => {
  const sent = await act("send", { message: "ours" });
  const id = String(sent["messageId"]);
  await act("edit", { messageId: id, message: "ours, edited" });
  expect(discord.world.find(channel.id, id)!.content).toBe("ours, edited");
  await expect(act("edit", { messageId: message.id, message: "theirs" })).rejects.toThrow("cannot be edited");
  await act("pin", { messageId: message.id });
  expect(await act("list-pins")).toMatchObject({ pins: [{ id: message.id }] });
  await act("unpin", { messageId: message.id });
  expect(await act("read", { limit: 2 })).toMatchObject({ messages: [{ id, content: "ours, edited" }, { id: message.id }] });
  expect(await act("search", { query: "needle", guildId: guild.id })).toMatchObject({ total: 1, messages: [{ id: message.id }] });
  await act("delete", { messageId: id });
  expect(discord.world.find(channel.id, id)).toBeUndefined();
});

test("threads and forums", async () => {
  const made = await act("thread-create", { messageId: message.id, threadName: "Needles", message: "first" });
  expect(made).toMatchObject({ threadId: message.id, name: "Needles" });
  await act("thread-reply", { threadId: message.id, message: "second" });
  expect(discord.messages(discord.world.channels.get(message.id)!).map(({ content }) => content)).toEqual(["first", "second"]);
  expect(await act("thread-list")).toMatchObject({ threads: [{ id: message.id }] });
  const forum = discord.world.channel(guild, { name: "ideas", type: 15 });
  const post = await act("thread-create", { to: `channel:${forum.id}`, threadName: "More claws", message: "please" });
  expect(discord.messages(discord.world.channels.get(String(post["threadId"]))!).map(({ content }) => content)).toEqual(["please"]);
});

describe("servers", () => {
  test("people and roles", async () => {
    const role = guild.roles[1]!;
    const who = { guildId: guild.id, userId: discord.me.id };
    await act("role-add", { ...who, roleId: role.id });
    expect(await act("member-info", who)).toMatchObject({ member: { username: "alex", roles: [role.id] } });
    await act("role-remove", { ...who, roleId: role.id });
    expect(guild.members.get(discord.me.id)!.roles).toEqual([]);
    expect(await act("role-info", { guildId: guild.id })).toMatchObject({ roles: [{ name: "@everyone" }, { id: role.id }] });
    expect(await act("permissions")).toMatchObject({ permissions: expect.arrayContaining(["ViewChannel", "SendMessages"]) as string[] });
  });

  test("emoji, stickers and events", async () => {
    const path = join(FOLDER, "a.png");
    writeFileSync(path, PNG);
    await act("emoji-upload", { emojiName: "claw", media: path });
    expect(await act("emoji-list")).toMatchObject({ emojis: [{ name: "claw" }] });
    await act("sticker-upload", { stickerName: "Wave", stickerTags: "👋", media: path });
    expect(guild.stickers).toMatchObject([{ name: "Wave" }]);
    await act("sticker", { stickerId: ["123456789"] });
    await act("event-create", { eventName: "Meeting", startTime: "2027-01-01T10:00:00Z", location: "Here" });
    expect(await act("event-list")).toMatchObject({ events: [{ name: "Meeting" }] });
    expect(await act("voice-status", { userId: discord.me.id })).toMatchObject({ voice: { channelId: null } });
  });

  test("channels and categories; the channel of the conversation is not deleted by accident", async () => {
    const category = await act("category-create", { guildId: guild.id, name: "Work" });
    const categoryId = (category["channel"] as { id: string }).id;
    const made = await act("channel-create", { guildId: guild.id, name: "plans", topic: "soon", parentId: categoryId });
    const { id } = made["channel"] as { id: string };
    await act("channel-edit", { channelId: id, name: "plans-2" });
    await act("channel-move", { channelId: id, position: 3 });
    expect(await act("channel-info", { channelId: id })).toMatchObject({ channel: { name: "plans-2", position: 3, parentId: categoryId } });
    await act("category-edit", { categoryId, name: "Play" });
    expect((await act("channel-list", { guildId: guild.id }))["channels"]).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: categoryId, name: "Play" })]),
    );
    await act("channel-delete", { channelId: id });
    await act("category-delete", { categoryId });
    expect(discord.world.channels.has(id) || discord.world.channels.has(categoryId)).toBe(false);
    const current = `channel:${channel.id}`;
    const cfg = { channels: { discord: { token: discord.token } } };
    const here = { channel: "discord", action: "channel-delete" as const, cfg, params: { to: current }, toolContext: { currentChannelId: current } };
    await expect(plugin.actions!.handleAction!(here)).rejects.toThrow("channelId");
  });

  test("keeping order", async () => {
    const target = discord.world.person({ username: "troll" });
    const join1 = (): void => void guild.members.set(target.id, { user: target, nick: null, roles: [], joined_at: "" });
    join1();
    const who = { guildId: guild.id, userId: target.id };
    await act("timeout", { ...who, durationMin: 5, reason: "calm down" });
    expect(Date.parse(guild.members.get(target.id)!.communication_disabled_until!)).toBeGreaterThan(Date.now());
    await act("kick", who);
    expect(guild.members.has(target.id)).toBe(false);
    join1();
    await act("ban", { ...who, deleteDays: 1 });
    expect(guild.bans.has(target.id)).toBe(true);
    await expect(act("set-presence", { status: "dnd" })).rejects.toThrow("not connected");
  });
});

test("probe, audit and directory say what Discord says", async () => {
  const closed = discord.world.channel(guild, { name: "closed", deny: String((1n << 10n) | (1n << 11n)) });
  const cfg = { channels: { discord: { token: discord.token, guilds: { [guild.id]: { channels: { [channel.id]: {}, [closed.id]: {} } } } } } };
  const account = plugin.config.resolveAccount(cfg);
  const probe = await plugin.status!.probeAccount!({ account, timeoutMs: 5000, cfg });
  expect(probe).toMatchObject({ ok: true, bot: { username: "clawbot" }, application: { intents: { messageContent: "enabled" } } });
  const audit = await plugin.status!.auditAccount!({ account, timeoutMs: 5000, cfg, probe });
  expect(audit).toMatchObject({
    ok: false,
    channels: [
      { channelId: channel.id, ok: true },
      { channelId: closed.id, ok: false, missing: ["ViewChannel", "SendMessages"] },
    ],
  });
  const wrong = { channels: { discord: { token: "wrong.to.ken" } } };
  const refused = await plugin.status!.probeAccount!({ account: plugin.config.resolveAccount(wrong), timeoutMs: 5000, cfg: wrong });
  expect(refused).toMatchObject({ ok: false, status: 401 });
  const fresh = createDiscordPlugin({ apiRoot: discord.apiRoot });
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  expect(await fresh.directory!.listGroupsLive!({ cfg, runtime, query: "gener" })).toMatchObject([{ id: `channel:${channel.id}`, handle: "#general" }]);
  expect(await fresh.directory!.listPeersLive!({ cfg, runtime, query: "al" })).toMatchObject([{ id: `user:${discord.me.id}`, handle: "alex" }]);
  expect(await fresh.resolver!.resolveTargets({ cfg, runtime, inputs: ["#general", "#nowhere"], kind: "group" })).toMatchObject([
    { resolved: true, id: channel.id },
    { resolved: false },
  ]);
  expect(await fresh.resolver!.resolveTargets({ cfg, runtime, inputs: ["alex"], kind: "user" })).toMatchObject([{ resolved: true, id: discord.me.id }]);
  const members = (options: { groupId: string; limit?: number }) => fresh.directory!.listGroupMembers!({ cfg, runtime, ...options });
  expect((await members({ groupId: `channel:${channel.id}` })).map(({ id }) => id)).toContain(`user:${discord.me.id}`);
  expect(await members({ groupId: `channel:${channel.id}`, limit: 1 })).toHaveLength(1);
  discord.server.faults.add({ on: /\/guilds\/\d+\/members$/, status: 403, body: { message: "Missing Access", code: 50_001 } });
  await expect(members({ groupId: channel.id })).rejects.toThrow("Server Members Intent");
  await expect(members({ groupId: "general" })).rejects.toThrow("not a Discord channel");
  fresh[Symbol.dispose]();
});
