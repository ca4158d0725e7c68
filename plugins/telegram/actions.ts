/** What the `message` tool can do here. */
import {
  type ChannelMessageActionContext,
  type ChannelMessageActionName,
  type ChannelPlugin,
  extractToolSend,
  jsonResult,
  listTelegramAccountIds,
  readNumberParam,
  readStringParam,
} from "openclaw/plugin-sdk";
import { unfit, reactionParam } from "openclaw/plugin-sdk/channel-kit";
import type { TelegramAccount } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import type { Records } from "./records.ts";
import { keyboardOf } from "./send/buttons.ts";
import { sendMedia } from "./send/media.ts";
import { isDirect, messageId, parseTarget, post, postFields, receipt, type Sender } from "./send/sender.ts";
import { editText, sendText } from "./send/text.ts";

type ActionAdapter = NonNullable<ChannelPlugin["actions"]>;
type Handler = (sender: Sender, ctx: ChannelMessageActionContext) => Promise<Record<string, unknown>>;

/** The switch of each action in `channels.telegram.actions`, and whether it is on by default. */
const GATES = {
  send: ["sendMessage", true],
  react: ["reactions", true],
  delete: ["deleteMessage", true],
  edit: ["editMessage", true],
  "topic-create": ["createForumTopic", true],
  sticker: ["sticker", false],
  "sticker-search": ["sticker", false],
} as const satisfies Partial<Record<ChannelMessageActionName, readonly [gate: string, isOn: boolean]>>;

type ActionName = keyof typeof GATES;

const isKnown = (action: string): action is ActionName => Object.hasOwn(GATES, action);

export function isOn(account: TelegramAccount, action: ActionName): boolean {
  const [gate, otherwise] = GATES[action];
  if (action === "react" && !reacts(account)) return false;
  return account.actions[gate] ?? otherwise;
}

/** Reactions of the agent's own; with `ack` there is only the gateway's sign that a message was seen. */
const reacts = ({ reactionLevel }: TelegramAccount): boolean => reactionLevel === "minimal" || reactionLevel === "extensive";

/** What to set for an action that is off. */
const switchOf = (account: TelegramAccount, action: ActionName): string =>
  action === "react" && !reacts(account) ? "channels.telegram.reactionLevel to minimal or extensive" : `channels.telegram.actions.${GATES[action][0]} to true`;

/** The chat that is named, else the one that the agent is in. */
function chatIn({ params, toolContext }: ChannelMessageActionContext): string {
  const named = readStringParam(params, "to") ?? readStringParam(params, "chatId") ?? readStringParam(params, "target") ?? toolContext?.currentChannelId;
  if (!named) throw unfit("message", "no chat: set to, such as 123456789 or -1001234567890");
  return named;
}

function messageIn({ params }: ChannelMessageActionContext): number {
  const id = messageId(readNumberParam(params, "messageId", { integer: true }) ?? readNumberParam(params, "message_id", { integer: true }));
  if (id === undefined) throw unfit("message", "no message: set messageId, a number as in message_id of the conversation");
  return id;
}

const send: Handler = async (sender, ctx) => {
  const { params } = ctx;
  const to = chatIn(ctx);
  const mediaUrl = ["media", "mediaUrl", "path", "filePath"].map((key) => readStringParam(params, key, { trim: false })).find(Boolean);
  const text =
    readStringParam(params, "message", { allowEmpty: true }) ??
    readStringParam(params, "text", { allowEmpty: true }) ??
    readStringParam(params, "caption") ??
    "";
  if (text === "" && mediaUrl === undefined) throw unfit("message", "nothing to send: set message or media");
  const options = {
    cfg: ctx.cfg,
    accountId: ctx.accountId,
    to,
    text,
    replyToId: readStringParam(params, "replyTo") ?? readStringParam(params, "replyToId") ?? String(readNumberParam(params, "replyTo") ?? ""),
    threadId: readStringParam(params, "threadId") ?? readNumberParam(params, "threadId", { integer: true }) ?? null,
    silent: params["silent"] === true,
    audioAsVoice: params["asVoice"] === true,
    gifPlayback: params["gifPlayback"] === true,
  };
  const keyboard = keyboardOf(params["buttons"], sender.account.buttons, isDirect(parseTarget(to)));
  const sent =
    mediaUrl === undefined
      ? await sendText(sender, options, keyboard)
      : await sendMedia(sender, { ...options, mediaUrl, mediaLocalRoots: ctx.mediaLocalRoots }, keyboard);
  return { ok: true, messageId: sent.messageId, chatId: sent.chatId };
};

