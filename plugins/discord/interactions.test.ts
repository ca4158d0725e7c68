import { expect, test } from "vitest";
import { type FakeDiscord, startDiscord } from "../../test/fakes/discord/index.ts";
import { memoryState, runAccount, type RunOptions } from "./testing.ts";

const up = (discord: FakeDiscord, more: Partial<RunOptions> = {}) => runAccount({ token: discord.token, apiRoot: discord.apiRoot, ...more });
const isUp = ({ connected }: { connected?: boolean | undefined }): boolean => connected === true;

async function ready(discord: FakeDiscord, more: Partial<RunOptions> = {}) {
  const guild = discord.world.guild({ members: [discord.me] });
  const channel = discord.world.channel(guild);
  const run = up(discord, { config: { guilds: { [guild.id]: {} } }, ...more });
  await run.shows(isUp);
  return { run, channel, guild, at: { from: discord.me, channel } };
}

test("a slash command becomes an event, is deferred, and its answer takes the place of the sign; a longer one goes on in the channel", async () => {
  await using discord = await startDiscord();
  const { run, channel, at } = await ready(discord);
  await using _ = run;
  const interaction = discord.slash("think", { ...at, args: "high" });
  const event = await run.event(({ kind }) => kind === "command");
  expect(event).toMatchObject({
    text: "/think high",
    id: interaction.id,
    to: `channel:${channel.id}`,
    sender: { id: discord.me.id },
    mention: { mentioned: true },
  });
  await expect.poll(() => interaction.answered).toBe(5);
  const context = { cfg: run.cfg, to: event.to, accountId: "default", answersId: event.id };
  const first = await run.channel.outbound!.sendText!({ ...context, text: "Thinking is high.", nonce: "n1" });
  const second = await run.channel.outbound!.sendText!({ ...context, text: "And more.", nonce: "n2" });
  expect(first.messageId).toBe(interaction.original!.id);
  expect(discord.messages(channel).map(({ content, id }) => [content, id])).toEqual([
    ["Thinking is high.", first.messageId],
    ["And more.", second.messageId],
  ]);
  expect(JSON.stringify(run.logs)).not.toContain(interaction.token);
});

test("an answer that comes after a restart still takes the place of the sign", async () => {
  await using discord = await startDiscord();
  const state = memoryState();
  const { run, channel, at } = await ready(discord, { runtime: state.runtime });
  const interaction = discord.slash("status", at);
  const event = await run.event(({ kind }) => kind === "command");
  await expect.poll(() => [...state.values.keys()].some((key) => key.startsWith("interactions/"))).toBe(true);
  await run[Symbol.asyncDispose]();
  await using again = up(discord, { runtime: state.runtime });
  await again.shows(isUp);
  await again.channel.outbound!.sendText!({ cfg: again.cfg, to: event.to, accountId: "default", answersId: event.id, text: "Fine." });
  expect(discord.messages(channel).map(({ id, content }) => [id, content])).toEqual([[interaction.original!.id, "Fine."]]);
});

test("a refusal is seen by the person alone", async () => {
  await using discord = await startDiscord();
  const { run, channel, at } = await ready(discord, { accept: async () => ({ outcome: "refused", why: "no" }) });
  await using _ = run;
  const interaction = discord.slash("status", at);
  await expect.poll(() => interaction.answered).toBe(4);
  expect(interaction.privately.map(({ content }) => content)).toEqual(["You are not allowed to use this here."]);
  expect(discord.messages(channel)).toEqual([]);
});

test("a button and a menu become events with their values", async () => {
  await using discord = await startDiscord();
  const { run, at } = await ready(discord);
  await using _ = run;
  const message = discord.say("choose", at);
  const pressed = discord.press(message, "yes please", discord.me);
  expect(await run.event(({ id }) => id === pressed.id)).toMatchObject({ kind: "button", text: "yes please" });
  const chosen = discord.press(message, "select:0", discord.me, ["red", "blue"]);
  expect(await run.event(({ id }) => id === chosen.id)).toMatchObject({ kind: "button", text: "red, blue" });
  await expect.poll(() => [pressed.answered, chosen.answered]).toEqual([6, 6]);
});

test("only approvers press the buttons of a question for approval", async () => {
  await using discord = await startDiscord();
  const boss = discord.world.person({ username: "boss" });
  const { run, at } = await ready(discord, { config: { execApprovals: { enabled: true, approvers: [boss.id] } } });
  await using _ = run;
  const message = discord.say("rm -r build?", at);
  const refused = discord.press(message, "/approve 25e15b1e allow-once", discord.me);
  await expect.poll(() => refused.privately.map(({ content }) => content)).toEqual([expect.stringContaining("not one of the approvers")]);
  const taken = discord.press(message, "/approve 25e15b1e deny", boss);
  expect(await run.event(({ kind }) => kind === "button")).toMatchObject({ id: taken.id, text: "/approve 25e15b1e deny" });
  expect(run.events.some(({ id }) => id === refused.id)).toBe(false);
});

test("the menu has what Discord takes; more than 25 choices are suggested while one types", async () => {
  await using discord = await startDiscord();
  const { run, at } = await ready(discord);
  await using _ = run;
  const many = Array.from({ length: 60 }, (_unused, n) => `model-${n}`);
  const commands = [
    { name: "status", description: "x".repeat(300), acceptsArgs: false },
    { name: "think", description: "How much", acceptsArgs: true, choices: ["low", "high"] },
    { name: "model", description: "Which", acceptsArgs: true, choices: many },
    { name: "Bad Name", description: "no", acceptsArgs: false },
    ...Array.from({ length: 120 }, (_unused, n) => ({ name: `skill_${n}`, description: "A skill", acceptsArgs: true })),
  ];
  await run.channel.nativeCommands!.register({ cfg: run.cfg, accountId: "default", commands, signal: AbortSignal.timeout(5000) });
  expect(discord.commands).toHaveLength(100);
  expect(discord.commands.slice(0, 3)).toMatchObject([
    { name: "status", options: [] },
    { name: "think", options: [{ choices: [{ value: "low" }, { value: "high" }] }] },
    { name: "model", options: [{ autocomplete: true }] },
  ]);
  const typing = discord.autocomplete("model", "del-5", at);
  await expect.poll(() => typing.choices?.map(({ value }) => value)).toEqual(["model-5", ...Array.from({ length: 10 }, (_unused, n) => `model-5${n}`)]);
  expect(run.events).toEqual([]);
});
