/** The HTTP API of a fake Discord. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";
import type { FakeGateway } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import { bodyOf, formError, type Posting, Refused } from "./posting.ts";
import type { Channel, Guild, Message, World } from "./world.ts";

export interface RouteDeps {
  readonly world: World;
  readonly posting: Posting;
  readonly gateway: FakeGateway;
  readonly interactions: Interactions;
  readonly applicationId: string;
  readonly token: () => string;
  readonly gatewayUrl: () => string;
  /** How long a nonce is remembered. */
  readonly nonceMs: number;
  readonly blockedDirects: ReadonlySet<string>;
  /** Servers that the bot was removed from. */
  readonly removedFrom: ReadonlySet<string>;
  /** Commands of the application, as they were put last. */
  readonly commands: { value: readonly Record<string, unknown>[] };
  /** Flags of the application: which privileged intents the portal has. */
  readonly flags: () => number;
  readonly startLimit: { remaining: number };
}

interface Hit {
  readonly asked: Asked;
  readonly ids: readonly string[];
}

type Route = readonly [method: string, path: RegExp, act: (hit: Hit) => unknown];

const NO_CONTENT: Answer = { status: 204 };
const unknown = {
  channel: () => new Refused(404, 10_003, "Unknown Channel"),
  guild: () => new Refused(404, 10_004, "Unknown Guild"),
  member: () => new Refused(404, 10_007, "Unknown Member"),
  message: () => new Refused(404, 10_008, "Unknown Message"),
  user: () => new Refused(404, 10_013, "Unknown User"),
};

/** Messages as a client sees them. */
export function shown(world: World, message: Message): Record<string, unknown> {
  const { reactions, message_reference: reference, ...rest } = message;
  const replied = reference?.message_id === undefined || reference.type === 1 ? undefined : (world.find(message.channel_id, reference.message_id) ?? null);
  return {
    ...rest,
    ...(reference ? { message_reference: reference } : {}),
    ...(replied === undefined ? {} : { referenced_message: replied && { ...replied, referenced_message: undefined } }),
    ...(reactions ? { reactions: reactions.map(({ users: _users, ...reaction }) => reaction) } : {}),
  };
}

function lookups({ world, removedFrom }: RouteDeps) {
  const channel = (id: string): Channel => {
    const found = world.channels.get(id);
    if (!found) throw unknown.channel();
    if (found.guild_id !== undefined && removedFrom.has(found.guild_id)) throw new Refused(403, 50_001, "Missing Access");
    return found;
  };
  const guild = (id: string): Guild => {
    const found = world.guilds.get(id);
    if (!found || removedFrom.has(id)) throw unknown.guild();
    return found;
  };
  const message = (channelId: string, id: string): Message => {
    channel(channelId);
    const found = world.find(channelId, id);
    if (!found) throw unknown.message();
    return found;
  };
  const member = (guildId: string, userId: string) => {
    const found = guild(guildId).members.get(userId);
    if (!found) throw unknown.member();
    return found;
  };
  return { channel, guild, message, member };
}

