import { expect, test } from "vitest";
import { type FakeDiscord, startDiscord } from "../../../test/fakes/discord/index.ts";
import { memoryState, runAccount, type RunOptions } from "../testing.ts";

const up = (discord: FakeDiscord, more: Partial<RunOptions> = {}) => runAccount({ token: discord.token, apiRoot: discord.apiRoot, ...more });
const isUp = ({ connected }: { connected?: boolean | undefined }): boolean => connected === true;

function issuesOf({ channel, cfg, status }: ReturnType<typeof up>): Promise<string[]> {
  const account = channel.config.resolveAccount(cfg, "default");
  const snapshot = channel.status!.buildAccountSnapshot!({ account, cfg, runtime: status });
  return Promise.resolve(snapshot).then((found) => channel.status!.collectStatusIssues!([found]).map(({ message }) => message));
}

test("a server from which the bot is removed is reported once, shows in the status, and is not asked for any more", async () => {
  await using discord = await startDiscord();
  const guild = discord.world.guild({ name: "Workshop", members: [discord.me] });
  const channel = discord.world.channel(guild);
  await using run = up(discord, { config: { guilds: { [guild.id]: { requireMention: false } } } });
  await run.shows(isUp);
  const before = discord.say("hello", { channel });
  await run.event(({ id }) => id === before.id);
  expect(await issuesOf(run)).toEqual([]);
  discord.gateway.dispatch("GUILD_DELETE", { id: guild.id, unavailable: true });
  discord.expel(guild);
  const reports = () => run.logs.filter((line) => line.includes("removed from the server"));
  await expect.poll(reports).toHaveLength(1);
  expect(reports()[0]).toContain(`Workshop (${guild.id}); invite it again, or remove channels.discord.guilds["${guild.id}"]`);
  expect(await issuesOf(run)).toEqual([`channels.discord.guilds["${guild.id}"]: the bot is not in that server`]);
  const asked = discord.server.asked.length;
  const sent = run.channel.outbound!.sendText!({ cfg: run.cfg, to: `channel:${channel.id}`, text: "anyone?", nonce: "n1" });
  await expect(sent).rejects.toMatchObject({ delivery: { state: "failed" }, message: expect.stringContaining("Missing Access") as string });
  discord.say("still here");
  await run.event(({ text }) => text === "still here");
  const since = discord.server.asked.slice(asked).filter(({ path }) => path.includes(guild.id) || path.includes(channel.id));
  expect(since, "the one message that was sent").toHaveLength(1);
  expect([run.status.connected, reports().length, discord.gateway.identified.length]).toEqual([true, 1, 1]);
});

test("the settings of a server come before those of all others, though the host asks by the server's name", async () => {
  await using discord = await startDiscord();
  const guild = discord.world.guild({ name: "Workshop", members: [discord.me] });
  const config = { guilds: { [guild.id]: { requireMention: false }, "*": { requireMention: true } }, allowFrom: ["a name"] };
  await using run = up(discord, { config });
  await run.shows(isUp);
  const asks = (groupSpace: string) => run.channel.groups!.resolveRequireMention!({ cfg: run.cfg, groupId: "1", groupSpace });
  await expect.poll(() => [asks("Workshop"), asks("Elsewhere")]).toEqual([false, true]);
  const account = run.channel.config.resolveAccount(run.cfg, "default");
  const snapshot = await run.channel.status!.buildAccountSnapshot!({ account, cfg: run.cfg, runtime: run.status, audit: { ok: true } });
  expect(snapshot.audit).toEqual({ ok: true, names: ["a name"] });
});

test("a server is named by its name as a slug, also for its history, and by nothing that another server could have as well", async () => {
  await using discord = await startDiscord();
  const state = memoryState();
  const guild = discord.world.guild({ name: "Friends of Claw!", members: [discord.me] });
  const channel = discord.world.channel(guild);
  const twins = ["Twins", "twins"].map((name) => discord.world.channel(discord.world.guild({ name, members: [discord.me] })));
  const section = { systemPrompt: "Be brief." };
  const config = { guilds: { "friends-of-claw": section, twins: section, nowhere: {}, "4242": {} } };
  {
    await using run = up(discord, { config, runtime: state.runtime });
    await run.shows(isUp);
    const said = discord.say("hello", { channel });
    expect(await run.event(({ id }) => id === said.id)).toMatchObject({
      chat: { guildId: guild.id, guildSlug: "friends-of-claw" },
      groupSystemPrompt: "Be brief.",
    });
    const saidIn = (twin: (typeof twins)[number]) => {
      const { id: wanted } = discord.say("me?", { channel: twin });
      return run.event(({ id }) => id === wanted);
    };
    for (const twin of twins) {
      const event = await saidIn(twin);
      expect([event.chat.guildSlug, event.groupSystemPrompt]).toEqual([undefined, undefined]);
    }
    await expect.poll(() => run.logs.filter((line) => line.includes("channels.discord.guilds["))).toHaveLength(3);
    for (const text of ['"twins"]: several servers', '"nowhere"]: the bot is in no server of that name', '"4242"]: the bot is not in that server'])
      expect(run.logs.join("\n")).toContain(text);
    await run.stop();
  }
  discord.gateway.forget();
  discord.say("while you were away", { channel });
  await using again = up(discord, { config, runtime: state.runtime });
  expect(await again.event(({ text }) => text === "while you were away")).toMatchObject({ backlog: true, groupSystemPrompt: "Be brief." });
});
