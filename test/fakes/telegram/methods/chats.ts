import { badRequest } from "../objects.ts";
import { botUser, place } from "./compose.ts";
import type { Call, Methods } from "./call.ts";

/** What may stand under a message. */
export const REACTIONS = new Set(
  (
    "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 " +
    "😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
  ).split(" "),
);
const ACTIONS = new Set(
  "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note".split(
    " ",
  ),
);

function sendChatAction({ world, params }: Call): true {
  const state = world.writable(params.text("chat_id"));
  if (!ACTIONS.has(params.text("action") ?? "")) throw badRequest("wrong parameter action in request");
  const thread = params.integer("message_thread_id");
  const isGeneral = thread === 1 && state.chat.is_forum === true;
  if (thread !== undefined && !isGeneral && !state.topics.has(thread)) throw badRequest("message thread not found");
  return true;
}

function setMessageReaction({ world, params }: Call): true {
  const state = world.writable(params.text("chat_id"));
  const id = params.integer("message_id") ?? 0;
  if (!state.messages.has(id)) throw badRequest("message to react not found");
  const wanted = (params.json("reaction") as readonly { readonly type: string; readonly emoji?: string }[] | undefined) ?? [];
  const emojis = wanted.map(({ type, emoji }) => (type === "emoji" ? (emoji ?? "") : ""));
  if (emojis.some((emoji) => !REACTIONS.has(emoji))) throw badRequest("REACTION_INVALID");
  if (emojis.length > 1) throw badRequest("REACTIONS_TOO_MANY");
  state.botReactions.set(id, emojis);
  return true;
}

function answerCallbackQuery({ world, params }: Call): true {
  const found = world.callbacks.get(params.text("callback_query_id") ?? "");
  if (!found || found.answered) throw badRequest("query is too old and response timeout expired or query ID is invalid");
  if ((params.text("text") ?? "").length > 200) throw badRequest("MESSAGE_TOO_LONG");
  found.answered = params.raw;
  return true;
}

function getChatMember({ world, params }: Call): unknown {
  const { members } = world.known(params.text("chat_id"));
  const userId = params.integer("user_id") ?? 0;
  const member = members.get(userId);
  if (member) return member;
  const user = world.users.get(userId);
  if (!user) throw badRequest("PARTICIPANT_ID_INVALID");
  return { user, status: "left" };
}

function createForumTopic({ world, params }: Call): unknown {
  const state = world.writable(params.text("chat_id"));
  if (!state.chat.is_forum) throw badRequest("the chat is not a forum");
  const name = params.text("name") ?? "";
  if (name.length < 1 || name.length > 128) throw badRequest("TOPIC_TITLE_EMPTY");
  if (state.members.get(world.bot.id)?.status !== "administrator") throw badRequest("not enough rights to create a topic");
  const facts = { name, icon_color: 7_322_096 };
  const message = place(world, state, { from: botUser(world), forum_topic_created: facts, is_topic_message: true });
  state.messages.set(message.message_id, { ...message, message_thread_id: message.message_id });
  state.topics.set(message.message_id, name);
  return { message_thread_id: message.message_id, ...facts };
}

/** Chats, their people and what stands under messages. */
export const CHATS: Methods = {
  sendChatAction,
  setMessageReaction,
  answerCallbackQuery,
  getChat: ({ world, params }) => ({ ...world.known(params.text("chat_id")).chat, accent_color_id: 1, max_reaction_count: 11 }),
  getChatMember,
  getChatAdministrators: ({ world, params }) => [...world.known(params.text("chat_id")).members.values()].filter(({ status }) => status !== "member"),
  createForumTopic,
  leaveChat({ world, params }) {
    const state = world.writable(params.text("chat_id"));
    state.shut = `bot is not a member of the ${state.chat.type} chat`;
    return true;
  },
};
