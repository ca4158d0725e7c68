import { afterAll, beforeAll, expect, test } from "vitest";
import { type Channel, type FakeDiscord, type Guild, startDiscord } from "../../../test/fakes/discord/index.ts";
import { startFakeServer } from "../../../src/plugin-testing/index.ts";
import { runAccount, type DiscordRun } from "../testing.ts";

let discord: FakeDiscord;
let run: DiscordRun;
let guild: Guild;
let channel: Channel;
let forum: Channel;
let pluralkit: Awaited<ReturnType<typeof startFakeServer>>;
const proxied = new Map<string, unknown>();

beforeAll(async () => {
  discord = await startDiscord();
  const { world } = discord;
  guild = world.guild({ name: "Workshop", members: [discord.me] });
  channel = world.channel(guild, { name: "general", topic: "All about claws" });
  forum = world.channel(guild, { name: "ideas", type: 15 });
  pluralkit = await startFakeServer({ handle: ({ path }) => (proxied.has(path) ? { body: proxied.get(path) } : undefined) });
  run = runAccount({
    token: discord.token,
    apiRoot: discord.apiRoot,
    pluralkitRoot: pluralkit.url,
    config: {
      pluralkit: { enabled: true },
      guilds: {
        [guild.id]: {
          reactionNotifications: "own",
          channels: { general: { systemPrompt: "Be brief.", skills: ["weather"] }, own: { autoThread: true }, [forum.id]: {} },
        },
      },
    },
  });
  await run.shows(({ connected }) => connected === true);
});
afterAll(async () => {
  await run[Symbol.asyncDispose]();
  await pluralkit[Symbol.asyncDispose]();
  await discord[Symbol.asyncDispose]();
});

const eventOf = (id: string) => run.event((event) => event.id === id);

test("a direct message goes back to its person", async () => {
  const said = discord.say("hello");
  expect(await eventOf(said.id)).toMatchObject({
    kind: "message",
    text: "hello",
    chat: { type: "direct", id: said.channel_id },
    to: `user:${discord.me.id}`,
    sender: { id: discord.me.id, name: "Alex", username: "alex", tag: "alex" },
    context: { From: `discord:${discord.me.id}` },
  });
});

test("a message of a server has its channel, rules and topic; who is meant is read from mentions, the bot's role and replies", async () => {
  const said = discord.say(`hi <@${discord.world.bot.id}>`, { channel });
  expect(await eventOf(said.id)).toMatchObject({
    chat: { type: "channel", id: channel.id, guildId: guild.id, channelName: "#general", space: "Workshop" },
    mention: { mentioned: true, implicit: false, others: false },
    untrusted: ["Discord channel topic: All about claws"],
    groupSystemPrompt: "Be brief.",
    skillFilter: ["weather"],
    to: `channel:${channel.id}`,
  });
  const role = guild.roles.find(({ managed }) => managed)!;
  const byRole = discord.say(`hi <@&${role.id}>`, { channel });
  expect((await eventOf(byRole.id)).mention).toMatchObject({ mentioned: true, others: false });
  const other = discord.world.person({ username: "bo" });
  const toOther = discord.say(`hi <@${other.id}>`, { channel });
  expect((await eventOf(toOther.id)).mention).toMatchObject({ mentioned: false, others: true });
  const sent = await run.channel.outbound!.sendText!({ cfg: run.cfg, to: `channel:${channel.id}`, text: "answer" });
  const reply = discord.say("thanks", { channel, replyTo: sent.messageId });
  expect(await eventOf(reply.id)).toMatchObject({ mention: { implicit: true }, replyTo: { id: sent.messageId, body: "answer", sender: "Claw" } });
});

test("with autoThread a message for us belongs to the session of the thread that its answer begins", async () => {
  const own = discord.world.channel(guild, { name: "own" });
  const asked = discord.say(`hi <@${discord.world.bot.id}>`, { channel: own });
  expect((await eventOf(asked.id)).context).toMatchObject({ SessionKey: `discord:channel:${asked.id}` });
  const other = discord.say("hi all", { channel: own });
  expect((await eventOf(other.id)).context).not.toHaveProperty("SessionKey");
});

test("a thread names its channel and how it began; a post of a forum begins with itself", async () => {
  const starter = discord.say("shall we travel?", { channel });
  const thread = discord.world.thread(channel, "Travel", starter.id);
  const said = discord.say("yes", { channel: thread });
  expect(await eventOf(said.id)).toMatchObject({
    chat: { id: thread.id, parentId: channel.id, parentName: "#general" },
    groupSystemPrompt: "Be brief.",
    context: { ThreadStarterBody: "shall we travel?", ThreadLabel: "thread #general › Travel" },
  });
  const post = discord.world.thread(forum, "An idea");
  discord.say("more claws", { channel: post, more: { id: post.id } });
  const answer = discord.say("good idea", { channel: post });
  expect(await eventOf(answer.id)).toMatchObject({ chat: { isForum: true, parentId: forum.id }, context: { ThreadStarterBody: "more claws" } });
});

