import { expect, test } from "vitest";
import { startDiscord } from "../../../test/fakes/discord/index.ts";
import { startFakeServer } from "../../../src/plugin-testing/index.ts";
import { runAccount } from "../testing.ts";

async function open(more: Partial<Parameters<typeof runAccount>[0]> = {}, config: Record<string, unknown> = {}) {
  const discord = await startDiscord();
  const guild = discord.world.guild({ members: [discord.me] });
  const channel = discord.world.channel(guild);
  const run = runAccount({ token: discord.token, apiRoot: discord.apiRoot, config: { guilds: { [guild.id]: {} }, ...config }, ...more });
  await run.shows(({ connected }) => connected === true);
  return {
    discord,
    guild,
    channel,
    run,
    eventOf: (id: string) => run.event((event) => event.id === id),
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await discord[Symbol.asyncDispose]();
    },
  };
}

test("a deleted message is a notice in the name of its author, one by one and in bulk; those of unknown authors and our own are none", async () => {
  await using lab = await open();
  const { discord, channel, run, eventOf } = lab;
  const direct = discord.say("a secret");
  const [one, two, three] = ["one", "two", "three"].map((text) => discord.say(text, { channel }));
  await eventOf(direct.id);
  await eventOf(three!.id);
  discord.remove(direct);
  expect(await eventOf(`${direct.id}:deleted`)).toMatchObject({
    kind: "notice",
    text: `Discord: message ${direct.id} by Alex was deleted`,
    chat: { type: "direct" },
    sender: { id: discord.me.id },
    to: `user:${discord.me.id}`,
  });
  const ours = await run.channel.outbound!.sendText!({ cfg: run.cfg, to: `channel:${channel.id}`, text: "answer" });
  discord.remove(discord.world.find(channel.id, ours.messageId)!);
  discord.gateway.dispatch("MESSAGE_DELETE", { id: "4242", channel_id: channel.id, guild_id: lab.guild.id }, "guild");
  discord.remove(one!, two!);
  expect(await eventOf(`${two!.id}:deleted`)).toMatchObject({ chat: { type: "channel", id: channel.id }, to: `channel:${channel.id}` });
  expect(run.events.filter(({ id }) => id.endsWith(":deleted")).map(({ id }) => id)).toEqual([direct, one, two].map((message) => `${message!.id}:deleted`));
});

test("what a proxy posts again is not a deleted message, but the proxy's own post is", async () => {
  const proxied = new Map<string, unknown>();
  await using pluralkit = await startFakeServer({ handle: ({ path }) => (proxied.has(path) ? { body: proxied.get(path) } : undefined) });
  await using lab = await open({ pluralkitRoot: pluralkit.url }, { pluralkit: { enabled: true } });
  const { discord, channel, run, eventOf } = lab;
  const original = discord.say("hello from Luna", { channel });
  await eventOf(original.id);
  const id = discord.world.id();
  proxied.set(`/messages/${id}`, { sender: discord.me.id, original: original.id, member: { name: "Luna" } });
  const post = discord.say("hello from Luna", { from: discord.world.person({ username: "Hook" }), channel, more: { id, webhook_id: "66" } });
  discord.remove(original);
  discord.remove(post);
  expect(await eventOf(`${post.id}:deleted`)).toMatchObject({ sender: { id: discord.me.id, name: "Luna" } });
  expect(run.events.some((event) => event.id === `${original.id}:deleted`)).toBe(false);
});

test("votes in our own polls are notices, those in other polls are none", async () => {
  await using lab = await open();
  const { discord, channel, run } = lab;
  const poll = { question: "Tea?", options: ["yes", "no"], maxSelections: 1 };
  const sent = await run.channel.outbound!.sendPoll!({ cfg: run.cfg, to: `channel:${channel.id}`, poll });
  const ours = discord.world.find(channel.id, sent.messageId)!;
  const theirs = discord.say("", { channel, more: { poll: { question: { text: "Rain?" }, answers: [{ answer_id: 1, poll_media: { text: "yes" } }] } } });
  discord.vote(theirs, 1, discord.me);
  discord.vote(ours, 2, discord.me);
  discord.vote(ours, 2, discord.me, false);
  const votes = () => run.events.filter(({ id }) => id.includes(":vote:"));
  await expect
    .poll(() => votes().map(({ text }) => text))
    .toEqual([`Discord: ${discord.me.id} voted "no" in the poll "Tea?"`, `Discord: ${discord.me.id} withdrew the vote "no" in the poll "Tea?"`]);
  expect(votes()[0]).toMatchObject({ kind: "notice", sender: { id: discord.me.id }, chat: { type: "channel", id: channel.id } });
  expect(new Set(votes().map(({ id }) => id)).size).toBe(2);
});