function messageRoutes(deps: RouteDeps): Route[] {
  const { world, posting, gateway, nonceMs, blockedDirects } = deps;
  const { channel, message } = lookups(deps);
  const needOf = (place: Channel) => (place.guild_id === undefined ? ("direct" as const) : ("guild" as const));
  const more = (place: Channel): object => (place.guild_id === undefined ? {} : { guild_id: place.guild_id });

  /** The message that this nonce made a moment ago. */
  function repeated(channelId: string, body: Readonly<Record<string, unknown>>): Message | undefined {
    if (body["enforce_nonce"] !== true || body["nonce"] === undefined) return undefined;
    return world.messages
      .get(channelId)
      ?.findLast(({ nonce, author, timestamp }) => nonce === body["nonce"] && author.id === world.bot.id && world.now() - Date.parse(timestamp) < nonceMs);
  }

  function create({ asked, ids: [channelId = ""] }: Hit): unknown {
    const place = channel(channelId);
    if (place.type === 1 && blockedDirects.has(place.recipients?.[0]?.id ?? "")) throw new Refused(403, 50_007, "Cannot send messages to this user");
    if (place.thread_metadata?.locked) throw new Refused(403, 50_083, "Thread is archived");
    if (place.type === 15 || place.type === 16) throw new Refused(400, 50_008, "Cannot send messages in a non-text channel");
    if (place.permission_overwrites?.some(({ deny }) => (BigInt(deny) & (1n << 11n)) !== 0n)) throw new Refused(403, 50_013, "Missing Permissions");
    const before = repeated(channelId, bodyOf(asked));
    if (before) return shown(world, before);
    const made = posting.create(place, world.bot, asked);
    if (place.thread_metadata) place.thread_metadata.archived = false;
    gateway.dispatch("MESSAGE_CREATE", { ...shown(world, made), ...more(place) }, needOf(place));
    return shown(world, made);
  }

  function list({ asked, ids: [channelId = ""] }: Hit): unknown {
    channel(channelId);
    const { query } = asked;
    const limit = Number(query.get("limit") ?? 50);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw formError("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.");
    const all = world.messages.get(channelId) ?? [];
    const [before, after, around] = ["before", "after", "around"].map((key) => query.get(key));
    const pages = {
      after: () => all.filter(({ id }) => BigInt(id) > BigInt(after!)).slice(0, limit),
      before: () => all.filter(({ id }) => BigInt(id) < BigInt(before!)).slice(-limit),
      around: () => all.slice(Math.max(0, all.findIndex(({ id }) => id === around) - Math.floor(limit / 2))).slice(0, limit),
      newest: () => all.slice(-limit),
    };
    const page = after ? pages.after() : before ? pages.before() : around ? pages.around() : pages.newest();
    // Newest first, whatever was asked for.
    return page.toReversed().map((one) => shown(world, one));
  }

  function react(channelId: string, messageId: string, emoji: string, isOn: boolean): Answer {
    const target = message(channelId, messageId);
    const decoded = decodeURIComponent(emoji);
    const [, name = decoded, id = null] = /^(\w+):(\d+)$/.exec(decoded) ?? [];
    if (id === null && /^[\w\s]*$/.test(name)) throw new Refused(400, 10_014, "Unknown Emoji");
    const known = (target.reactions ??= []).find((one) => one.emoji.name === name && one.emoji.id === id);
    const reaction = known ?? { emoji: { id, name }, count: 0, me: false, users: [] };
    if (!known) target.reactions.push(reaction);
    reaction.users = isOn ? [...new Set([...reaction.users, world.bot.id])] : reaction.users.filter((user) => user !== world.bot.id);
    reaction.me = isOn;
    reaction.count = reaction.users.length;
    target.reactions = target.reactions.filter(({ count }) => count > 0);
    return NO_CONTENT;
  }

  return [
    ["POST", /^\/channels\/(\d+)\/messages$/, create],
    ["GET", /^\/channels\/(\d+)\/messages$/, list],
    ["GET", /^\/channels\/(\d+)\/messages\/pins$/, ({ ids: [id = ""] }) => pinsOf(id)],
    ["PUT", /^\/channels\/(\d+)\/messages\/pins\/(\d+)$/, ({ ids: [id = "", mid = ""] }) => pin(id, mid, true)],
    ["DELETE", /^\/channels\/(\d+)\/messages\/pins\/(\d+)$/, ({ ids: [id = "", mid = ""] }) => pin(id, mid, false)],
    ["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, ({ ids: [id = "", mid = ""] }) => shown(world, message(id, mid))],
    [
      "PATCH",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ({ asked, ids: [id = "", mid = ""] }) => {
        const target = message(id, mid);
        if (target.author.id !== world.bot.id) throw new Refused(403, 50_005, "Cannot edit a message authored by another user");
        posting.edit(target, asked);
        const place = channel(id);
        gateway.dispatch("MESSAGE_UPDATE", { ...shown(world, target), ...more(place) }, needOf(place));
        return shown(world, target);
      },
    ],
    [
      "DELETE",
      /^\/channels\/(\d+)\/messages\/(\d+)$/,
      ({ ids: [id = "", mid = ""] }) => {
        message(id, mid);
        world.messages.set(
          id,
          world.messages.get(id)!.filter((one) => one.id !== mid),
        );
        const place = channel(id);
        gateway.dispatch("MESSAGE_DELETE", { id: mid, channel_id: id, ...more(place) }, needOf(place));
        return NO_CONTENT;
      },
    ],
    ["PUT", /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, ({ ids: [id = "", mid = "", emoji = ""] }) => react(id, mid, emoji, true)],
    ["DELETE", /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, ({ ids: [id = "", mid = "", emoji = ""] }) => react(id, mid, emoji, false)],
    [
      "GET",
      /^\/channels\/(\d+)\/messages\/(\d+)\/reactions\/([^/]+)$/,
      ({ ids: [id = "", mid = "", emoji = ""] }) => {
        const found = message(id, mid).reactions?.find((one) => [one.emoji.name, `${one.emoji.name}:${one.emoji.id}`].includes(decodeURIComponent(emoji)));
        return (found?.users ?? []).flatMap((user) => world.users.get(user) ?? []);
      },
    ],
    [
      "POST",
      /^\/channels\/(\d+)\/typing$/,
      ({ ids: [id = ""] }) => {
        channel(id);
        return NO_CONTENT;
      },
    ],
  ];

  function pinsOf(id: string): unknown {
    channel(id);
    const pinned = (world.messages.get(id) ?? []).filter((one) => one.pinned);
    return { items: pinned.map((one) => ({ pinned_at: one.timestamp, message: shown(world, one) })), has_more: false };
  }

  function pin(id: string, mid: string, isOn: boolean): Answer {
    message(id, mid).pinned = isOn;
    return NO_CONTENT;
  }
}

function channelRoutes(deps: RouteDeps): Route[] {
  const { world, gateway, posting } = deps;
  const { channel, guild, message } = lookups(deps);

  function threadName(body: Readonly<Record<string, unknown>>): string {
    const { name, auto_archive_duration: archive } = body;
    if (typeof name !== "string" || name.length === 0 || name.length > 100)
      throw formError("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
    if (archive !== undefined && ![60, 1440, 4320, 10_080].includes(Number(archive))) throw formError("auto_archive_duration", "BASE_TYPE_CHOICES", "no such");
    return name;
  }

  function startThread(parent: Channel, asked: Asked, id?: string): Channel {
    const body = bodyOf(asked);
    const thread = world.thread(parent, threadName(body), id);
    gateway.dispatch("THREAD_CREATE", { ...thread, newly_created: true });
    if (parent.type === 15) posting.create(thread, world.bot, { ...asked, fields: (body["message"] ?? {}) as Record<string, unknown> }, { id: thread.id });
    return thread;
  }

  return [
    ["GET", /^\/channels\/(\d+)$/, ({ ids: [id = ""] }) => channel(id)],
    [
      "PATCH",
      /^\/channels\/(\d+)$/,
      ({ asked, ids: [id = ""] }) => {
        const found = Object.assign(channel(id), bodyOf(asked));
        gateway.dispatch("CHANNEL_UPDATE", { ...found });
        return found;
      },
    ],
    [
      "DELETE",
      /^\/channels\/(\d+)$/,
      ({ ids: [id = ""] }) => {
        const found = channel(id);
        world.channels.delete(id);
        gateway.dispatch("CHANNEL_DELETE", { ...found });
        return found;
      },
    ],
    [
      "POST",
      /^\/channels\/(\d+)\/messages\/(\d+)\/threads$/,
      ({ asked, ids: [id = "", mid = ""] }) => {
        message(id, mid);
        if (world.channels.has(mid)) throw new Refused(400, 160_004, "A thread has already been created for this message");
        return { status: 201, body: startThread(channel(id), asked, mid) } satisfies Answer;
      },
    ],
    ["POST", /^\/channels\/(\d+)\/threads$/, ({ asked, ids: [id = ""] }) => ({ status: 201, body: startThread(channel(id), asked) })],
    ["GET", /^\/channels\/(\d+)\/threads\/archived\/public$/, ({ ids: [id = ""] }) => threads(({ parent_id: parent }) => parent === channel(id).id, true)],
    ["GET", /^\/guilds\/(\d+)\/threads\/active$/, ({ ids: [id = ""] }) => threads(({ guild_id: owner }) => owner === guild(id).id, false)],
    ["GET", /^\/guilds\/(\d+)\/channels$/, ({ ids: [id = ""] }) => inGuild(guild(id).id).filter(({ type }) => type < 10 || type > 12)],
    [
      "POST",
      /^\/guilds\/(\d+)\/channels$/,
      ({ asked, ids: [id = ""] }) => {
        const { name, type, topic, parent_id: parent } = bodyOf(asked) as { name?: string; type?: number; topic?: string; parent_id?: string };
        if (!name) throw formError("name", "BASE_TYPE_REQUIRED", "This field is required");
        const made = world.channel(guild(id), { name, ...(type === undefined ? {} : { type }), ...(topic ? { topic } : {}), ...(parent ? { parent } : {}) });
        gateway.dispatch("CHANNEL_CREATE", { ...made });
        return { status: 201, body: made } satisfies Answer;
      },
    ],
    [
      "PATCH",
      /^\/guilds\/(\d+)\/channels$/,
      ({ asked, ids: [id = ""] }) => {
        guild(id);
        const moves = JSON.parse(asked.body.toString("utf8")) as readonly { id: string; position?: number; parent_id?: string | null }[];
        for (const { id: moved, ...to } of moves) Object.assign(channel(moved), to);
        return NO_CONTENT;
      },
    ],
    [
      "POST",
      /^\/users\/@me\/channels$/,
      ({ asked }) => {
        const person = world.users.get(String(asked.fields["recipient_id"]));
        if (!person) throw formError("recipient_id", "NUMBER_TYPE_COERCE", "Value is not snowflake.");
        return world.direct(person);
      },
    ],
  ];

  function inGuild(id: string): Channel[] {
    return [...world.channels.values()].filter((one) => one.guild_id === id);
  }

  function threads(fits: (channel: Channel) => boolean, archived: boolean): unknown {
    const found = [...world.channels.values()].filter((one) => one.type >= 10 && one.type <= 12 && fits(one) && one.thread_metadata?.archived === archived);
    return { threads: found, members: [], has_more: false };
  }
}

/** What an application asks about itself. */
function ownRoutes({ world, applicationId, gatewayUrl, commands, flags, startLimit, removedFrom }: RouteDeps): Route[] {
  return [
    ["GET", /^\/users\/@me$/, () => world.bot],
    [
      "GET",
      /^\/users\/@me\/guilds$/,
      ({ asked: { query } }) =>
        [...world.guilds.values()]
          .filter(({ id }) => !removedFrom.has(id) && BigInt(id) > BigInt(query.get("after") ?? 0))
          .slice(0, Number(query.get("limit") ?? 200))
          .map(({ id, name, owner_id: owner }) => ({ id, name, owner: owner === world.bot.id })),
    ],
    ["GET", /^\/users\/(\d+)$/, ({ ids: [id = ""] }) => world.users.get(id) ?? raise(unknown.user())],
    ["GET", /^\/(?:oauth2\/)?applications\/@me$/, () => ({ id: applicationId, name: "Claw", flags: flags(), bot_public: true })],
    [
      "GET",
      /^\/gateway\/bot$/,
      () => ({
        url: gatewayUrl(),
        shards: 1,
        session_start_limit: { total: 1000, remaining: startLimit.remaining, reset_after: 3_600_000, max_concurrency: 1 },
      }),
    ],
    [
      "PUT",
      /^\/applications\/(\d+)\/commands$/,
      ({ asked }) => {
        const list = JSON.parse(asked.body.toString("utf8")) as Record<string, unknown>[];
        checkCommands(list);
        commands.value = list;
        return list.map((command) => ({ ...command, id: world.id(), application_id: applicationId }));
      },
    ],
    ["GET", /^\/applications\/(\d+)\/commands$/, () => commands.value],
  ];
}

function checkCommands(list: readonly Record<string, unknown>[]): void {
  if (list.length > 100) throw new Refused(400, 30_032, "Maximum number of application commands reached (100)");
  const names = new Set<unknown>();
  for (const { name, description, options } of list) {
    if (typeof name !== "string" || !/^[-_'\p{Ll}\p{Lo}\p{N}]{1,32}$/u.test(name))
      throw formError("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid");
    if (names.has(name)) throw formError("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique");
    names.add(name);
    if (typeof description !== "string" || description.length === 0 || description.length > 100)
      throw formError("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.");
    const opts = (options ?? []) as readonly { choices?: readonly unknown[]; autocomplete?: boolean }[];
    if (opts.length > 25 || opts.some(({ choices = [] }) => choices.length > 25))
      throw formError("options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.");
    if (opts.some(({ choices, autocomplete }) => autocomplete === true && choices !== undefined))
      throw formError("options", "APPLICATION_COMMAND_OPTIONS", "one of both");
    const size = JSON.stringify({ name, description, options: opts }).length;
    if (size > 8000) throw formError("name", "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)");
  }
}

function raise(error: Error): never {
  throw error;
}

const isAnswer = (value: unknown): value is Answer => typeof value === "object" && value !== null && "status" in value && typeof value.status === "number";

export function createRoutes(deps: RouteDeps, more: readonly Route[]): (asked: Asked) => Answer | undefined {
  const routes = [...messageRoutes(deps), ...channelRoutes(deps), ...ownRoutes(deps), ...more];
  return (asked) => {
    const path = asked.path.replace(/^\/api\/v10/, "");
    if (!asked.headers["user-agent"]) return new Refused(403, 40_333, "internal network error").answer;
    try {
      const open = deps.interactions.handle(asked, path);
      if (open) return open;
      if (asked.headers["authorization"] !== `Bot ${deps.token()}`) return { status: 401, body: { message: "401: Unauthorized", code: 0 } };
      for (const [method, pattern, act] of routes) {
        const match = method === asked.method ? pattern.exec(path) : null;
        if (!match) continue;
        const result = act({ asked, ids: match.slice(1) });
        return isAnswer(result) && !("id" in result) ? result : { body: result };
      }
      return { status: 404, body: { message: "404: Not Found", code: 0 } };
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      throw error;
    }
  };
}

export { lookups, type Route };
