/** Gateway events → events for the host, with what has to be asked for: channels, roles, how a thread began, who a proxy stands for. */
import { asChannelError, type Fields, fieldsOf, listOf, messageOf, textOf, type KitLog } from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, flagIn, usesRoles } from "../account.ts";
import type { Rest } from "../rest.ts";
import { type Servers, usesNames } from "../servers.ts";
import type { ChannelInboundEvent, ChannelInboundSender } from "../types.ts";
import { chatRefOf, MalformedEvent, type Surroundings } from "./chat.ts";
import { deletedEvent, memberLeftEvent, reactionEvent, voteEvent } from "./events.ts";
import { interactionEvent } from "./interaction.ts";
import { editEvent, messageEvent, type MessageFacts } from "./message.ts";
import { isThread, type Place, readPlace, type Places, rolesOf, TYPE } from "./places.ts";
import type { PluralKit } from "./pluralkit.ts";

export interface MapperDeps {
  readonly account: DiscordAccount;
  readonly rest: Rest;
  readonly places: Places;
  readonly servers: Servers;
  readonly log: KitLog;
  readonly pluralkit: PluralKit | undefined;
  botId(): string;
  /** Whether we sent it, among the latest. Undefined: nobody knows. */
  isOurs(messageId: string): boolean;
}

export interface Mapper {
  message(data: Fields, isBacklog?: boolean): Promise<ChannelInboundEvent | undefined>;
  edit(data: Fields): Promise<ChannelInboundEvent | undefined>;
  /** A deleted message, where its author is known: Discord names only the message. */
  deleted(messageId: string, data: Fields): Promise<ChannelInboundEvent | undefined>;
  /** A vote in a poll of ours. */
  vote(isAdded: boolean, data: Fields, key: string): Promise<ChannelInboundEvent | undefined>;
  reaction(isAdded: boolean, data: Fields, key: string): Promise<ChannelInboundEvent | undefined>;
  memberLeft(data: Fields, key: string): Promise<ChannelInboundEvent | undefined>;
  interaction(data: Fields): Promise<ChannelInboundEvent | undefined>;
}

const MAX_STARTERS = 500;
const MAX_STARTER_CHARS = 2000;
const MAX_AUTHORS = 5000;
const MAX_POLLS = 100;

/** The text that a thread began with, fetched once. A post of a forum is the first message of its own thread. */
function createStarters(rest: Rest) {
  const known = new Map<string, Promise<string | undefined>>();
  async function fetchStarter(thread: Place, parent: Place | undefined): Promise<string | undefined> {
    const isPost = parent?.type === TYPE.forum || parent?.type === TYPE.media;
    const channelId = isPost ? thread.id : (thread.parentId ?? thread.id);
    const message = await rest.fields("GET", `/channels/${channelId}/messages/${thread.id}`).catch(() => undefined);
    return textOf(message?.["content"])?.slice(0, MAX_STARTER_CHARS);
  }
  return (thread: Place, parent: Place | undefined): Promise<string | undefined> => {
    const before = known.get(thread.id);
    if (before) return before;
    const starter = fetchStarter(thread, parent);
    known.set(thread.id, starter);
    const [oldest] = known.size > MAX_STARTERS ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
    return starter;
  };
}

/** Adds, and forgets the oldest. */
function store<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

/** Our polls, fetched once: votes name only the message and the answer. */
function createPolls({ rest, botId, log }: MapperDeps) {
  const known = new Map<string, Fields | undefined>();
  return async (channelId: string, messageId: string): Promise<Fields | undefined> => {
    if (known.has(messageId)) return known.get(messageId);
    try {
      const message = await rest.fields("GET", `/channels/${channelId}/messages/${messageId}`);
      store(known, messageId, textOf(fieldsOf(message["author"])?.["id"]) === botId() ? fieldsOf(message["poll"]) : undefined, MAX_POLLS);
    } catch (error) {
      if (asChannelError(error)?.delivery.state !== "failed") throw error;
      log.debug?.(`a poll cannot be read: ${messageOf(error)}`);
    }
    return known.get(messageId);
  };
}

/** What is around a channel, and the roles of a person there. */
function createLookups({ account, rest, places, servers }: MapperDeps) {
  async function slugOf(guildId: string): Promise<string | undefined> {
    if (!usesNames(account.guilds)) return undefined;
    await servers.load(rest);
    return servers.slugOf(guildId);
  }

  async function surroundings(channelId: string, guildId: string | undefined, given?: Place): Promise<Surroundings> {
    const found = given ?? (await places.channel(channelId));
    // Whatever cannot be looked at counts as a group, which has to be let in by name.
    const place = found ?? {
      id: channelId,
      type: guildId === undefined ? TYPE.groupDirect : 0,
      guildId,
      name: undefined,
      parentId: undefined,
      topic: undefined,
      lastMessageId: undefined,
    };
    const inGuild = place.guildId ?? guildId;
    const parent = isThread(place) && place.parentId !== undefined ? await places.channel(place.parentId).catch(() => undefined) : undefined;
    if (inGuild === undefined) return { place, parent, guild: undefined };
    return { place: { ...place, guildId: inGuild }, parent, guild: await places.namedGuild(inGuild), guildSlug: await slugOf(inGuild) };
  }

  /** Messages of the history come without roles, and so do reactions that were taken back. */
  async function rolesFor(around: Surroundings, userId: string, member: unknown): Promise<string[] | undefined> {
    const { guildId } = around.place;
    const known = rolesOf(member);
    if (known || guildId === undefined || !usesRoles(chatRefOf(around, userId, account).layers)) return known;
    return rolesOf(await rest.call("GET", `/guilds/${guildId}/members/${userId}`).catch(() => undefined));
  }

  return { surroundings, rolesFor };
}

