import type { Chat, User } from "./objects.ts";
import { botUser, place } from "./methods/compose.ts";
import type { Updates } from "./updates.ts";
import type { ChatState, World } from "./world.ts";

export interface GroupOptions {
  readonly title?: string;
  /** Default supergroup; a `group` has a short id until it is migrated. */
  readonly type?: "group" | "supergroup" | "channel";
  readonly forum?: boolean;
  readonly username?: string;
  /** The bot may do what administrators may. */
  readonly admin?: boolean;
}

/** People and chats come into being. */
export interface Places {
  person(facts?: Partial<User>): User;
  group(options?: GroupOptions): Chat;
  /** A topic that a person made; the bot gets an update about it. */
  topic(chatId: number, name: string): number;
  /** The chat with a person, as it is once they have pressed Start. */
  direct(user: User): ChatState;
  member(state: ChatState, user: User): void;
  /** A group becomes a supergroup, with another id. */
  migrate(chatId: number): Chat;
}

export function createPlaces(world: World, updates: Updates): Places {
  function state(chatId: number): ChatState {
    const found = world.chats.get(chatId);
    if (!found) throw new Error(`there is no chat ${chatId}: make it with person() or group()`);
    return found;
  }

  function addGroup(options: GroupOptions, type: NonNullable<GroupOptions["type"]>): ChatState {
    const serial = world.serial();
    const id = type === "group" ? -(4_000_000 + serial) : -(1_002_000_000_000 + serial);
    const { title = "Workshop", forum, username } = options;
    const made = world.addChat({ id, type, title, ...(username === undefined ? {} : { username }), ...(forum ? { is_forum: true as const } : {}) });
    made.members.set(world.bot.id, { user: botUser(world), status: options.admin || forum ? "administrator" : "member" });
    return made;
  }

  const member = (place: ChatState, user: User): void => {
    if (!place.members.has(user.id)) place.members.set(user.id, { user, status: "member" });
  };

  return {
    member,
    person(facts = {}) {
      const serial = world.serial();
      const user: User = { id: 7_000_000_000 + serial, is_bot: false, first_name: "Ada", username: `ada_${serial}`, language_code: "en", ...facts };
      world.users.set(user.id, user);
      return user;
    },
    group: (options = {}) => addGroup(options, options.type ?? "supergroup").chat,
    direct(user) {
      const { id, first_name, username } = user;
      return world.chats.get(id) ?? world.addChat({ id, type: "private", first_name, ...(username === undefined ? {} : { username }) });
    },
    topic(chatId, name) {
      const where = state(chatId);
      const [by] = world.users.values();
      const message = place(world, where, { ...(by ? { from: by } : {}), forum_topic_created: { name, icon_color: 7_322_096 }, is_topic_message: true });
      const made = { ...message, message_thread_id: message.message_id };
      where.messages.set(message.message_id, made);
      where.topics.set(message.message_id, name);
      updates.put("message", made);
      return message.message_id;
    },
    migrate(chatId) {
      const before = state(chatId);
      const after = addGroup(before.chat.title === undefined ? {} : { title: before.chat.title }, "supergroup");
      for (const [id, one] of before.members) after.members.set(id, one);
      const [by] = world.users.values();
      const from = by ? { from: by } : {};
      updates.put("message", place(world, before, { ...from, migrate_to_chat_id: after.chat.id }));
      updates.put("message", place(world, after, { ...from, migrate_from_chat_id: before.chat.id, sender_chat: after.chat }));
      before.migratedTo = after.chat.id;
      return after.chat;
    },
  };
}
