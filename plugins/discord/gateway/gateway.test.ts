import { expect, test } from "vitest";
import { type FakeDiscord, startDiscord } from "../../../test/fakes/discord/index.ts";
import { impatient, memoryState, runAccount, type RunOptions } from "../testing.ts";

const up = (discord: FakeDiscord, more: Partial<RunOptions> = {}) =>
  runAccount({ token: discord.token, apiRoot: discord.apiRoot, waiting: impatient, ...more });
const isUp = ({ connected }: { connected?: boolean | undefined }): boolean => connected === true;
const says =
  (text: string) =>
  (event: { text: string }): boolean =>
    event.text === text;

/** One server with a channel that is read. */
function place(discord: FakeDiscord) {
  const guild = discord.world.guild({ members: [discord.me] });
  const channel = discord.world.channel(guild, { name: "general", topic: "All about claws" });
  return { guild, channel, config: { guilds: { [guild.id]: { requireMention: false } } } };
}

test("a session goes on after a restart: what was said meanwhile comes, and Discord is left with a code that keeps the session", async () => {
  await using discord = await startDiscord();
  const state = memoryState();
  {
    await using first = up(discord, { runtime: state.runtime });
    await first.shows(isUp);
    discord.say("one");
    await first.event(says("one"));
    await first.stop();
  }
  await expect.poll(() => discord.gateway.closeCodes).toEqual([4200]);
  discord.say("two");
  await using second = up(discord, { runtime: state.runtime });
  await second.event(says("two"));
  expect(second.events.map(({ text }) => text)).toEqual(["two"]);
  expect([discord.gateway.identified.length, discord.gateway.resumed]).toEqual([1, 1]);
});

test("the position stays before an event that the host has not taken", async () => {
  await using discord = await startDiscord();
  const state = memoryState();
  {
    const never = async (event: { text: string }): Promise<void> => {
      if (event.text === "stuck") throw Object.assign(new Error("not now"), { code: "OVERLOADED" });
    };
    await using first = up(discord, { runtime: state.runtime, accept: never });
    await first.shows(isUp);
    discord.say("stuck");
    const other = discord.world.person({ username: "bo" });
    discord.say("taken", { from: other });
    await first.event(says("taken"));
    await first.stop();
  }
  await using second = up(discord, { runtime: state.runtime });
  await second.event(says("stuck"));
  await second.event(says("taken"));
});

test("after a session that Discord forgot, the history is read: direct chats and the servers that are listened to", async () => {
  await using discord = await startDiscord();
  const { channel, guild, config } = place(discord);
  const elsewhere = discord.world.channel(discord.world.guild({ members: [discord.me] }));
  const thread = discord.world.thread(channel, "Old news");
  const state = memoryState();
  {
    await using first = up(discord, { runtime: state.runtime, config });
    await first.shows(isUp);
    discord.say("before");
    await first.event(says("before"));
    await first.stop();
  }
  discord.gateway.forget();
  for (let n = 1; n <= 120; n += 1) discord.say(`direct ${n}`);
  discord.say("in the channel", { channel });
  discord.say("in the thread", { channel: thread });
  discord.say("elsewhere", { channel: elsewhere });
  await using second = up(discord, { runtime: state.runtime, config });
  await second.event(says("direct 120"));
  await second.event(says("in the thread"));
  await second.event(says("in the channel"));
  expect(second.events.filter(({ chat }) => chat.type === "direct").map(({ text }) => text)).toEqual(Array.from({ length: 120 }, (_, n) => `direct ${n + 1}`));
  expect(second.events.find(says("in the channel"))).toMatchObject({ backlog: true, chat: { guildId: guild.id } });
  expect(second.events.find(says("elsewhere"))).toBeUndefined();
});

