/** A Discord of our own: HTTP API, gateway, interactions and files over real sockets, written from the platform's documentation. */
import { type Answer, type Asked, type FakeServer, startFakeServer } from "../../../src/plugin-testing/index.ts";
import { createGateway, type FakeGateway, type Need } from "./gateway.ts";
import { guildRoutes } from "./guilds.ts";
import { createInteractions, type Interaction } from "./interactions.ts";
import { createRateLimits, type RateLimits } from "./limits.ts";
import { createPosting, type Posting } from "./posting.ts";
import { createRoutes, shown } from "./routes.ts";
import { type Channel, createWorld, type Guild, type Message, type User, type World } from "./world.ts";

export type { Channel, Guild, Interaction, Message, User };

export interface SayOptions {
  readonly from?: User;
  readonly channel?: Channel;
  readonly replyTo?: string;
  readonly files?: readonly { readonly name: string; readonly type: string | undefined; readonly data: Buffer }[];
  readonly type?: number;
  /** Fields of the message as they are. */
  readonly more?: Partial<Message>;
}

export interface FakeDiscord extends AsyncDisposable {
  readonly server: FakeServer;
  readonly world: World;
  readonly gateway: FakeGateway;
  readonly limits: RateLimits;
  readonly interactions: readonly Interaction[];
  readonly commands: readonly Record<string, unknown>[];
  readonly apiRoot: string;
  readonly cdnRoot: string;
  /** Another token makes the old one worthless. */
  token: string;
  /** A person who is always there. */
  readonly me: User;
  readonly blockedDirects: Set<string>;
  readonly removedFrom: Set<string>;
  /** How many sessions may still be begun today. */
  readonly startLimit: { remaining: number };
  say(content: string, options?: SayOptions): Message;
  edit(message: Message, content: string): void;
  react(message: Message, emoji: string, from: User, isOn?: boolean): void;
  /** Its author deletes it, or a moderator several of a channel at once. */
  remove(...messages: readonly [Message, ...Message[]]): void;
  /** A vote in a poll of one of the bot's messages, by the number of the answer. */
  vote(message: Message, answerId: number, from: User, isOn?: boolean): void;
  /** The bot is removed from a server. */
  expel(guild: Guild): void;
  /** A button or a menu below a message. */
  press(message: Message, customId: string, from: User, values?: readonly string[]): Interaction;
  slash(name: string, options: { readonly from: User; readonly channel: Channel; readonly args?: string; readonly option?: string }): Interaction;
  autocomplete(name: string, typed: string, options: { readonly from: User; readonly channel: Channel }): Interaction;
  messages(channel: Channel): readonly Message[];
  /** The addresses of its files that were given out do not work any more; the next question gets new ones. */
  expireFiles(message: Message): void;
  memberLeft(guild: Guild, user: User): void;
}

const APPLICATION_ID = "1100000000000000001";
const NONCE_MS = 5 * 60_000;
const INTENT_FLAGS = (1 << 12) | (1 << 14) | (1 << 18);

/** `/cdn/attachments/<channel>/<id>/<name>?ex=<hex seconds>`. */
function serveFile(world: World, revoked: ReadonlySet<string>, { path, query }: Asked): Answer | undefined {
  const [, id = ""] = /^\/cdn\/attachments\/\d+\/(\d+)\//.exec(path) ?? [];
  const file = world.files.get(id);
  const isExpired = Number.parseInt(query.get("ex") ?? "0", 16) * 1000 < world.now();
  if (!file || isExpired || revoked.has(query.get("is") ?? "")) return { status: 404, body: "This content is no longer available." };
  return { body: file.data, headers: { "content-type": file.type ?? "application/octet-stream" } };
}

interface Parts {
  readonly world: World;
  readonly gateway: FakeGateway;
  readonly posting: Posting;
  readonly me: User;
  begin(type: number, channel: Channel, by: User): Interaction;
}

const needOf = (channel: Channel): Need => (channel.guild_id === undefined ? "direct" : "guild");

/** The part of an event that says who and where. */
function memberOf(world: World, channel: Channel, user: User): Record<string, unknown> {
  if (channel.guild_id === undefined) return {};
  const { user: _user, ...member } = world.guilds.get(channel.guild_id)?.members.get(user.id) ?? { user, roles: [], nick: null, joined_at: "" };
  return { guild_id: channel.guild_id, member };
}

