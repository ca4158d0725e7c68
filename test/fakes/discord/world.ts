/** People, servers, channels and messages of a fake Discord, in the form that its API shows them. */

export interface User {
  readonly id: string;
  readonly username: string;
  readonly global_name: string | null;
  readonly discriminator: string;
  readonly avatar: null;
  readonly bot?: boolean;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  readonly permissions: string;
  readonly position: number;
  readonly managed: boolean;
  readonly tags?: { readonly bot_id: string };
}

export interface Channel {
  readonly id: string;
  readonly type: number;
  readonly guild_id?: string;
  name?: string;
  parent_id?: string | null;
  topic?: string | null;
  readonly recipients?: readonly User[];
  owner_id?: string;
  position?: number;
  nsfw?: boolean;
  rate_limit_per_user?: number;
  last_message_id?: string | null;
  thread_metadata?: { archived: boolean; locked: boolean; auto_archive_duration: number; archive_timestamp: string };
  readonly permission_overwrites?: readonly { id: string; type: number; allow: string; deny: string }[];
}

export interface Member {
  readonly user: User;
  nick: string | null;
  roles: string[];
  readonly joined_at: string;
  communication_disabled_until?: string | null;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly owner_id: string;
  readonly system_channel_id: string | null;
  readonly roles: Role[];
  readonly members: Map<string, Member>;
  readonly emojis: Record<string, unknown>[];
  readonly stickers: Record<string, unknown>[];
  readonly events: Record<string, unknown>[];
  readonly bans: Set<string>;
}

export interface Attachment {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type?: string;
  url: string;
  readonly proxy_url: string;
}

/** A message on the wire, and what only the platform knows of it. */
export interface Message {
  readonly id: string;
  readonly type: number;
  readonly channel_id: string;
  readonly author: User;
  content: string;
  readonly timestamp: string;
  edited_timestamp: string | null;
  readonly tts: boolean;
  mention_everyone: boolean;
  mentions: User[];
  mention_roles: string[];
  attachments: Attachment[];
  embeds: unknown[];
  pinned: boolean;
  flags: number;
  components: unknown[];
  readonly webhook_id?: string;
  readonly message_reference?: { type?: number; message_id?: string; channel_id?: string; guild_id?: string };
  readonly message_snapshots?: unknown[];
  readonly sticker_items?: { id: string; name: string; format_type: number }[];
  readonly poll?: unknown;
  readonly nonce?: string | number;
  reactions?: { emoji: { id: string | null; name: string }; count: number; me: boolean; users: string[] }[];
}

const EPOCH = 1_420_070_400_000n;

/** Ids that carry their time, always growing. */
export function createSnowflakes(now: () => number): () => string {
  let last = 0n;
  return () => {
    const next = (BigInt(now()) - EPOCH) << 22n;
    last = next > last ? next : last + 1n;
    return last.toString();
  };
}

export interface World {
  readonly users: Map<string, User>;
  readonly guilds: Map<string, Guild>;
  readonly channels: Map<string, Channel>;
  readonly messages: Map<string, Message[]>;
  readonly files: Map<string, { readonly name: string; readonly type: string | undefined; readonly data: Buffer }>;
  readonly bot: User;
  /** The bot's DM channels, by person. */
  readonly directs: Map<string, Channel>;
  id(): string;
  now(): number;
  person(fields?: { username?: string; global_name?: string; bot?: boolean }): User;
  guild(fields?: { name?: string; members?: readonly User[] }): Guild;
  channel(guild: Guild, fields?: { name?: string; type?: number; topic?: string; parent?: string; deny?: string }): Channel;
  thread(parent: Channel, name: string, id?: string): Channel;
  direct(person: User): Channel;
  find(channelId: string, messageId: string): Message | undefined;
  /** Adds it to its channel. */
  put(message: Message): Message;
}

const VIEW_AND_SEND = String((1n << 10n) | (1n << 11n) | (1n << 16n) | (1n << 6n) | (1n << 14n) | (1n << 15n) | (1n << 38n));

export function createWorld(now: () => number = Date.now): World {
  const id = createSnowflakes(now);
  const users = new Map<string, User>();
  const guilds = new Map<string, Guild>();
  const channels = new Map<string, Channel>();
  const messages = new Map<string, Message[]>();
  const directs = new Map<string, Channel>();
  let people = 0;

  function person({ username, global_name, bot }: { username?: string; global_name?: string; bot?: boolean } = {}): User {
    people += 1;
    const user: User = {
      id: id(),
      username: username ?? `person${people}`,
      global_name: global_name ?? null,
      discriminator: "0",
      avatar: null,
      ...(bot ? { bot } : {}),
    };
    users.set(user.id, user);
    return user;
  }

  const bot = person({ username: "clawbot", global_name: "Claw", bot: true });
  const member = (user: User, roles: string[] = []): Member => ({ user, nick: null, roles, joined_at: new Date(now()).toISOString() });

  function add<T extends Channel>(channel: T): T {
    channels.set(channel.id, channel);
    messages.set(channel.id, []);
    return channel;
  }

  return {
    users,
    guilds,
    channels,
    messages,
    directs,
    files: new Map(),
    bot,
    id,
    now,
    person,
    guild({ name = "Workshop", members = [] } = {}) {
      const guildId = id();
      const botRole: Role = { id: id(), name: "Claw", permissions: "0", position: 1, managed: true, tags: { bot_id: bot.id } };
      const everyone: Role = { id: guildId, name: "@everyone", permissions: VIEW_AND_SEND, position: 0, managed: false };
      const guild: Guild = {
        id: guildId,
        name,
        owner_id: members[0]?.id ?? bot.id,
        system_channel_id: null,
        roles: [everyone, botRole],
        members: new Map([[bot.id, member(bot, [botRole.id])], ...members.map((user) => [user.id, member(user)] as const)]),
        emojis: [],
        stickers: [],
        events: [],
        bans: new Set(),
      };
      guilds.set(guildId, guild);
      return guild;
    },
    channel(guild, { name = "general", type = 0, topic, parent, deny } = {}) {
      const overwrites = deny === undefined ? [] : [{ id: guild.id, type: 0, allow: "0", deny }];
      return add({
        id: id(),
        type,
        guild_id: guild.id,
        name,
        topic: topic ?? null,
        parent_id: parent ?? null,
        position: 0,
        last_message_id: null,
        permission_overwrites: overwrites,
      });
    },
    thread(parent, name, threadId = id()) {
      return add({
        id: threadId,
        type: 11,
        ...(parent.guild_id === undefined ? {} : { guild_id: parent.guild_id }),
        name,
        parent_id: parent.id,
        owner_id: bot.id,
        last_message_id: null,
        thread_metadata: { archived: false, locked: false, auto_archive_duration: 1440, archive_timestamp: new Date(now()).toISOString() },
      });
    },
    direct(user) {
      const known = directs.get(user.id);
      if (known) return known;
      const channel = add({ id: id(), type: 1, recipients: [user], last_message_id: null });
      directs.set(user.id, channel);
      return channel;
    },
    find: (channelId, messageId) => messages.get(channelId)?.find((message) => message.id === messageId),
    put(message) {
      messages.get(message.channel_id)?.push(message);
      const channel = channels.get(message.channel_id);
      if (channel) channel.last_message_id = message.id;
      return message;
    },
  };
}
