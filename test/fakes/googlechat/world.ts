/** Spaces, messages and reactions, with the rules of the API. */
import { denied, invalid, type Message, newId, newUserName, notFound, type Reaction, type Space, type UploadedFile, type User } from "./objects.ts";

const MAX_BYTES = 32_000;
const MAX_CHARS = 4096;
const CLIENT_ID = /^client-[a-z0-9-]{1,56}$/;

export interface CreateFacts {
  readonly text?: string | undefined;
  readonly cardsV2?: readonly unknown[] | undefined;
  readonly attachment?: readonly UploadedFile[] | undefined;
  /** A thread that exists; else the message begins one. */
  readonly thread?: string | undefined;
  readonly clientId?: string | undefined;
  readonly quoted?: string | undefined;
  readonly mentions?: readonly User[] | undefined;
}

export type World = ReturnType<typeof createWorld>;

export function createWorld(now: () => number) {
  const users = new Map<string, User>();
  const spaces = new Map<string, Space>();
  const messages: Message[] = [];
  const reactions = new Map<string, Reaction[]>();
  const files = new Map<string, { readonly name: string; readonly type: string; readonly data: Buffer }>();
  /** Upload tokens to resources. */
  const uploads = new Map<string, string>();

  function addUser(displayName: string, type: User["type"] = "HUMAN", email?: string): User {
    const user: User = { name: newUserName(), displayName, type, email };
    users.set(user.name, user);
    return user;
  }
  const bot = addUser("Claw", "BOT");

  function addSpace(displayName: string, spaceType: Space["spaceType"], members: readonly User[]): Space {
    const space: Space = { name: `spaces/${newId("AAAA")}`, displayName, spaceType, members: new Set([bot, ...members].map(({ name }) => name)) };
    spaces.set(space.name, space);
    return space;
  }
  /** The app has to be a member. */
  function space(name: string): Space {
    const found = spaces.get(name);
    if (!found) throw notFound("Space");
    if (!found.members.has(bot.name)) throw denied("This Chat app is not a member of the space.");
    return found;
  }
  function direct(user: User): Space {
    const known = [...spaces.values()].find(({ spaceType, members }) => spaceType === "DIRECT_MESSAGE" && members.has(user.name));
    return known ?? addSpace("", "DIRECT_MESSAGE", [user]);
  }

  function create(by: User, spaceName: string, facts: CreateFacts): Message {
    const { text = "", cardsV2 = [], attachment = [], clientId } = facts;
    if (text === "" && cardsV2.length === 0 && attachment.length === 0) throw invalid("Message cannot be empty.");
    if (text.length > MAX_CHARS || Buffer.byteLength(JSON.stringify({ text, cardsV2 })) > MAX_BYTES) throw invalid("Message is too long.");
    if (clientId !== undefined && !CLIENT_ID.test(clientId)) throw invalid("Invalid message_id.");
    const isReply = facts.thread !== undefined && messages.some(({ thread }) => thread === facts.thread);
    const id = newId("B");
    const thread = isReply ? facts.thread : `${spaceName}/threads/${id}`;
    const name = `${spaceName}/messages/${thread.split("/").at(-1)}.${id}`;
    const message: Message = {
      name,
      clientId,
      sender: by,
      space: spaceName,
      thread,
      threadReply: isReply,
      createTime: new Date(now()).toISOString(),
      lastUpdateTime: undefined,
      text,
      cardsV2,
      attachment: attachment.map((file) => ({ ...file, name: `${name}/attachments/${newId("D")}` })),
      quoted: facts.quoted,
      mentions: facts.mentions ?? [],
      isGone: false,
    };
    messages.push(message);
    return message;
  }

  /** By its own name, or by the one that the app chose. */
  function message(name: string): Message {
    const found = messages.find(
      (one) => !one.isGone && (one.name === name || (one.clientId !== undefined && `${one.space}/messages/${one.clientId}` === name)),
    );
    if (!found) throw notFound("Message");
    return found;
  }

  function ownMessage(name: string): Message {
    const found = message(name);
    space(found.space);
    if (found.sender !== bot) throw denied("Chat apps can only change their own messages.");
    return found;
  }

  function addFile(spaceName: string, name: string, type: string, data: Buffer): UploadedFile {
    const resourceName = `${spaceName}/attachments/${newId("C")}`;
    files.set(resourceName, { name, type, data });
    return { contentName: name, contentType: type, resourceName };
  }

  return {
    users,
    spaces,
    messages,
    reactions,
    files,
    uploads,
    bot,
    addUser,
    addSpace,
    space,
    direct,
    create,
    message,
    ownMessage,
    addFile,
    edit(name: string, changes: { readonly text?: string; readonly cardsV2?: readonly unknown[] }): Message {
      const found = ownMessage(name);
      if ((changes.text ?? "").length > MAX_CHARS) throw invalid("Message is too long.");
      found.text = changes.text ?? found.text;
      found.cardsV2 = changes.cardsV2 ?? found.cardsV2;
      found.lastUpdateTime = new Date(now()).toISOString();
      return found;
    },
    remove(name: string): void {
      ownMessage(name).isGone = true;
    },
    react(by: User, name: string, emoji: string): Reaction {
      const found = message(name);
      const before = reactions.get(found.name) ?? [];
      const reaction = { name: `${found.name}/reactions/${newId("R")}`, user: by, emoji };
      reactions.set(found.name, [...before, reaction]);
      return reaction;
    },
  };
}
