import { buttonsOf } from "./methods/messages.ts";
import type { Button, Entity, Message } from "./objects.ts";
import type { World } from "./world.ts";

/** A message as a person in the chat sees it now. */
export interface Seen {
  readonly id: number;
  readonly byBot: boolean;
  /** Of the message or the caption, without markup. */
  readonly text: string;
  readonly entities: readonly Entity[];
  readonly replyTo: number | undefined;
  readonly thread: number | undefined;
  readonly isEdited: boolean;
  readonly media: { readonly kind: string; readonly name: string; readonly mime: string; readonly data: Buffer } | undefined;
  readonly poll: { readonly question: string; readonly options: readonly string[] } | undefined;
  readonly buttons: readonly Button[];
  /** Reactions of everybody, the bot's among them. */
  readonly reactions: readonly string[];
}

const KINDS = ["photo", "video", "animation", "audio", "voice", "video_note", "sticker", "document"];

function mediaOf(world: World, message: Message): Seen["media"] {
  const kind = KINDS.find((name) => message[name] !== undefined);
  if (kind === undefined) return undefined;
  const value = message[kind] as { readonly file_id: string } | readonly { readonly file_id: string }[];
  const id = Array.isArray(value) ? (value as readonly { readonly file_id: string }[]).at(-1)!.file_id : (value as { readonly file_id: string }).file_id;
  const { name, mime, data } = world.files.get(id)!;
  return { kind, name, mime, data };
}

/** What stands in a chat, oldest first. */
export function look(world: World, chatId: number): readonly Seen[] {
  const state = world.chats.get(chatId);
  if (!state) return [];
  const sorted = [...state.messages.values()].sort((a, b) => a.message_id - b.message_id);
  return sorted.map((message) => {
    const id = message.message_id;
    const poll = message["poll"] as { readonly question: string; readonly options: readonly { readonly text: string }[] } | undefined;
    return {
      id,
      byBot: message.from?.id === world.bot.id,
      text: message.text ?? message.caption ?? "",
      entities: message.entities ?? message.caption_entities ?? [],
      replyTo: message.reply_to_message?.message_id,
      thread: message.message_thread_id,
      isEdited: message.edit_date !== undefined,
      media: mediaOf(world, message),
      poll: poll && { question: poll.question, options: poll.options.map(({ text }) => text) },
      buttons: buttonsOf(message),
      reactions: [...(state.botReactions.get(id) ?? []), ...[...(state.reactions.get(id)?.values() ?? [])].flat()],
    };
  });
}