function writing({ world, gateway, posting, me }: Parts): Pick<FakeDiscord, "say" | "edit" | "react" | "remove" | "vote"> {
  return {
    say(content, { from = me, channel = world.direct(from), replyTo, files = [], type, more = {} } = {}) {
      const message = world.put({
        id: world.id(),
        type: type ?? (replyTo === undefined ? 0 : 19),
        channel_id: channel.id,
        author: from,
        content,
        timestamp: new Date(world.now()).toISOString(),
        edited_timestamp: null,
        tts: false,
        ...posting.mentionsIn(content, undefined),
        attachments: files.map((file) => posting.attach(channel.id, file)),
        embeds: [],
        pinned: false,
        flags: 0,
        components: [],
        ...(replyTo === undefined ? {} : { message_reference: { type: 0, message_id: replyTo, channel_id: channel.id } }),
        ...more,
      });
      gateway.dispatch("MESSAGE_CREATE", { ...shown(world, message), ...memberOf(world, channel, from) }, needOf(channel));
      return message;
    },
    edit(message, content) {
      const channel = world.channels.get(message.channel_id)!;
      message.content = content;
      message.edited_timestamp = new Date(world.now()).toISOString();
      Object.assign(message, posting.mentionsIn(content, undefined));
      gateway.dispatch("MESSAGE_UPDATE", { ...shown(world, message), ...memberOf(world, channel, message.author) }, needOf(channel));
    },
    remove(...messages) {
      const channel = world.channels.get(messages[0].channel_id)!;
      const ids = messages.map(({ id }) => id);
      world.messages.set(
        channel.id,
        world.messages.get(channel.id)!.filter(({ id }) => !ids.includes(id)),
      );
      const where = { channel_id: channel.id, ...(channel.guild_id === undefined ? {} : { guild_id: channel.guild_id }) };
      if (ids.length === 1) gateway.dispatch("MESSAGE_DELETE", { id: ids[0], ...where }, needOf(channel));
      else gateway.dispatch("MESSAGE_DELETE_BULK", { ids, ...where }, needOf(channel));
    },
    vote(message, answerId, from, isOn = true) {
      const channel = world.channels.get(message.channel_id)!;
      const where = { channel_id: channel.id, message_id: message.id, ...(channel.guild_id === undefined ? {} : { guild_id: channel.guild_id }) };
      const need = channel.guild_id === undefined ? "directPoll" : "guildPoll";
      gateway.dispatch(`MESSAGE_POLL_VOTE_${isOn ? "ADD" : "REMOVE"}`, { user_id: from.id, answer_id: answerId, ...where }, need);
    },
    react(message, emoji, from, isOn = true) {
      const channel = world.channels.get(message.channel_id)!;
      const event = {
        user_id: from.id,
        channel_id: channel.id,
        message_id: message.id,
        emoji: { id: null, name: emoji },
        burst: false,
        type: 0,
        ...memberOf(world, channel, from),
        ...(isOn ? { message_author_id: message.author.id } : {}),
      };
      const need = channel.guild_id === undefined ? "directReaction" : "guildReaction";
      gateway.dispatch(isOn ? "MESSAGE_REACTION_ADD" : "MESSAGE_REACTION_REMOVE", event, need);
    },
  };
}