test.each([
  [4014, 0, /Message Content Intent/],
  [4004, undefined, /token/],
])("close code %i ends the account with what to do, and it does not try again", async (code, allowed, text) => {
  await using discord = await startDiscord();
  if (allowed !== undefined) discord.gateway.allowed = allowed;
  await using run = up(discord, code === 4004 ? { token: discord.token } : {});
  if (code === 4004) {
    await run.shows(isUp);
    discord.gateway.closeAll(4004);
  }
  expect(await run.ended).toMatchObject({ permanent: true, message: expect.stringMatching(text) as string });
  expect(JSON.stringify([run.logs, run.status])).not.toContain(discord.token);
});

test("a wrong token ends the account after one question", async () => {
  await using discord = await startDiscord();
  await using run = up(discord, { token: "wrong.token.value" });
  expect(await run.ended).toMatchObject({ permanent: true, message: expect.stringMatching(/401.*channels\.discord\.token/) as string });
  expect(discord.server.asked).toHaveLength(1);
});

test("a heartbeat that nobody answers, op 7, op 9 and lost connections: the session goes on, or another begins, and no message is lost", async () => {
  await using discord = await startDiscord();
  discord.gateway.heartbeatMs = 40;
  discord.gateway.acknowledges = false;
  await using run = runAccount({ token: discord.token, apiRoot: discord.apiRoot });
  await run.shows(isUp);
  await expect.poll(() => discord.gateway.resumed, { timeout: 8000 }).toBeGreaterThan(0);
  discord.gateway.acknowledges = true;
  const calm = async (): Promise<void> => {
    await expect.poll(() => discord.gateway.live, { timeout: 8000 }).toBe(1);
  };
  await calm();
  discord.gateway.askToReconnect();
  await expect.poll(() => discord.gateway.live).toBe(0);
  discord.say("while away");
  await run.event(says("while away"));
  await calm();
  discord.gateway.invalidate(false);
  await expect.poll(() => discord.gateway.identified.length, { timeout: 8000 }).toBe(2);
  await calm();
  discord.say("in the new one");
  await run.event(says("in the new one"));
  discord.server.drop();
  await expect.poll(() => discord.gateway.live).toBe(0);
  discord.say("after the cut");
  await run.event(says("after the cut"));
  expect(run.events.filter(says("while away"))).toHaveLength(1);
}, 30_000);

test("garbage is ignored, and what cannot be read is skipped", async () => {
  await using discord = await startDiscord();
  await using run = up(discord);
  await run.shows(isUp);
  discord.gateway.sendRaw("<html>");
  discord.gateway.sendRaw({ op: 99 });
  discord.gateway.sendRaw({ op: 0, t: null, s: 3, d: {} });
  discord.gateway.dispatch("MESSAGE_CREATE", { id: "1", channel_id: "2", author: { id: 7 } }, "always");
  discord.gateway.dispatch("INTERACTION_CREATE", { id: "1" }, "always");
  discord.say("still here");
  await run.event(says("still here"));
  expect(run.events).toHaveLength(1);
});

test("presence and intents are what the configuration says", async () => {
  await using discord = await startDiscord();
  await using run = up(discord, { config: { activity: "reading", status: "idle", intents: { guildMembers: true } } });
  await run.shows(isUp);
  const { intents, presence } = discord.gateway.identified[0]!;
  expect(intents).toBe((1 << 0) | (1 << 1) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13) | (1 << 15) | (1 << 24) | (1 << 25));
  expect(presence).toEqual({ since: null, afk: false, status: "idle", activities: [{ name: "Custom Status", type: 4, state: "reading" }] });
});

test("too many sessions in a day are waited for, not hammered", async () => {
  await using discord = await startDiscord();
  discord.startLimit.remaining = 0;
  await using run = runAccount({ token: discord.token, apiRoot: discord.apiRoot });
  await run.shows(({ lastError }) => typeof lastError === "string");
  expect(run.status.lastError).toMatch(/too many sessions/);
  expect(discord.server.asked).toHaveLength(1);
});
