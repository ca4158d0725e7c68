import { findEntities } from "./found-entities.ts";
import { buttonsOf } from "./methods/messages.ts";
import { flat, place } from "./methods/compose.ts";
import { mediaFields, type MediaKind } from "./methods/media.ts";
import type { Message, User } from "./objects.ts";
import type { Places } from "./places.ts";
import type { Updates } from "./updates.ts";
import type { ChatState, World } from "./world.ts";

export interface SentFile {
  readonly kind: MediaKind;
  readonly data: Buffer;
  readonly name?: string;
  readonly mime?: string;
}

export interface SayOptions {
  /** Default: the chat with the sender alone. */
  readonly chat?: number;
  readonly from?: User;
  readonly replyTo?: number;
  /** A part of the message that is answered. */
  readonly quote?: string;
  readonly thread?: number;
  readonly file?: SentFile;
  /** Any further field of the message: `forward_origin`, `location`, …. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Where something that a person did can be found again. */
export interface Done {
  /** Undefined where the bot gets no update. */
  readonly updateId: number | undefined;
  readonly messageId: number;
  readonly chatId: number;
  readonly from: User;
}

/** What people do in their chats. */
export interface People {
  say(text: string, options?: SayOptions): Done;
  /** Several files as one message. */
  album(files: readonly SentFile[], options?: SayOptions & { readonly caption?: string }): readonly Done[];
  edit(what: { readonly chatId: number; readonly messageId: number }, text: string): Done;
  react(what: { readonly chatId: number; readonly messageId: number }, emoji: string | undefined, options?: { readonly from?: User }): Done;
  /** Presses the button with this label or data. */
  press(
    what: { readonly chatId: number; readonly messageId: number },
    button: string,
    options?: { readonly from?: User },
  ): Done & { readonly callbackId: string };
  /** Votes in a poll of the bot, by the places of the answers; none takes the vote back. An anonymous poll tells nobody. */
  vote(what: { readonly chatId: number; readonly messageId: number }, options: readonly number[], by?: { readonly from?: User }): Done;
  join(chatId: number, user: User): Done;
}

export function createPeople(world: World, updates: Updates, places: Places, me: User): People {
  function stateOf(chatId: number): ChatState {
    const found = world.chats.get(chatId);
    if (!found) throw new Error(`there is no chat ${chatId}`);
    return found;
  }

  function messageOf(state: ChatState, messageId: number): Message {
    const found = state.messages.get(messageId);
    if (!found) throw new Error(`there is no message ${messageId} in ${state.chat.id}`);
    return found;
  }

  /** A message in a topic answers the one that opened it, unless it answers another. */
  function threadFields(state: ChatState, thread: number | undefined, reply: Message | undefined): object {
    if (thread === undefined) return {};
    const opener = state.messages.get(thread);
    return { message_thread_id: thread, is_topic_message: true, ...(reply || !opener ? {} : { reply_to_message: flat(opener) }) };
  }

  function sees({ text = "", caption = "", reply_to_message: reply, chat }: Message): boolean {
    if (world.bot.can_read_all_group_messages || chat.type === "private") return true;
    const words = `${text}${caption}`;
    return words.startsWith("/") || words.includes(`@${world.bot.username}`) || reply?.from?.id === world.bot.id;
  }

  function say(text: string, options: SayOptions = {}, extra: object = {}): Done {
    const from = options.from ?? me;
    const state = options.chat === undefined ? places.direct(from) : stateOf(options.chat);
    if (state.chat.type !== "private") places.member(state, from);
    const reply = options.replyTo === undefined ? undefined : messageOf(state, options.replyTo);
    const { file } = options;
    const entities = findEntities(text);
    const marks = entities.length > 0 ? { [file ? "caption_entities" : "entities"]: entities } : {};
    const stored =
      file && world.addFile(file.data, { name: file.name ?? `file.${file.kind}`, mime: file.mime ?? "application/octet-stream", folder: file.kind });
    const isChannel = state.chat.type === "channel";
    const message = place(world, state, {
      ...(isChannel ? { sender_chat: state.chat } : { from }),
      ...(file ? { ...mediaFields(file.kind, stored!), ...(text === "" ? {} : { caption: text }) } : { text }),
      ...marks,
      ...threadFields(state, options.thread, reply),
      ...(reply ? { reply_to_message: flat(reply) } : {}),
      ...(options.quote === undefined ? {} : { quote: { text: options.quote, position: 0, is_manual: true } }),
      ...options.fields,
      ...extra,
    });
    if (text === "" && !file) delete (message as { text?: string }).text;
    const updateId = sees(message) ? updates.put(isChannel ? "channel_post" : "message", message) : undefined;
    return { updateId, messageId: message.message_id, chatId: state.chat.id, from };
  }

  return {
    say: (text, options) => say(text, options),
    album(files, { caption = "", ...options } = {}) {
      const media_group_id = String(13_000_000_000 + world.serial());
      return files.map((file, at) => say(at === 0 ? caption : "", { ...options, file }, { media_group_id }));
    },
    edit({ chatId, messageId }, text) {
      const state = stateOf(chatId);
      const { entities: _, ...before } = messageOf(state, messageId);
      const entities = findEntities(text);
      const field = before.text === undefined ? "caption" : "text";
      const changed = { ...before, [field]: text, ...(entities.length > 0 ? { entities } : {}), edit_date: world.seconds() } as Message;
      state.messages.set(messageId, changed);
      const updateId = updates.put(state.chat.type === "channel" ? "edited_channel_post" : "edited_message", changed);
      return { updateId, messageId, chatId, from: changed.from ?? me };
    },
    react({ chatId, messageId }, emoji, { from = me } = {}) {
      const state = stateOf(chatId);
      const under = state.reactions.get(messageId) ?? new Map<number, readonly string[]>();
      const before = under.get(from.id) ?? [];
      const after = emoji === undefined ? [] : [emoji];
      state.reactions.set(messageId, under.set(from.id, after));
      const wire = (list: readonly string[]): object[] => list.map((one) => ({ type: "emoji", emoji: one }));
      const facts = { chat: state.chat, message_id: messageId, user: from, date: world.seconds() };
      const updateId = updates.put("message_reaction", { ...facts, old_reaction: wire(before), new_reaction: wire(after) });
      return { updateId, messageId, chatId, from };
    },
    press({ chatId, messageId }, button, { from = me } = {}) {
      const message = messageOf(stateOf(chatId), messageId);
      const found = buttonsOf(message).find(({ text, callback_data }) => text === button || callback_data === button);
      if (found?.callback_data === undefined) throw new Error(`message ${messageId} has no button ${button} to press`);
      const callbackId = String(4_400_000_000_000 + world.serial());
      world.callbacks.set(callbackId, { answered: undefined });
      const updateId = updates.put("callback_query", { id: callbackId, from, message, chat_instance: String(-chatId), data: found.callback_data });
      return { updateId, messageId, chatId, from, callbackId };
    },
    vote({ chatId, messageId }, options, { from = me } = {}) {
      const { poll } = messageOf(stateOf(chatId), messageId) as { readonly poll?: { readonly id: string; readonly is_anonymous: boolean } };
      if (!poll) throw new Error(`message ${messageId} is no poll`);
      const updateId = poll.is_anonymous ? undefined : updates.put("poll_answer", { poll_id: poll.id, user: from, option_ids: options });
      return { updateId, messageId, chatId, from };
    },
    join(chatId, user) {
      const state = stateOf(chatId);
      const before = state.members.get(user.id);
      state.members.set(user.id, { user, status: "member" });
      const facts = { chat: state.chat, from: user, date: world.seconds() };
      const kind = user.id === world.bot.id ? "my_chat_member" : "chat_member";
      updates.put(kind, { ...facts, old_chat_member: { user, status: before?.status ?? "left" }, new_chat_member: { user, status: "member" } });
      const message = place(world, state, { from: user, new_chat_members: [user], new_chat_member: user });
      return { updateId: updates.put("message", message), messageId: message.message_id, chatId, from: user };
    },
  };
}
