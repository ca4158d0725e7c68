import { findEntities } from "../found-entities.ts";
import { parseHtml, type Parsed } from "../html.ts";
import { badRequest, type Button, type Entity, type Message } from "../objects.ts";
import type { Params } from "../params.ts";
import type { ChatState, World } from "../world.ts";
import type { Call } from "./call.ts";

/** The General topic of a forum. */
const GENERAL = 1;

/** A text with its formatting, as a reader sees it. */
export function readText(params: Params, name: "text" | "caption", entitiesName: string): Parsed {
  const raw = params.text(name) ?? "";
  const mode = params.text("parse_mode")?.toLowerCase();
  if (mode === "html") {
    const { text, entities } = parseHtml(raw);
    return { text, entities: findEntities(text, entities) };
  }
  if (mode !== undefined && mode !== "") throw badRequest("unsupported parse_mode");
  const text = raw.trim();
  return { text, entities: findEntities(text, (params.json(entitiesName) as readonly Entity[] | undefined) ?? []) };
}

export function readMessageText(params: Params): Parsed {
  const parsed = readText(params, "text", "entities");
  if (parsed.text === "") throw badRequest("message text is empty");
  if (parsed.text.length > 4096) throw badRequest("message is too long");
  return parsed;
}

/** Buttons below a message. */
export function readMarkup(params: Params): { readonly inline_keyboard: readonly (readonly Button[])[] } | undefined {
  const markup = params.json("reply_markup") as { readonly inline_keyboard?: readonly (readonly Button[])[] } | undefined;
  if (!markup?.inline_keyboard) return undefined;
  for (const button of markup.inline_keyboard.flat()) {
    if (!button.text) throw badRequest("inline keyboard button text must be non-empty");
    if (button.callback_data !== undefined) {
      const bytes = Buffer.byteLength(button.callback_data);
      if (bytes < 1 || bytes > 64) throw badRequest("BUTTON_DATA_INVALID");
    } else if (button.url === undefined && Object.keys(button).length < 2) throw badRequest("inline keyboard button must have exactly one optional field");
  }
  return { inline_keyboard: markup.inline_keyboard };
}

/** The topic a message goes to. General is where a message without a topic goes; it can not be named. */
export function readThread(params: Params, state: ChatState): number | undefined {
  const thread = params.integer("message_thread_id");
  if (thread === undefined || thread === 0) return undefined;
  if (thread === GENERAL || !state.topics.has(thread)) throw badRequest("message thread not found");
  return thread;
}

interface ReplyParameters {
  readonly message_id: number | string;
  readonly allow_sending_without_reply?: boolean;
  readonly quote?: string;
}

export function readReply(params: Params, state: ChatState): Message | undefined {
  const legacy = params.integer("reply_to_message_id");
  const asked = (params.json("reply_parameters") as ReplyParameters | undefined) ?? (legacy === undefined ? undefined : { message_id: legacy });
  if (!asked) return undefined;
  const found = state.messages.get(Number(asked.message_id));
  if (!found && !(asked.allow_sending_without_reply ?? params.flag("allow_sending_without_reply"))) throw badRequest("message to be replied not found");
  if (found && asked.quote !== undefined && !String(found.text ?? found.caption).includes(asked.quote)) throw badRequest("QUOTE_TEXT_INVALID");
  return found;
}

/** Without what it answers itself: the platform shows one level. */
export function flat(message: Message): Message {
  const { reply_to_message: _, ...rest } = message;
  return rest;
}

/** What all ways to send have in common. `content` is read after the chat and before the place in it. */
export function post(call: Call, content: () => Partial<Message>): Message {
  const { world, params, flood } = call;
  const state = world.writable(params.text("chat_id"));
  const made = content();
  const named = readThread(params, state);
  const reply = readReply(params, state);
  // An answer stands where the message stands that it answers.
  const thread = named ?? (reply?.is_topic_message ? reply.message_thread_id : undefined);
  const markup = readMarkup(params);
  flood.pass(String(state.chat.id));
  const message = place(world, state, {
    ...made,
    from: botUser(world),
    ...(thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true as const }),
    ...(reply ? { reply_to_message: flat(reply) } : {}),
    ...(markup ? { reply_markup: markup } : {}),
  });
  world.drafts.delete(state.chat.id);
  return message;
}

export function place(world: World, state: ChatState, content: Partial<Message>): Message {
  const message = { message_id: world.nextMessageId(state), date: world.seconds(), chat: state.chat, ...content } as Message;
  state.messages.set(message.message_id, message);
  return message;
}

/** The bot as the sender of a message. */
export function botUser({ bot: { id, is_bot, first_name, username } }: World): NonNullable<Message["from"]> {
  return { id, is_bot, first_name, ...(username === undefined ? {} : { username }) };
}
