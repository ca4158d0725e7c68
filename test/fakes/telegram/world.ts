import { createHash } from "node:crypto";
import type { Clock } from "../../../src/base/clock.ts";
import { badRequest, forbidden, Refusal, type Chat, type Message, type StoredFile, type User } from "./objects.ts";

export interface ChatState {
  chat: Chat;
  readonly messages: Map<number, Message>;
  /** What the bot put under a message. */
  readonly botReactions: Map<number, readonly string[]>;
  /** What people put there, by user. */
  readonly reactions: Map<number, Map<number, readonly string[]>>;
  readonly topics: Map<number, string>;
  readonly members: Map<number, { readonly user: User; readonly status: string }>;
  /** Why the bot can not write there. */
  shut: string | undefined;
  migratedTo: number | undefined;
  /** The person takes no voice messages. */
  refusesVoice: boolean;
  /** Of messages, where the chat counts for itself. The first says that the chat was made. */
  lastId: number;
}

/** Everything that the platform knows. */
export interface World {
  readonly clock: Clock;
  bot: User & { readonly can_join_groups: boolean; can_read_all_group_messages: boolean; readonly supports_inline_queries: boolean };
  readonly chats: Map<number, ChatState>;
  readonly users: Map<number, User>;
  readonly files: Map<string, StoredFile>;
  readonly commands: Map<string, readonly { readonly command: string; readonly description: string }[]>;
  /** Callback queries by id: what was answered, if anything. */
  readonly callbacks: Map<string, { answered: Readonly<Record<string, unknown>> | undefined }>;
  /** Drafts that are shown right now, by chat. */
  readonly drafts: Map<number, { readonly draftId: number; readonly text: string; readonly until: number }>;
  seconds(): number;
  serial(): number;
  addChat(chat: Chat): ChatState;
  /** The chat that the bot may write to, or the answer why not. */
  writable(chatId: number | string | undefined): ChatState;
  known(chatId: number | string | undefined): ChatState;
  nextMessageId(state: ChatState): number;
  addFile(data: Buffer, facts: { readonly name: string; readonly mime: string; readonly folder: string }): StoredFile;
}

function findChat(chats: ReadonlyMap<number, ChatState>, chatId: number | string | undefined): ChatState {
  if (chatId === undefined || chatId === "") throw badRequest("chat_id is empty");
  const text = String(chatId);
  const found = text.startsWith("@")
    ? [...chats.values()].find(({ chat }) => chat.type !== "private" && chat.username?.toLowerCase() === text.slice(1).toLowerCase())
    : chats.get(Number(text));
  if (!found) throw badRequest("chat not found");
  return found;
}

export function createWorld(clock: Clock, botId: number): World {
  const chats = new Map<number, ChatState>();
  const files = new Map<string, StoredFile>();
  let count = 0;
  let sharedId = 100;
  const world: World = {
    clock,
    bot: {
      id: botId,
      is_bot: true,
      first_name: "Claw",
      username: "claw_test_bot",
      can_join_groups: true,
      can_read_all_group_messages: true,
      supports_inline_queries: false,
    },
    chats,
    users: new Map(),
    files,
    commands: new Map(),
    callbacks: new Map(),
    drafts: new Map(),
    seconds: () => Math.floor(clock.now() / 1000),
    serial: () => (count += 1),
    addChat(chat) {
      const fresh = { messages: new Map(), botReactions: new Map(), reactions: new Map(), topics: new Map(), members: new Map() };
      const state: ChatState = { chat, ...fresh, shut: undefined, migratedTo: undefined, refusesVoice: false, lastId: 1 };
      chats.set(chat.id, state);
      return state;
    },
    known: (chatId) => findChat(chats, chatId),
    writable(chatId) {
      const state = findChat(chats, chatId);
      if (state.migratedTo !== undefined)
        throw new Refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", { migrate_to_chat_id: state.migratedTo });
      if (state.shut !== undefined) throw forbidden(state.shut);
      return state;
    },
    // Supergroups and channels count for themselves; all other chats of a bot share one count.
    nextMessageId: (state) => (state.chat.id < -1_000_000_000_000 ? (state.lastId += 1) : (sharedId += 1)),
    addFile(data, { name, mime, folder }) {
      count += 1;
      const hash = createHash("sha256").update(data).update(String(count)).digest("base64url");
      const extension = /\.\w{1,8}$/.exec(name)?.[0] ?? "";
      const file = { fileId: `AgAD${hash}`, uniqueId: `AQAD${hash.slice(0, 10)}`, path: `${folder}/file_${count}${extension}`, name, mime, data };
      files.set(file.fileId, file);
      return file;
    },
  };
  return world;
}