export function createMapper(deps: MapperDeps): Mapper {
  const { account, rest, places, log } = deps;
  const starterOf = createStarters(rest);
  const pollOf = createPolls(deps);
  const { surroundings, rolesFor } = createLookups(deps);
  /** Of the latest messages. */
  const authors = new Map<string, ChannelInboundSender>();

  async function factsFor(data: Fields, isBacklog: boolean): Promise<MessageFacts> {
    const around = await surroundings(textOf(data["channel_id"]) ?? "", textOf(data["guild_id"]));
    const { place, parent } = around;
    const { layers } = chatRefOf(around, "", account);
    const asksRole = place.guildId !== undefined && listOf(data["mention_roles"]).length > 0;
    const wantsStarter = isThread(place) && flagIn(layers, "includeThreadStarter") !== false;
    return {
      account,
      botId: deps.botId(),
      around,
      botRoleId: asksRole ? await places.botRole(place.guildId, deps.botId()) : undefined,
      starter: wantsStarter ? await starterOf(place, parent) : undefined,
      writer: textOf(data["webhook_id"]) === undefined ? undefined : await deps.pluralkit?.(textOf(data["id"]) ?? ""),
      isBacklog,
    };
  }

  async function mapMessage(data: Fields, isBacklog: boolean, map: typeof messageEvent): Promise<ChannelInboundEvent | undefined> {
    const authorId = textOf(fieldsOf(data["author"])?.["id"]);
    if (authorId === undefined || authorId === deps.botId()) return undefined;
    const facts = await factsFor(data, isBacklog);
    const roles = await rolesFor(facts.around, authorId, data["member"]);
    const event = map(roles && data["member"] === undefined ? { ...data, member: { roles } } : data, facts);
    const id = textOf(data["id"]);
    if (event?.kind !== "message" || id === undefined) return event;
    store(authors, id, event.sender, MAX_AUTHORS);
    // A proxy deletes what it posts again.
    if (event.id !== id) authors.delete(event.id);
    return event;
  }

  async function wroteIt(channelId: string, messageId: string): Promise<boolean> {
    if (deps.isOurs(messageId)) return true;
    try {
      const message = await rest.fields("GET", `/channels/${channelId}/messages/${messageId}`);
      return textOf(fieldsOf(message["author"])?.["id"]) === deps.botId();
    } catch (error) {
      log.debug?.(`the author of a message is unknown: ${messageOf(error)}`);
      return false;
    }
  }

  return {
    message: (data, isBacklog = false) => mapMessage(data, isBacklog, messageEvent),
    edit: (data) => (textOf(data["edited_timestamp"]) === undefined ? Promise.resolve(undefined) : mapMessage(data, false, editEvent)),
    async deleted(messageId, data) {
      const sender = authors.get(messageId);
      if (!sender) return undefined;
      return deletedEvent(messageId, sender, await surroundings(textOf(data["channel_id"]) ?? "", textOf(data["guild_id"])), account);
    },
    async vote(isAdded, data, key) {
      const [channelId, messageId, userId] = ["channel_id", "message_id", "user_id"].map((name) => textOf(data[name]));
      if (channelId === undefined || messageId === undefined || userId === undefined) throw new MalformedEvent("its vote has no message or no user");
      const poll = userId === deps.botId() ? undefined : await pollOf(channelId, messageId);
      if (!poll) return undefined;
      const around = await surroundings(channelId, textOf(data["guild_id"]));
      const roles = await rolesFor(around, userId, undefined);
      return voteEvent(isAdded, { messageId, userId, answerId: data["answer_id"], poll }, { account, around, key, roles });
    },
    async reaction(isAdded, data, key) {
      const userId = textOf(data["user_id"]) ?? "";
      const around = await surroundings(textOf(data["channel_id"]) ?? "", textOf(data["guild_id"]));
      const roles = await rolesFor(around, userId, data["member"]);
      return reactionEvent(isAdded, data, { account, botId: deps.botId(), around, key, roles, isOurs: wroteIt });
    },
    async memberLeft(data, key) {
      const guildId = textOf(data["guild_id"]);
      const channelId = guildId === undefined ? undefined : places.guild(guildId)?.systemChannelId;
      if (channelId === undefined) return undefined;
      return memberLeftEvent(data, { account, botId: deps.botId(), around: await surroundings(channelId, guildId), key });
    },
    async interaction(data) {
      const guildId = textOf(data["guild_id"]);
      const place = readPlace(data["channel"], guildId);
      return interactionEvent(data, await surroundings(textOf(data["channel_id"]) ?? place?.id ?? "", guildId, place), account);
    },
  };
}
