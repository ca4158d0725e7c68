import { fileURLToPath } from "node:url";
import type { ChannelCapabilities, ChannelPlugin } from "../../../src/protocol/index.ts";
import { createTestHost } from "../../../src/plugin-testing/index.ts";
import { type Channel, type FakeDiscord, type Guild, type Message, startDiscord, type User } from "../../fakes/discord/index.ts";
import { startLabGateway, type LabGateway } from "./lab-gateway.ts";
import type { ChannelLab, Deed, FaultName, LabFaults, LabSettings, MakeLab, Received, Spot, Where } from "./lab.ts";
import { until } from "./suite/heard.ts";

const PLUGIN = fileURLToPath(new URL("../../../plugins/discord", import.meta.url));
const WRONG = "MTEwMDAwMDAwMDAwMDAwMDAwMQ.Gwrong.wrong-secret-of-a-test-000000000";

/** The chats of the lab. */
interface Ground {
  readonly discord: FakeDiscord;
  readonly owner: User;
  readonly stranger: User;
  readonly guild: Guild;
  /** Wants to be named. */
  readonly group: Channel;
  /** A thread of a channel that does not. */
  readonly thread: Channel;
  readonly open: Channel;
}

async function prepare(): Promise<Ground> {
  const discord = await startDiscord();
  const { world } = discord;
  const owner = discord.me;
  const stranger = world.person({ username: "mallory_outside", global_name: "Mallory" });
  for (const person of [owner, stranger]) world.direct(person);
  const guild = world.guild({ name: "Workshop", members: [owner, stranger] });
  const group = world.channel(guild, { name: "general" });
  const open = world.channel(guild, { name: "plans" });
  return { discord, owner, stranger, guild, group, open, thread: world.thread(open, "Travel") };
}

function sectionOf(
  { owner, guild, group, open }: Ground,
  token: string,
  { access = "allowlist", channel = {} }: LabSettings,
): Readonly<Record<string, unknown>> {
  return {
    enabled: true,
    token,
    dmPolicy: access,
    allowFrom: [owner.id],
    groupPolicy: "allowlist",
    guilds: { [guild.id]: { users: [owner.id], channels: { [group.id]: { requireMention: true }, [open.id]: { requireMention: false } } } },
    // A reaction of ours to every message would be traffic that no test asks about.
    ackReaction: "",
    ...channel,
  };
}

async function claimsOf(): Promise<ChannelCapabilities> {
  await using host = await createTestHost({ plugins: [PLUGIN] });
  return (host.channel("discord") as ChannelPlugin).capabilities;
}

