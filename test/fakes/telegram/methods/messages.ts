import { badRequest, type Button, type Message } from "../objects.ts";
import type { ChatState } from "../world.ts";
import { readMarkup, readMessageText, readText, readThread, post } from "./compose.ts";
import type { Call, Methods } from "./call.ts";

const NOT_MODIFIED =
  "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";
const DRAFT_MS = 30_000;
const TWO_DAYS_S = 172_800;

function sendMessage(call: Call): Message {
  return post(call, () => {
    const { text, entities } = readMessageText(call.params);
    return { text, ...(entities.length > 0 ? { entities } : {}) };
  });
}

/** Shown for 30 seconds while a text is being written. */
function sendMessageDraft({ world, params }: Call): true {
  const state = world.writable(params.text("chat_id"));
  if (state.chat.type !== "private") throw badRequest("chat not found");
  const draftId = params.integer("draft_id") ?? 0;
  if (draftId === 0) throw badRequest("draft_id must be non-zero");
  const { text } = readText(params, "text", "entities");
  if (text.length > 4096) throw badRequest("message is too long");
  readThread(params, state);
  world.drafts.set(state.chat.id, { draftId, text, until: world.clock.now() + DRAFT_MS });
  return true;
}

/** A message of the bot that may be changed. */
function own({ world, params }: Call): { readonly state: ChatState; readonly message: Message } {
  const state = world.writable(params.text("chat_id"));
  const message = state.messages.get(params.integer("message_id") ?? 0);
  if (!message) throw badRequest("message to edit not found");
  if (message.from?.id !== world.bot.id) throw badRequest("message can't be edited");
  return { state, message };
}

function change(call: Call, next: (message: Message) => Partial<Message>): Message {
  const { state, message } = own(call);
  const { reply_markup: before, edit_date: _, ...rest } = message;
  const markup = readMarkup(call.params);
  const content = next(message);
  const isSame = Object.entries(content).every(([key, value]) => JSON.stringify(value) === JSON.stringify(message[key]));
  if (isSame && JSON.stringify(markup) === JSON.stringify(before)) throw badRequest(NOT_MODIFIED);
  const changed = { ...rest, ...content, ...(markup ? { reply_markup: markup } : {}), edit_date: call.world.seconds() } as Message;
  state.messages.set(message.message_id, changed);
  return changed;
}

function editMessageText(call: Call): Message {
  const { text, entities } = readMessageText(call.params);
  return change(call, (message) => {
    if (message.text === undefined) throw badRequest("there is no text in the message to edit");
    return { text, entities: entities.length > 0 ? entities : undefined } as Partial<Message>;
  });
}

function editMessageCaption(call: Call): Message {
  const { text, entities } = readText(call.params, "caption", "caption_entities");
  if (text.length > 1024) throw badRequest("message caption is too long");
  return change(call, () => ({ caption: text, caption_entities: entities.length > 0 ? entities : undefined }) as Partial<Message>);
}

function deleteMessage({ world, params }: Call): true {
  const state = world.writable(params.text("chat_id"));
  const id = params.integer("message_id") ?? 0;
  const message = state.messages.get(id);
  if (!message) throw badRequest("message to delete not found");
  const isOwn = message.from?.id === world.bot.id;
  const mayOthers = state.members.get(world.bot.id)?.status === "administrator";
  if ((!isOwn && state.chat.type !== "private" && !mayOthers) || message.date < world.seconds() - TWO_DAYS_S) throw badRequest("message can't be deleted");
  state.messages.delete(id);
  return true;
}

function sendPoll(call: Call): Message {
  return post(call, () => {
    const { params, world } = call;
    const question = params.text("question") ?? "";
    if (question.length < 1) throw badRequest("poll question must be non-empty");
    if (question.length > 300) throw badRequest("poll question length must not exceed 300");
    const options = ((params.json("options") as readonly (string | { readonly text: string })[] | undefined) ?? []).map((one) =>
      typeof one === "string" ? one : one.text,
    );
    if (options.length < 2) throw badRequest("poll must have at least 2 option");
    if (options.length > 10) throw badRequest("poll can't have more than 10 options");
    if (options.some((text) => text.length < 1)) throw badRequest("poll options must be non-empty");
    if (options.some((text) => text.length > 100)) throw badRequest("poll options length must not exceed 100");
    const period = params.integer("open_period");
    if (period !== undefined && (period < 5 || period > 600)) throw badRequest("can't use specified open period");
    const facts = { is_closed: false, is_anonymous: params.text("is_anonymous") !== "false", type: "regular" };
    const poll = {
      id: String(5_000_000_000 + world.serial()),
      question,
      options: options.map((text) => ({ text, voter_count: 0 })),
      total_voter_count: 0,
      ...facts,
      allows_multiple_answers: params.flag("allows_multiple_answers"),
      ...(period === undefined ? {} : { open_period: period }),
    };
    return { poll };
  });
}

/** Writing and changing messages. */
export const MESSAGES: Methods = {
  sendMessage,
  sendMessageDraft,
  editMessageText,
  editMessageCaption,
  editMessageReplyMarkup: (call) => change(call, () => ({})),
  deleteMessage,
  sendPoll,
};

/** All buttons of a message, in reading order. */
export const buttonsOf = (message: Message): readonly Button[] => message.reply_markup?.inline_keyboard.flat() ?? [];
