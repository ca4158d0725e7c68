/** Chats and messages of a Mac, as `chat.db` has them. */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Chat {
  readonly id: number;
  readonly identifier: string;
  readonly guid: string;
  readonly name: string;
  readonly service: string;
  readonly participants: readonly string[];
}

export interface Attachment {
  readonly filename: string;
  readonly transfer_name: string;
  readonly uti: string;
  readonly mime_type: string;
  readonly total_bytes: number;
  readonly is_sticker: boolean;
  readonly original_path: string;
  readonly missing: boolean;
}

export interface Row {
  readonly id: number;
  readonly chat: Chat;
  readonly guid: string;
  readonly sender: string;
  readonly isFromMe: boolean;
  readonly text: string;
  readonly at: number;
  readonly attachments: readonly Attachment[];
  /** What was sent, as it was when it was sent. */
  readonly file?: { readonly name: string; readonly data: Buffer } | undefined;
  readonly replyTo?: string | undefined;
  readonly reaction?: { readonly emoji: string; readonly type: string; readonly isAdd: boolean; readonly guid: string } | undefined;
}

export interface WorldFile {
  readonly name: string;
  readonly mime: string;
  readonly data: Buffer;
  readonly isMissing?: boolean;
}

export interface SayOptions {
  readonly file?: WorldFile;
  readonly replyTo?: string;
}

/** Of the account on the Mac. */
export const OWN_HANDLE = "claw@example.org";
const PLACEHOLDER = "\uFFFC";

const isGroup = ({ guid }: Chat): boolean => guid.includes(";+;");

/** A row as `imsg` writes it. */
export function messageOf(row: Row, { attachments, reactions }: { readonly attachments: boolean; readonly reactions: boolean }): Record<string, unknown> {
  const { chat, reaction } = row;
  return {
    id: row.id,
    chat_id: chat.id,
    guid: row.guid,
    sender: row.sender,
    is_from_me: row.isFromMe,
    text: row.text,
    created_at: new Date(row.at).toISOString(),
    attachments: attachments ? row.attachments : [],
    reactions: [],
    chat_identifier: chat.identifier,
    chat_guid: chat.guid,
    chat_name: chat.name,
    participants: chat.participants,
    is_group: isGroup(chat),
    destination_caller_id: OWN_HANDLE,
    ...(row.replyTo === undefined ? {} : { reply_to_guid: row.replyTo, thread_originator_guid: row.replyTo }),
    ...(reaction && reactions
      ? {
          is_reaction: true,
          reaction_type: reaction.type,
          reaction_emoji: reaction.emoji,
          is_reaction_add: reaction.isAdd,
          reacted_to_guid: reaction.guid,
        }
      : {}),
  };
}

export function chatOf(chat: Chat, rows: readonly Row[]): Record<string, unknown> {
  const { id, identifier, guid, name, service, participants } = chat;
  const last = rows.findLast((row) => row.chat === chat);
  return { id, identifier, guid, name, service, participants, is_group: isGroup(chat), last_message_at: new Date(last?.at ?? 0).toISOString() };
}

/** `files`: where attachments are kept, and what stands before their paths on this machine. */
export function createWorld(files: { readonly folder: string; readonly root: string }, added: (row: Row) => void) {
  const chats: Chat[] = [];
  const rows: Row[] = [];

  function chat(facts: Omit<Chat, "id">): Chat {
    const made = { id: chats.length + 1, ...facts };
    chats.push(made);
    return made;
  }
  function add(facts: Pick<Row, "chat" | "text"> & Partial<Row>): Row {
    const row: Row = { id: rows.length + 1, guid: randomUUID().toUpperCase(), sender: "", isFromMe: false, at: Date.now(), attachments: [], ...facts };
    rows.push(row);
    added(row);
    return row;
  }
  function store({ name, mime, data, isMissing = false }: WorldFile): Attachment {
    const path = join(files.folder, randomUUID(), name);
    if (!isMissing) {
      mkdirSync(dirname(join(files.root, path)), { recursive: true });
      writeFileSync(join(files.root, path), data);
    }
    return {
      filename: path,
      transfer_name: name,
      uti: "public.data",
      mime_type: mime,
      total_bytes: data.length,
      is_sticker: false,
      original_path: path,
      missing: isMissing,
    };
  }
  function direct(handle: string): Chat {
    const known = chats.find(({ identifier }) => identifier === handle);
    return known ?? chat({ identifier: handle, guid: `iMessage;-;${handle}`, name: "", service: "iMessage", participants: [handle] });
  }
  return {
    chats,
    rows,
    direct,
    add,
    group(name: string, participants: readonly string[]): Chat {
      const identifier = `chat${1000 + chats.length}`;
      return chat({ identifier, guid: `iMessage;+;${identifier}`, name, service: "iMessage", participants });
    },
    /** A person writes. */
    say(sender: string, where: Chat, text: string, { file, replyTo }: SayOptions = {}): Row {
      const attachments = file ? [store(file)] : [];
      return add({ chat: where, sender, text: file ? `${PLACEHOLDER}${text}` : text, attachments, replyTo });
    },
    /** A tapback. */
    react(sender: string, on: Row, emoji: string, isAdd = true): Row {
      const type = emoji === "👍" ? "like" : emoji === "❤️" ? "love" : "custom";
      return add({ chat: on.chat, sender, text: "", reaction: { emoji, type, isAdd, guid: on.guid } });
    },
  };
}

export type World = ReturnType<typeof createWorld>;