/** What a person of the lab does and sees. */
function createPerson({
  discord,
  owner,
  stranger,
  group,
  thread,
}: Ground): Pick<ChannelLab, "say" | "received" | "edit" | "react" | "press" | "join" | "redeliver"> {
  const { world } = discord;
  /** Messages that the lab itself put there, in the bot's name. */
  const planted = new Set<string>();
  const whoIs = ({ by = "owner" }: Spot): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Spot): Channel =>
    ({ direct: () => world.direct(whoIs(spot)), group: () => group, thread: () => thread })[spot.where ?? ("direct" satisfies Where)]();
  const fileOf = ({ attachments: [file] }: Message): Received["file"] => {
    const stored = file && world.files.get(file.id);
    return stored && { name: stored.name, data: stored.data };
  };

  return {
    say(text, options = {}) {
      const { mention, replyTo, file } = options;
      const said = discord.say(mention ? `<@${world.bot.id}> ${text}` : text, {
        from: whoIs(options),
        channel: channelOf(options),
        ...(replyTo ? { replyTo: replyTo.id } : {}),
        ...(file ? { files: [{ name: file.name, type: file.mime, data: file.data }] } : {}),
      });
      return Promise.resolve({ id: said.id, ...options });
    },
    received(spot = {}) {
      const ours = discord.messages(channelOf(spot)).filter(({ author, id }) => author.id === world.bot.id && !planted.has(id));
      return ours.map((message) => ({ id: message.id, text: message.content, replyTo: message.message_reference?.message_id, file: fileOf(message) }));
    },
    redeliver(said) {
      discord.gateway.again(said.id);
      return Promise.resolve();
    },
    edit(said, text) {
      discord.edit(world.find(channelOf(said).id, said.id)!, text);
      return Promise.resolve();
    },
    react(emoji, spot = {}) {
      const messages = discord.messages(channelOf(spot));
      const last = messages.findLast(({ author }) => author.id === world.bot.id) ?? messages.at(-1);
      discord.react(last ?? discord.say("hello", { from: whoIs(spot), channel: channelOf(spot) }), emoji, whoIs(spot));
      return Promise.resolve();
    },
    async press(value, spot = {}) {
      const components = [{ type: 1, components: [{ type: 2, style: 1, label: "Pick", custom_id: value }] }];
      const response = await fetch(`${discord.apiRoot}/channels/${channelOf(spot).id}/messages`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bot ${discord.token}`, "user-agent": "DiscordBot (lab, 1)" },
        body: JSON.stringify({ content: "Pick one:", components }),
      });
      const { id } = (await response.json()) as { readonly id: string };
      planted.add(id);
      discord.press(world.find(channelOf(spot).id, id)!, value, whoIs(spot));
    },
    join(spot) {
      // Discord announces it in the channel.
      discord.say("", { from: whoIs(spot), channel: channelOf(spot), type: 7 });
      return Promise.resolve();
    },
  };
}

const VOICE = { name: "voice-message.ogg", type: "audio/ogg", data: Buffer.from("OggS w-deed") };

function createDeeds({ discord, owner, stranger, group, thread }: Ground): Readonly<Record<string, Deed>> {
  const { world } = discord;
  const whoIs = ({ by }: Required<Spot>): User => (by === "owner" ? owner : stranger);
  const channelOf = (spot: Required<Spot>): Channel => ({ direct: world.direct(whoIs(spot)), group, thread })[spot.where];
  const lastIn = (spot: Required<Spot>): Message =>
    discord.messages(channelOf(spot)).at(-1) ?? discord.say("", { from: whoIs(spot), channel: channelOf(spot), type: 7 });
  const vote = (spot: Required<Spot>): void => {
    const { id, guild_id: guildId } = channelOf(spot);
    const event = {
      user_id: whoIs(spot).id,
      channel_id: id,
      message_id: lastIn(spot).id,
      answer_id: 1,
      ...(guildId === undefined ? {} : { guild_id: guildId }),
    };
    discord.gateway.dispatch("MESSAGE_POLL_VOTE_ADD", event);
  };
  return {
    "a slash command": { owner: "nothing", act: (spot) => discord.slash("status", { from: whoIs(spot), channel: channelOf(spot) }) },
    "a typed part of a command": { owner: "nothing", act: (spot) => discord.autocomplete("model", "w-deed", { from: whoIs(spot), channel: channelOf(spot) }) },
    "a voice message": {
      owner: "turn",
      where: "direct",
      act: (spot) => discord.say("", { from: whoIs(spot), channel: channelOf(spot), files: [VOICE], more: { flags: 1 << 13 } }),
    },
    "a vote": { owner: "nothing", act: vote },
    "a pin": { owner: "nothing", act: (spot) => discord.say("", { from: whoIs(spot), channel: channelOf(spot), type: 6 }) },
    "a reaction that is withdrawn": { owner: "nothing", act: (spot) => discord.react(lastIn(spot), "👎", whoIs(spot), false) },
    "a deletion": {
      owner: "nothing",
      act: (spot) => discord.gateway.dispatch("MESSAGE_DELETE", { id: lastIn(spot).id, channel_id: channelOf(spot).id }),
    },
  };
}

/** What the API and the gateway can suffer. */
export const DISCORD_FAULTS: readonly FaultName[] = [
  "lostAnswer",
  "serverError",
  "tooMany",
  "noAnswer",
  "garbageAnswer",
  "slow",
  "garbageEvents",
  "reorder",
  "revoke",
  "halfOpen",
  "killed",
];

const SEND = /^POST .*\/channels\/\d+\/messages$/;

function createFaults({ discord, owner }: Ground): LabFaults {
  const { server, world, gateway } = discord;
  const { faults } = server;
  return {
    lostAnswer: () => faults.add({ on: SEND, reset: true, applied: true }),
    serverError: (hadEffect) => faults.add({ on: SEND, status: 502, applied: hadEffect }),
    tooMany: (waitMs, times) =>
      faults.add({
        on: SEND,
        status: 429,
        headers: { "retry-after": String(waitMs / 1000), "x-ratelimit-scope": "shared" },
        body: { message: "You are being rate limited.", retry_after: waitMs / 1000, global: false },
        times,
      }),
    noAnswer: () => faults.add({ on: SEND, silent: true }),
    garbageAnswer: () => faults.add({ on: SEND, garbage: true, applied: true }),
    slow: (ms) => (ms === undefined ? faults.clear() : faults.add({ delayMs: ms, times: Number.POSITIVE_INFINITY })),
    garbageEvents() {
      const channel = world.direct(owner).id;
      const create = (d: unknown): object => ({ op: 0, t: "MESSAGE_CREATE", s: 1, d });
      const frames = [
        "{broken",
        "5",
        "null",
        {},
        { op: "x" },
        { op: 0 },
        { op: 0, t: 5, s: "x", d: null },
        { op: 0, t: "NEW_KIND", s: 1, d: { content: "w-bad" } },
        create(5),
        create({ content: "w-bad" }),
        create({ id: 7, channel_id: channel, content: "w-bad", author: { id: owner.id } }),
        create({ id: "x", channel_id: channel, content: 5, author: "w-bad" }),
      ];
      for (const frame of frames) gateway.sendRaw(frame);
      return Promise.resolve();
    },
    reorder(texts) {
      gateway.lastFirst(() => {
        for (const text of texts) discord.say(text);
      });
      return Promise.resolve();
    },
    revoke() {
      discord.token = discord.token.replace("fake-secret", "next-secret");
      gateway.closeAll(4004);
      return Promise.resolve();
    },
    halfOpen() {
      for (const socket of server.sockets) socket.freeze();
      return Promise.resolve();
    },
  };
}

function createLab(ground: Ground, gateway: LabGateway, settings: LabSettings, capabilities: ChannelCapabilities): ChannelLab {
  const { discord, stranger } = ground;
  return {
    ...createPerson(ground),
    channel: "discord",
    capabilities,
    limits: { text: 2000, measure: (text) => text.length },
    showsOnce: true,
    gateway,
    strangerMarks: [stranger.id, "Mallory", "mallory_outside"],
    secrets: [discord.token, WRONG],
    isUp: () => Promise.resolve(discord.gateway.live > 0),
    server: discord.server,
    traffic: () => discord.server.asked.length,
    connections: () => discord.server.sockets.length,
    conflicts: () => discord.gateway.conflicts,
    dropConnection() {
      discord.server.drop();
      return Promise.resolve();
    },
    async away(during) {
      await discord.server.close();
      await during();
      await discord.server.open();
    },
    mendCredentials() {
      gateway.configure({ channels: { discord: sectionOf(ground, discord.token, settings) } });
      return Promise.resolve();
    },
    faults: createFaults(ground),
    deeds: createDeeds(ground),
    loseReceipt: () => discord.server.faults.add({ on: SEND, reset: true, applied: true }),
    floodLimit: (pauseMs) => discord.limits.messages(pauseMs === undefined ? undefined : { limit: 1, perMs: pauseMs }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await discord[Symbol.asyncDispose]();
    },
  };
}

/** Discord over its gateway, with gateways of the caller's where some are given. */
export function discordLabs(startGateway: typeof startLabGateway = startLabGateway): MakeLab {
  let claims: Promise<ChannelCapabilities> | undefined;
  return async (settings) => openLab(settings, await (claims ??= claimsOf()), startGateway);
}

async function openLab(settings: LabSettings, capabilities: ChannelCapabilities, startGateway: typeof startLabGateway): Promise<ChannelLab> {
  const ground = await prepare();
  const { discord } = ground;
  const isWrong = settings.credentials === "wrong";
  const gateway = await startGateway({
    sections: { channels: { discord: sectionOf(ground, isWrong ? WRONG : discord.token, settings) } },
    env: { OPENCLAW_TEST_DISCORD_API_ROOT: discord.apiRoot },
  });
  const lab = createLab(ground, gateway, settings, capabilities);
  if (isWrong) return lab;
  const asked = (): string => discord.server.asked.map(({ method, path }) => `${method} ${path}`).join(", ") || "nothing";
  await until(
    () => discord.gateway.live > 0,
    () => `the bot does not connect; it asked for ${asked()}\n${gateway.output()}`,
  ).catch(async (error: unknown) => {
    await lab[Symbol.asyncDispose]();
    throw error;
  });
  return lab;
}
