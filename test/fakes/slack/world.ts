/** A Slack workspace: people, conversations, messages and files. Shapes as the Web API gives them. */
import { randomUUID } from "node:crypto";

export interface User {
  readonly id: string;
  readonly name: string;
  readonly realName: string;
  readonly isBot: boolean;
  readonly email?: string | undefined;
}

export type Kind = "im" | "mpim" | "channel" | "group";

export interface Conversation {
  id: string;
  name: string;
  readonly kind: Kind;
  readonly members: Set<string>;
  readonly pins: Set<string>;
  isArchived: boolean;
}

export interface StoredFile {
  readonly id: string;
  readonly name: string;
  title: string;
  readonly mimetype: string;
  readonly data: Buffer;
}

export interface Message {
  readonly ts: string;
  readonly channel: string;
  readonly user: string | undefined;
  readonly botId: string | undefined;
  text: string;
  readonly threadTs: string | undefined;
  blocks: unknown;
  readonly files: readonly StoredFile[];
  readonly metadata: unknown;
  readonly username: string | undefined;
  /** Who alone sees it. */
  readonly ephemeralFor: string | undefined;
  readonly reactions: Map<string, Set<string>>;
  editedAt: string | undefined;
  isStreaming: boolean;
}

export type NewMessage = Pick<Message, "channel" | "text"> & Partial<Omit<Message, "ts" | "channel" | "text" | "reactions" | "editedAt">>;

export interface World {
  readonly team: { readonly id: string; readonly name: string };
  readonly appId: string;
  readonly bot: User & { readonly botId: string };
  readonly users: ReadonlyMap<string, User>;
  readonly conversations: ReadonlyMap<string, Conversation>;
  readonly files: ReadonlyMap<string, StoredFile>;
  readonly emoji: Map<string, string>;
  person(name: string, realName?: string): User;
  conversation(kind: Kind, name: string, members: readonly string[]): Conversation;
  /** The direct chat of a person and the bot. */
  direct(user: string): Conversation;
  rename(from: string, to: string): Conversation;
  file(name: string, mimetype: string, data: Buffer): StoredFile;
  post(message: NewMessage): Message;
  find(channel: string, ts: string): Message | undefined;
  remove(channel: string, ts: string): void;
  messages(channel: string): readonly Message[];
}

/** Ids are a letter and capitals: lower case is refused everywhere. */
export function slackId(letter: string): string {
  return `${letter}0${randomUUID().replaceAll("-", "").slice(0, 9).toUpperCase()}`;
}

function createClock(): () => string {
  let last = 0;
  return () => {
    last = Math.max(Date.now() * 1000, last + 1);
    return `${Math.floor(last / 1_000_000)}.${String(last % 1_000_000).padStart(6, "0")}`;
  };
}

const PREFIX: Readonly<Record<Kind, string>> = { im: "D", mpim: "G", channel: "C", group: "C" };

export function createWorld(): World {
  const users = new Map<string, User>();
  const conversations = new Map<string, Conversation>();
  const files = new Map<string, StoredFile>();
  const messages = new Map<string, Message[]>();
  const nextTs = createClock();
  const bot = { id: slackId("U"), name: "claw", realName: "Claw", isBot: true, botId: slackId("B") };
  users.set(bot.id, bot);

  function conversation(kind: Kind, name: string, members: readonly string[]): Conversation {
    const made: Conversation = { id: slackId(PREFIX[kind]), name, kind, members: new Set(members), pins: new Set(), isArchived: false };
    conversations.set(made.id, made);
    return made;
  }

  return {
    team: { id: slackId("T"), name: "Acme" },
    appId: slackId("A"),
    bot,
    users,
    conversations,
    files,
    emoji: new Map([["party_claw", "https://emoji.example/party.png"]]),
    person(name, realName = name) {
      const user = { id: slackId("U"), name, realName, isBot: false, email: `${name}@acme.example` };
      users.set(user.id, user);
      return user;
    },
    conversation,
    direct(user) {
      const found = [...conversations.values()].find(({ kind, members }) => kind === "im" && members.has(user));
      return found ?? conversation("im", "", [user, bot.id]);
    },
    rename(from, to) {
      const found = conversations.get(from);
      if (!found) throw new Error(`no conversation ${from}`);
      conversations.delete(from);
      found.id = to;
      conversations.set(to, found);
      messages.set(to, messages.get(from) ?? []);
      return found;
    },
    file(name, mimetype, data) {
      const file = { id: slackId("F"), name, title: name, mimetype, data };
      files.set(file.id, file);
      return file;
    },
    post(message) {
      const posted: Message = {
        user: undefined,
        botId: undefined,
        threadTs: undefined,
        blocks: undefined,
        files: [],
        metadata: undefined,
        username: undefined,
        ephemeralFor: undefined,
        isStreaming: false,
        ...message,
        ts: nextTs(),
        reactions: new Map(),
        editedAt: undefined,
      };
      messages.set(posted.channel, [...(messages.get(posted.channel) ?? []), posted]);
      return posted;
    },
    find: (channel, ts) => messages.get(channel)?.find((message) => message.ts === ts),
    remove: (channel, ts) =>
      void messages.set(
        channel,
        (messages.get(channel) ?? []).filter((message) => message.ts !== ts),
      ),
    messages: (channel) => messages.get(channel) ?? [],
  };
}