const react: Handler = async (sender, ctx) => {
  const { emoji, remove, isEmpty } = reactionParam(ctx);
  const { chat_id } = postFields(sender, { to: chatIn(ctx) });
  const reaction = remove || isEmpty ? [] : [{ type: "emoji" as const, emoji: emoji as never }];
  await sender.client.call("setMessageReaction", { chat_id, message_id: messageIn(ctx), reaction });
  return { ok: true, ...(reaction.length > 0 ? { added: emoji } : { removed: true }) };
};

const remove: Handler = async (sender, ctx) => {
  const { chat_id } = postFields(sender, { to: chatIn(ctx) });
  await sender.client.call("deleteMessage", { chat_id, message_id: messageIn(ctx) });
  return { ok: true, deleted: true };
};

const edit: Handler = async (sender, ctx) => {
  const text = readStringParam(ctx.params, "message", { allowEmpty: false }) ?? readStringParam(ctx.params, "text", { required: true, label: "message" });
  const { chat_id: chatId } = postFields(sender, { to: chatIn(ctx) });
  const id = messageIn(ctx);
  const keyboard = keyboardOf(ctx.params["buttons"], sender.account.buttons, isDirect({ chatId }));
  const edited = await editText(sender, await sender.render(text, undefined, sender.account.tables), { chatId, id, keyboard, signal: undefined });
  if (!edited) throw unfit("editMessageText", `message ${id} cannot be edited: it was deleted, is too old or is not from this bot`);
  return { ok: true, messageId: String(id), chatId: String(chatId) };
};

const createTopic: Handler = async (sender, ctx) => {
  const name = readStringParam(ctx.params, "name") ?? readStringParam(ctx.params, "threadName", { required: true, label: "name" });
  const { chat_id } = postFields(sender, { to: chatIn(ctx) });
  const color = readNumberParam(ctx.params, "iconColor", { integer: true });
  const topic = await sender.client.call("createForumTopic", {
    chat_id,
    name: name.slice(0, 128),
    ...(color === undefined ? {} : { icon_color: color as never }),
  });
  return { ok: true, topicId: topic.message_thread_id, name: topic.name, chatId: String(chat_id) };
};

const sticker: Handler = async (sender, ctx) => {
  const file = readStringParam(ctx.params, "fileId") ?? readStringParam(ctx.params, "stickerId", { required: true, label: "fileId" });
  const fields = postFields(sender, { to: chatIn(ctx), threadId: readStringParam(ctx.params, "threadId"), replyToId: readStringParam(ctx.params, "replyTo") });
  const posted = await post(sender, { ...fields, sticker: file }, (current) => sender.client.call("sendSticker", current));
  return { ok: true, ...receipt(posted, fields.chat_id) };
};

const MAX_STICKERS = 50;

/** Among the stickers that people sent, by emoji or set. */
const searchStickers =
  (records: Pick<Records, "stickers">): Handler =>
  async ({ account }, { params }) => {
    const query = readStringParam(params, "query") ?? "";
    const limit = Math.min(Math.max(readNumberParam(params, "limit", { integer: true }) ?? 5, 1), MAX_STICKERS);
    const found = records.stickers(account.accountId, query, limit);
    return { ok: true, count: found.length, stickers: found };
  };

export function createActions(accounts: Pick<Accounts, "account" | "sender">, records: Pick<Records, "stickers">): ActionAdapter {
  const handlers: Readonly<Record<ActionName, Handler>> = {
    send,
    react,
    delete: remove,
    edit,
    "topic-create": createTopic,
    sticker,
    "sticker-search": searchStickers(records),
  };
  const usable = (cfg: ChannelMessageActionContext["cfg"]): TelegramAccount[] =>
    listTelegramAccountIds(cfg)
      .map((id) => accounts.account(cfg, id))
      .filter(({ enabled, token }) => enabled && token !== "");
  return {
    listActions({ cfg }) {
      const usedBy = usable(cfg);
      return Object.keys(GATES)
        .filter(isKnown)
        .filter((action) => usedBy.some((account) => isOn(account, action)));
    },
    supportsAction: ({ action }) => isKnown(action),
    supportsButtons: ({ cfg, accountId }) => (accountId ? [accounts.account(cfg, accountId)] : usable(cfg)).some(({ buttons }) => buttons !== "off"),
    extractToolSend: ({ args }) => extractToolSend(args, "sendMessage"),
    async handleAction(ctx) {
      const { action } = ctx;
      if (!isKnown(action)) throw unfit("message", `Telegram has no action "${action}"; available: ${Object.keys(GATES).join(", ")}`);
      const sender = accounts.sender(ctx.cfg, ctx.accountId);
      if (!isOn(sender.account, action)) throw unfit("message", `the action "${action}" is off; set ${switchOf(sender.account, action)}`);
      if (ctx.dryRun === true) return jsonResult({ ok: true, dryRun: true, action, ...(action === "sticker-search" ? {} : { to: chatIn(ctx) }) });
      return jsonResult(await handlers[action](sender, ctx));
    },
  };
}
