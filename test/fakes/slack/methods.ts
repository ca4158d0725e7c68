/** Methods of the Web API, with what Slack checks: tokens, scopes, required arguments, ids, lengths. */
import { CHAT_METHODS } from "./chat-methods.ts";
import { type Args, type Caller, conversationOf, jsonIn, messageIn, type Method, type MethodHost, shown, threadOf, writable } from "./method.ts";
import { paged } from "./paging.ts";
import { SlackRefusal } from "./refusal.ts";
import { type Conversation, conversationObject, fileObject, type Kind, type Message, userObject } from "./world.ts";

/** Messages of a time, in pages. */
function page(
  all: readonly Message[],
  args: Args,
  host: MethodHost,
  usual = 100,
): { messages: readonly object[]; has_more: boolean; response_metadata: object } {
  const inclusive = args["inclusive"] === "true" || args["inclusive"] === "1";
  const [oldest, latest] = [args["oldest"] ?? "0", args["latest"] ?? "9"];
  const within = all.filter(({ ts, ephemeralFor }) => {
    if (ephemeralFor !== undefined) return false;
    return (ts > oldest && ts < latest) || (inclusive && (ts === oldest || ts === latest));
  });
  const { entries, hasMore, response_metadata: metadata } = paged(within, ({ ts }) => ts, args, usual);
  return { messages: entries.map((message) => shown(host, message)), has_more: hasMore, response_metadata: metadata };
}

const TYPES: Readonly<Record<string, Kind>> = { public_channel: "channel", private_channel: "group", mpim: "mpim", im: "im" };

/** Public channels, and of the other types those that the bot is in. */
function conversationsOf({ world }: MethodHost, args: Args): readonly Conversation[] {
  const kinds = (args["types"] ?? "public_channel").split(",").map((type) => TYPES[type.trim()]);
  if (kinds.includes(undefined)) throw new SlackRefusal("invalid_types");
  const isListed = ({ kind, members, isArchived }: Conversation): boolean =>
    kinds.includes(kind) && (kind === "channel" || members.has(world.bot.id)) && !(isArchived && args["exclude_archived"] === "true");
  return [...world.conversations.values()].filter(isListed);
}

/** One person: the direct chat. Several: the group chat of all of them. */
function opened({ world }: MethodHost, users: readonly string[]): Conversation {
  if (users.some((user) => !world.users.has(user))) throw new SlackRefusal("user_not_found");
  if (users.length === 1) return world.direct(users[0]!);
  const members = new Set([...users, world.bot.id]);
  const known = [...world.conversations.values()].find(({ kind, members: others }) => kind === "mpim" && others.symmetricDifference(members).size === 0);
  return known ?? world.conversation("mpim", `mpdm-${[...members].map((user) => world.users.get(user)!.name).join("--")}-1`, [...members]);
}