test("files, stickers, polls, cards and forwards", async () => {
  const data = Buffer.from("a picture");
  const said = discord.say("", { files: [{ name: "a.png", type: "image/png", data }] });
  const event = await eventOf(said.id);
  expect(event.media).toMatchObject([{ kind: "image", fileName: "a.png", bytes: data.length }]);
  const load = () =>
    run.channel.media!.fetch({ cfg: run.cfg, accountId: "default", ref: event.media![0]!.ref, maxBytes: 1000, signal: AbortSignal.timeout(5000) });
  expect((await load()).data).toEqual(data);
  discord.expireFiles(said);
  expect((await load()).data, "an address that expired is asked for again").toEqual(data);
  const texts = {
    sticker: discord.say("", { more: { sticker_items: [{ id: "123456789", name: "Wave", format_type: 3 }] } }),
    poll: discord.say("", { more: { poll: { question: { text: "Tea?" }, answers: [{ poll_media: { text: "yes" } }, { poll_media: { text: "no" } }] } } }),
    card: discord.say("", { more: { embeds: [{ title: "News", description: "It rains" }] } }),
    forward: discord.say("", {
      more: {
        message_reference: { type: 1, channel_id: "77", message_id: "88" },
        message_snapshots: [{ message: { content: "seen elsewhere", timestamp: "2026-01-01T00:00:00Z" } }],
      },
    }),
  };
  expect((await eventOf(texts.sticker.id)).text).toBe("[sticker] Wave");
  expect((await eventOf(texts.poll.id)).text).toBe("[poll] Tea?: yes / no");
  expect((await eventOf(texts.card.id)).text).toBe("News\nIt rains");
  expect(await eventOf(texts.forward.id)).toMatchObject({ text: "seen elsewhere", context: { ForwardedFromId: "77", ForwardedFromMessageId: "88" } });
});

test("reactions to our own messages are reported, those to others are not, and each has an id of its own", async () => {
  const sent = await run.channel.outbound!.sendText!({ cfg: run.cfg, to: `channel:${channel.id}`, text: "react to me" });
  const ours = discord.world.find(channel.id, sent.messageId)!;
  const theirs = discord.say("not to me", { channel });
  discord.react(theirs, "👎", discord.me);
  discord.react(ours, "👍", discord.me);
  discord.react(ours, "👍", discord.me, false);
  const found = () => run.events.filter(({ kind, replyTo }) => kind === "reaction" && replyTo?.id === ours.id);
  await expect.poll(() => found().map(({ text }) => text)).toEqual(["👍", "👍 (taken back)"]);
  expect(new Set(found().map(({ id }) => id)).size).toBe(2);
  expect(run.events.some(({ replyTo, kind }) => kind === "reaction" && replyTo?.id === theirs.id)).toBe(false);
});

test("edits are events of their own; what Discord adds to a message is none; our own messages and their edits are ignored", async () => {
  const said = discord.say("one", { channel });
  discord.gateway.dispatch("MESSAGE_UPDATE", { ...said, guild_id: guild.id, embeds: [{ title: "a link" }] }, "guild");
  discord.edit(said, "two");
  const edit = await run.event(({ kind, replyTo }) => kind === "edit" && replyTo?.id === said.id);
  expect(edit).toMatchObject({ text: "two", id: `${said.id}:edit:${Date.parse(said.edited_timestamp!)}` });
  expect(run.events.filter(({ kind, replyTo }) => kind === "edit" && replyTo?.id === said.id)).toHaveLength(1);
  expect(run.events.some(({ sender }) => sender.id === discord.world.bot.id)).toBe(false);
});

test("bots and webhooks are marked as such; a message of PluralKit is its writer's, under the id of what they wrote", async () => {
  const bot = discord.world.person({ username: "otherbot", bot: true });
  expect((await eventOf(discord.say("beep", { from: bot, channel }).id)).sender.isBot).toBe(true);
  const hook = discord.world.person({ username: "Hook" });
  const posted = discord.say("news", { from: hook, channel, more: { webhook_id: "55" } });
  expect((await eventOf(posted.id)).sender.isBot).toBe(true);
  const proxy = { from: hook, channel, more: { id: discord.world.id(), webhook_id: "66" } };
  proxied.set(`/messages/${proxy.more.id}`, { sender: discord.me.id, original: "4242", member: { name: "Luna" } });
  discord.say("as Luna", proxy);
  const event = await eventOf("4242");
  expect(event).toMatchObject({ text: "as Luna", sender: { id: discord.me.id, name: "Luna" } });
  expect(event.sender.isBot).toBeUndefined();
});

test("what Discord announces is a notice or a change of members", async () => {
  const pin = discord.say("", { channel, type: 6 });
  expect(await eventOf(pin.id)).toMatchObject({ kind: "notice", text: "Discord: Alex pinned a message" });
  const joined = discord.say("", { channel, type: 7 });
  expect(await eventOf(joined.id)).toMatchObject({ kind: "member", text: "Discord: Alex joined the server" });
});