/** A file as messages and answers show it. */
export function fileObject({ id, name, title, mimetype, data }: StoredFile, host: string): object {
  const folder = `${host}/files-pri/T-${id}`;
  const file = encodeURIComponent(name);
  return {
    id,
    name,
    title,
    mimetype,
    filetype: name.includes(".") ? name.split(".").at(-1)!.toLowerCase() : "",
    size: data.length,
    mode: "hosted",
    url_private: `${folder}/${file}`,
    url_private_download: `${folder}/download/${file}`,
  };
}

/** What the first message of a thread says of the thread. */
function threadFacts({ channel, ts }: Message, world: World): object {
  const replies = world.messages(channel).filter((message) => message.threadTs === ts && message.ts !== ts && message.ephemeralFor === undefined);
  const last = replies.at(-1);
  if (!last) return {};
  const people = [...new Set(replies.map(({ user }) => user).filter((user) => user !== undefined))];
  return { thread_ts: ts, reply_count: replies.length, reply_users_count: people.length, latest_reply: last.ts, reply_users: people, subscribed: false };
}

/** A message as `conversations.history` and events show it. */
export function messageObject(message: Message, world: World, fileHost: string): Record<string, unknown> {
  const { ts, user, botId, text, threadTs, blocks, files, metadata, editedAt, reactions, username } = message;
  const parent = threadTs === undefined || threadTs === ts ? undefined : world.find(message.channel, threadTs)?.user;
  return {
    type: "message",
    ts,
    text,
    team: world.team.id,
    ...(user === undefined ? {} : { user }),
    ...(botId === undefined ? {} : { bot_id: botId, app_id: world.appId }),
    ...(botId === world.bot.botId ? { bot_profile: { id: botId, app_id: world.appId, name: world.bot.realName, team_id: world.team.id, deleted: false } } : {}),
    ...(username === undefined ? {} : { username }),
    ...(threadTs === undefined ? threadFacts(message, world) : { thread_ts: threadTs }),
    ...(parent === undefined ? {} : { parent_user_id: parent }),
    ...(blocks === undefined ? {} : { blocks }),
    ...(files.length === 0 ? {} : { subtype: "file_share", upload: false, files: files.map((file) => fileObject(file, fileHost)) }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(editedAt === undefined ? {} : { edited: { user, ts: editedAt } }),
    ...(reactions.size === 0 ? {} : { reactions: [...reactions].map(([name, people]) => ({ name, users: [...people], count: people.size })) }),
  };
}

export function conversationObject({ id, name, kind, members, isArchived }: Conversation, bot: string): object {
  const user = [...members].find((member) => member !== bot);
  return {
    id,
    ...(kind === "im" ? { user } : { name }),
    is_im: kind === "im",
    is_mpim: kind === "mpim",
    is_channel: kind === "channel",
    is_group: kind === "group",
    is_private: kind !== "channel",
    is_archived: isArchived,
    is_member: members.has(bot),
    topic: { value: "", creator: "", last_set: 0 },
    purpose: { value: "", creator: "", last_set: 0 },
  };
}

export function userObject({ id, name, realName, isBot, email }: User, team: string): object {
  return { id, team_id: team, name, deleted: false, real_name: realName, is_bot: isBot, profile: { display_name: name, real_name: realName, email } };
}