const reading: Readonly<Record<string, Method>> = {
  "conversations.open": {
    scope: "im:write",
    required: ["users"],
    run(args, host) {
      const conversation = opened(host, args["users"]!.split(","));
      return { channel: args["return_im"] === "true" ? conversationObject(conversation, host.world.bot.id) : { id: conversation.id } };
    },
  },
  "conversations.info": {
    scope: "channels:read",
    required: ["channel"],
    run: (args, host) => ({ channel: conversationObject(conversationOf(host, args["channel"]), host.world.bot.id) }),
  },
  "conversations.history": {
    scope: "channels:history",
    required: ["channel"],
    run(args, host) {
      const { id } = writable(host, args["channel"]);
      return page(
        host.world
          .messages(id)
          .filter(({ threadTs, ts }) => threadTs === undefined || threadTs === ts)
          .toReversed(),
        args,
        host,
      );
    },
  },
  "conversations.replies": {
    scope: "channels:history",
    required: ["channel", "ts"],
    run(args, host) {
      const { id } = writable(host, args["channel"]);
      const root = messageIn(host, id, args["ts"], "thread_not_found");
      const all = host.world.messages(id).filter(({ ts, threadTs }) => ts === root.ts || threadTs === (root.threadTs ?? root.ts));
      // The first message is always there.
      const { messages, ...rest } = page(
        all.filter(({ ts }) => ts !== root.ts),
        args,
        host,
        1000,
      );
      return { messages: [shown(host, root), ...messages], ...rest };
    },
  },
  "conversations.list": {
    scope: "channels:read",
    run(args, host) {
      const { entries, response_metadata } = paged(conversationsOf(host, args), ({ id }) => id, args, 100);
      return { channels: entries.map((one) => conversationObject(one, host.world.bot.id)), response_metadata };
    },
  },
  "conversations.members": {
    scope: "channels:read",
    required: ["channel"],
    run(args, host) {
      const { entries, response_metadata } = paged([...conversationOf(host, args["channel"]).members], (id) => id, args, 100);
      return { members: entries, response_metadata };
    },
  },
  "users.info": {
    scope: "users:read",
    required: ["user"],
    run(args, { world }) {
      const user = world.users.get(args["user"]!);
      if (!user) throw new SlackRefusal("user_not_found");
      return { user: userObject(user, world.team.id) };
    },
  },
  "users.list": {
    scope: "users:read",
    run(args, { world }) {
      const { entries, response_metadata } = paged([...world.users.values()], ({ id }) => id, args, 1000);
      return { members: entries.map((user) => userObject(user, world.team.id)), response_metadata };
    },
  },
  "emoji.list": { scope: "emoji:read", run: (_args, { world }) => ({ emoji: Object.fromEntries(world.emoji) }) },
  "search.messages": {
    scope: "search:read",
    tokens: ["user"],
    required: ["query"],
    run: (args, { world }) => ({
      messages: {
        matches: [...world.conversations.values()].flatMap(({ id, name }) =>
          world
            .messages(id)
            .filter(({ text }) => text.includes(args["query"]!))
            .map(({ ts, text, user }) => ({ ts, text, user, channel: { id, name } })),
        ),
      },
    }),
  },
};