function interacting({ world, gateway, begin }: Parts): Pick<FakeDiscord, "press" | "slash" | "autocomplete"> {
  function send(type: number, channel: Channel, by: User, data: Record<string, unknown>, message?: Message): Interaction {
    const interaction = begin(type, channel, by);
    const { guild_id: guildId, ...who } = memberOf(world, channel, by);
    gateway.dispatch("INTERACTION_CREATE", {
      id: interaction.id,
      application_id: APPLICATION_ID,
      type,
      token: interaction.token,
      version: 1,
      channel_id: channel.id,
      channel: { id: channel.id, type: channel.type, name: channel.name, parent_id: channel.parent_id },
      ...(guildId === undefined ? { user: by } : { guild_id: guildId, member: { ...(who["member"] as object), user: by, permissions: "0" } }),
      ...(message ? { message: shown(world, message) } : {}),
      data,
      locale: "en-US",
    });
    return interaction;
  }
  const optionOf = (value: string | undefined, name = "input"): object => (value === undefined ? {} : { options: [{ name, type: 3, value }] });
  return {
    press: (message, customId, from, values) =>
      send(3, world.channels.get(message.channel_id)!, from, { custom_id: customId, component_type: values ? 3 : 2, ...(values ? { values } : {}) }, message),
    slash: (name, { from, channel, args, option }) => send(2, channel, from, { id: world.id(), name, type: 1, ...optionOf(args, option) }),
    autocomplete: (name, typed, { from, channel }) =>
      send(4, channel, from, { id: world.id(), name, type: 1, options: [{ name: "input", type: 3, value: typed, focused: true }] }),
  };
}

export async function startDiscord(): Promise<FakeDiscord> {
  const world = createWorld();
  const me = world.person({ username: "alex", global_name: "Alex" });
  const state = { token: `MTEwMDAwMDAwMDAwMDAwMDAwMQ.G${Math.random().toString(36).slice(2, 7)}.fake-secret-of-a-test-000000000` };
  const sets = { blockedDirects: new Set<string>(), removedFrom: new Set<string>(), startLimit: { remaining: 1000 } };
  const commands: { value: readonly Record<string, unknown>[] } = { value: [] };
  const limits = createRateLimits(Date.now);
  const revoked = new Set<string>();
  let port = 0;
  const posting = createPosting(world, () => `http://127.0.0.1:${port}/cdn`);
  const gatewayUrl = (): string => `ws://127.0.0.1:${port}/gateway`;
  const gateway = createGateway({ world, token: () => state.token, applicationId: APPLICATION_ID, url: gatewayUrl });
  const interactions = createInteractions(world, posting, APPLICATION_ID, (message, channel) =>
    gateway.dispatch(
      "MESSAGE_CREATE",
      { ...shown(world, message), ...(channel.guild_id === undefined ? {} : { guild_id: channel.guild_id }) },
      needOf(channel),
    ),
  );
  const deps = {
    world,
    posting,
    gateway,
    interactions,
    applicationId: APPLICATION_ID,
    token: () => state.token,
    gatewayUrl,
    nonceMs: NONCE_MS,
    ...sets,
    commands,
    flags: () => INTENT_FLAGS,
  };
  const route = createRoutes(deps, guildRoutes(deps));
  const server = await startFakeServer({
    handle(asked) {
      if (asked.path.startsWith("/cdn/")) return serveFile(world, revoked, asked);
      const { refused, headers } = limits.check(asked);
      if (refused) return refused;
      const answer = route(asked);
      return answer && { ...answer, headers: { ...headers, ...answer.headers } };
    },
    socket: (socket, asked) => gateway.connect(socket, asked),
    upgrade: ({ path }) => (path.startsWith("/gateway") ? undefined : 404),
  });
  port = server.port;
  const parts: Parts = { world, gateway, posting, me, begin: (type, channel, by) => interactions.begin(type, channel, by) };
  return {
    server,
    world,
    gateway,
    limits,
    me,
    ...sets,
    ...writing(parts),
    ...interacting(parts),
    interactions: interactions.all,
    get commands() {
      return commands.value;
    },
    get apiRoot() {
      return `${server.url}/api/v10`;
    },
    get cdnRoot() {
      return `${server.url}/cdn`;
    },
    get token() {
      return state.token;
    },
    set token(next) {
      state.token = next;
    },
    messages: (channel) => world.messages.get(channel.id) ?? [],
    expireFiles(message) {
      for (const attachment of message.attachments) {
        revoked.add(new URL(attachment.url).searchParams.get("is") ?? "");
        attachment.url = posting.address(attachment, message.channel_id);
      }
    },
    expel(guild) {
      sets.removedFrom.add(guild.id);
      gateway.dispatch("GUILD_DELETE", { id: guild.id });
    },
    memberLeft(guild, user) {
      guild.members.delete(user.id);
      gateway.dispatch("GUILD_MEMBER_REMOVE", { guild_id: guild.id, user }, "member");
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
