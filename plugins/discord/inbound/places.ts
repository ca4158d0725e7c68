/** Channels, threads and servers that events name by id only. Discord tells them when a session begins; the rest is asked for. */
import { asChannelError, type Fields, fieldsOf, listOf, numberOf, textOf, textsOf } from "openclaw/plugin-sdk/channel-kit";
import type { Rest } from "../rest.ts";

export const TYPE = { direct: 1, groupDirect: 3, announcementThread: 10, publicThread: 11, privateThread: 12, forum: 15, media: 16 } as const;

export interface Place {
  readonly id: string;
  readonly type: number;
  readonly guildId: string | undefined;
  readonly name: string | undefined;
  readonly parentId: string | undefined;
  readonly topic: string | undefined;
  readonly lastMessageId: string | undefined;
}

export interface GuildFacts {
  readonly name: string | undefined;
  readonly systemChannelId: string | undefined;
  /** The role that the bot itself is. */
  readonly botRoleId: string | undefined;
}

export interface Places {
  /** Reads what an event says about channels and servers. */
  apply(type: string, data: Fields): void;
  /** What is known now, without asking. */
  known(channelId: string): Place | undefined;
  /** Undefined: nobody can tell. */
  channel(channelId: string): Promise<Place | undefined>;
  guild(guildId: string): GuildFacts | undefined;
  /** The same, asked for once where its name is not known, as after a session was resumed. */
  namedGuild(guildId: string): Promise<GuildFacts | undefined>;
  /** The role that the bot itself is, asked for once. */
  botRole(guildId: string, botId: string): Promise<string | undefined>;
  inGuild(guildId: string): readonly Place[];
}

const MAX_PLACES = 20_000;
export const isThread = ({ type }: Pick<Place, "type">): boolean => type >= TYPE.announcementThread && type <= TYPE.privateThread;

export function readPlace(raw: unknown, guildId?: string): Place | undefined {
  const fields = fieldsOf(raw);
  const [id, type] = [textOf(fields?.["id"]), numberOf(fields?.["type"])];
  if (fields === undefined || id === undefined || type === undefined) return undefined;
  return {
    id,
    type,
    guildId: textOf(fields["guild_id"]) ?? guildId,
    name: textOf(fields["name"]),
    parentId: textOf(fields["parent_id"]),
    topic: textOf(fields["topic"]),
    lastMessageId: textOf(fields["last_message_id"]),
  };
}

const botRoleIn = (roles: unknown, botId: string): string | undefined =>
  listOf(roles)
    .map((role) => fieldsOf(role))
    .filter((role) => textOf(fieldsOf(role?.["tags"])?.["bot_id"]) === botId)
    .flatMap((role) => textOf(role?.["id"]) ?? [])[0];

export function createPlaces(rest: Rest, botId: () => string | undefined): Places {
  const places = new Map<string, Place>();
  const guilds = new Map<string, GuildFacts>();
  const asking = new Map<string, Promise<Place | undefined>>();
  const askedGuilds = new Set<string>();

  function remember(place: Place | undefined): void {
    if (!place) return;
    places.delete(place.id);
    places.set(place.id, place);
    const [oldest] = places.size > MAX_PLACES ? places.keys() : [];
    if (oldest !== undefined) places.delete(oldest);
  }

  function guildCreated(data: Fields): void {
    const id = textOf(data["id"]);
    if (id === undefined || data["unavailable"] === true) return;
    guilds.set(id, {
      name: textOf(data["name"]),
      systemChannelId: textOf(data["system_channel_id"]),
      botRoleId: botRoleIn(data["roles"], botId() ?? ""),
    });
    for (const raw of [...listOf(data["channels"]), ...listOf(data["threads"])]) remember(readPlace(raw, id));
  }

  function guildLeft(id: string): void {
    guilds.delete(id);
    askedGuilds.delete(id);
    for (const place of places.values()) if (place.guildId === id) places.delete(place.id);
  }

  async function ask(channelId: string): Promise<Place | undefined> {
    try {
      const place = readPlace(await rest.call("GET", `/channels/${channelId}`));
      remember(place);
      return place;
    } catch (error) {
      // Not ours to see, or gone. Anything else is tried with the next event.
      if (asChannelError(error)?.delivery.state !== "failed") throw error;
      return undefined;
    } finally {
      asking.delete(channelId);
    }
  }

  return {
    apply(type, data) {
      if (type === "GUILD_CREATE") guildCreated(data);
      else if (type === "GUILD_DELETE" && data["unavailable"] !== true) guildLeft(textOf(data["id"]) ?? "");
      else if (/^(?:CHANNEL|THREAD)_(?:CREATE|UPDATE)$/.test(type)) remember(readPlace(data));
      else if (/^(?:CHANNEL|THREAD)_DELETE$/.test(type)) places.delete(textOf(data["id"]) ?? "");
      else if (type === "THREAD_LIST_SYNC") for (const raw of listOf(data["threads"])) remember(readPlace(raw, textOf(data["guild_id"])));
    },
    known: (channelId) => places.get(channelId),
    async channel(channelId) {
      const known = places.get(channelId);
      if (known) return known;
      const asked = asking.get(channelId) ?? ask(channelId);
      asking.set(channelId, asked);
      return asked;
    },
    guild: (guildId) => guilds.get(guildId),
    async namedGuild(guildId) {
      if (guilds.get(guildId)?.name === undefined && !askedGuilds.has(guildId)) {
        askedGuilds.add(guildId);
        const found = await rest.fields("GET", `/guilds/${guildId}`).catch(() => undefined);
        if (found) guildCreated({ ...found, id: guildId });
      }
      return guilds.get(guildId);
    },
    async botRole(guildId, id) {
      const known = guilds.get(guildId);
      if (known) return known.botRoleId;
      const roles = await rest.call("GET", `/guilds/${guildId}/roles`).catch(() => []);
      const botRoleId = botRoleIn(roles, id);
      guilds.set(guildId, { name: undefined, systemChannelId: undefined, botRoleId });
      return botRoleId;
    },
    inGuild: (guildId) => [...places.values()].filter((place) => place.guildId === guildId),
  };
}

/** Roles of a member that an event brought along. */
export const rolesOf = (member: unknown): string[] | undefined => (fieldsOf(member) ? textsOf(fieldsOf(member)?.["roles"]) : undefined);