function reactionOn(args: Args, host: MethodHost): { message: Message; name: string } {
  const name = args["name"]!.replaceAll(":", "");
  if (!/^[a-z0-9_+'-]+(?:::skin-tone-\d)?$/.test(name)) throw new SlackRefusal("invalid_name");
  return { message: messageIn(host, conversationOf(host, args["channel"]).id, args["timestamp"]), name };
}

const marking: Readonly<Record<string, Method>> = {
  "reactions.add": {
    scope: "reactions:write",
    required: ["channel", "name", "timestamp"],
    run(args, host) {
      const { message, name } = reactionOn(args, host);
      const people = message.reactions.get(name) ?? new Set();
      if (people.has(host.world.bot.id)) throw new SlackRefusal("already_reacted");
      message.reactions.set(name, people.add(host.world.bot.id));
      host.reacted(message, name, "added");
      return {};
    },
  },
  "reactions.remove": {
    scope: "reactions:write",
    required: ["channel", "name", "timestamp"],
    run(args, host) {
      const { message, name } = reactionOn(args, host);
      if (message.reactions.get(name)?.delete(host.world.bot.id) !== true) throw new SlackRefusal("no_reaction");
      if (message.reactions.get(name)?.size === 0) message.reactions.delete(name);
      host.reacted(message, name, "removed");
      return {};
    },
  },
  "reactions.get": {
    scope: "reactions:read",
    required: ["channel", "timestamp"],
    run: (args, host) => ({
      type: "message",
      channel: args["channel"],
      message: shown(host, messageIn(host, args["channel"], args["timestamp"])),
    }),
  },
  "pins.add": {
    scope: "pins:write",
    required: ["channel", "timestamp"],
    run(args, host) {
      const { pins, id } = writable(host, args["channel"]);
      const message = messageIn(host, id, args["timestamp"]);
      if (pins.has(message.ts)) throw new SlackRefusal("already_pinned");
      pins.add(message.ts);
      host.pinned(message, "added");
      return {};
    },
  },
  "pins.remove": {
    scope: "pins:write",
    required: ["channel", "timestamp"],
    run(args, host) {
      const { pins, id } = writable(host, args["channel"]);
      if (!pins.delete(args["timestamp"]!)) throw new SlackRefusal("no_pin");
      host.pinned(messageIn(host, id, args["timestamp"]), "removed");
      return {};
    },
  },
  "pins.list": {
    scope: "pins:read",
    required: ["channel"],
    run(args, host) {
      const { pins, id } = writable(host, args["channel"]);
      return { items: [...pins].map((ts) => ({ type: "message", channel: id, message: shown(host, messageIn(host, id, ts)) })) };
    },
  },
  "assistant.threads.setStatus": {
    scope: "assistant:write",
    required: ["channel_id", "thread_ts", "status"],
    run(args, host) {
      const { id } = writable(host, args["channel_id"]);
      messageIn(host, id, args["thread_ts"], "invalid_thread_ts");
      host.statuses.push({ channel: id, threadTs: args["thread_ts"]!, status: args["status"]! });
      return {};
    },
  },
};

const filing: Readonly<Record<string, Method>> = {
  "files.getUploadURLExternal": {
    scope: "files:write",
    required: ["filename", "length"],
    run(args, host) {
      const length = Number(args["length"]);
      if (!Number.isInteger(length) || length <= 0) throw new SlackRefusal("invalid_arguments");
      const { id, url } = host.announce(args["filename"]!, length);
      return { file_id: id, upload_url: url };
    },
  },
  "files.completeUploadExternal": {
    scope: "files:write",
    required: ["files"],
    run(args, host) {
      const wanted = jsonIn(args["files"], "invalid_arguments") as readonly { readonly id?: string; readonly title?: string }[];
      const files = wanted.map(({ id, title }) => host.uploaded(id ?? "", title));
      if (files.length === 0 || files.some((file) => file === undefined)) throw new SlackRefusal("file_not_found");
      const there = files.filter((file) => file !== undefined);
      if (args["channel_id"] !== undefined) {
        const { id } = writable(host, args["channel_id"]);
        const { bot } = host.world;
        const threadTs = threadOf(host, id, args["thread_ts"]);
        host.posted(host.world.post({ channel: id, text: args["initial_comment"] ?? "", user: bot.id, botId: bot.botId, threadTs, files: there }));
      }
      return { files: there.map((file) => fileObject(file, host.fileHost())) };
    },
  },
};

const account: Readonly<Record<string, Method>> = {
  "auth.test": {
    run: (_args, { world }, { kind }) => ({
      url: "https://acme.slack.com/",
      team: world.team.name,
      team_id: world.team.id,
      user: world.bot.name,
      user_id: world.bot.id,
      ...(kind === "bot" ? { bot_id: world.bot.botId } : {}),
      is_enterprise_install: false,
    }),
  },
  "apps.connections.open": {
    tokens: ["app"],
    scope: "connections:write",
    run(_args, host) {
      if (!host.hasSockets()) throw new SlackRefusal("link_disabled");
      return { url: host.openSocket() };
    },
  },
};

export const METHODS: Readonly<Record<string, Method>> = { ...CHAT_METHODS, ...reading, ...marking, ...filing, ...account };

/** The scope that a method takes, for the header that names it. */
export const scopeOf = (name: string): string | undefined => (Object.hasOwn(METHODS, name) ? METHODS[name]?.scope : undefined);

/** Runs a method, or says what is wrong with the call. */
export function callMethod(name: string, args: Args, caller: Caller, host: MethodHost): object {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (!method) return { ok: false, error: "unknown_method", req_method: name };
  try {
    if (!(method.tokens ?? ["bot", "user"]).includes(caller.kind)) throw new SlackRefusal("not_allowed_token_type");
    if (method.scope !== undefined && !caller.scopes.has(method.scope))
      throw new SlackRefusal("missing_scope", { needed: method.scope, provided: [...caller.scopes].join(",") });
    const missing = (method.required ?? []).filter((key) => args[key] === undefined || (args[key] === "" && key !== "status"));
    if (missing.length > 0)
      throw new SlackRefusal(missing.includes("channel") ? "channel_not_found" : "invalid_arguments", {
        response_metadata: { messages: missing.map((key) => `[ERROR] missing required field: ${key}`) },
      });
    return { ok: true, ...method.run(args, host, caller) };
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    return { ok: false, error: error.message, ...error.more };
  }
}
