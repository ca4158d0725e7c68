/** What the `message` tool can do here. */
import {
  type ChannelMessageActionContext,
  type ChannelMessageActionName,
  type ChannelPlugin,
  extractToolSend,
  jsonResult,
  readNumberParam,
  readStringParam,
} from "openclaw/plugin-sdk";
import { unfit, reactionParam } from "openclaw/plugin-sdk/channel-kit";
import type { WhatsAppAccount, WhatsAppAccounts } from "./account.ts";
import type { Live, LiveAccounts } from "./live.ts";
import { sendMedia } from "./media.ts";
import { pollContent, sendReaction, textContent, transmit } from "./send.ts";

type Handler = (live: Live, ctx: ChannelMessageActionContext) => Promise<Record<string, unknown>>;

/** The switch of each action in `channels.whatsapp.actions`; all are on by default. */
const GATES = { send: "sendMessage", react: "reactions", poll: "polls" } as const satisfies Partial<Record<ChannelMessageActionName, string>>;
type ActionName = keyof typeof GATES;

const isKnown = (action: string): action is ActionName => Object.hasOwn(GATES, action);
const isOn = ({ actions }: WhatsAppAccount, action: ActionName): boolean =>
  ({ send: actions["sendMessage"], react: actions["reactions"], poll: actions["polls"] })[action] !== false;

/** The chat that is named, else the one that the agent is in. */
function chatIn({ params, toolContext }: ChannelMessageActionContext): string {
  const named = ["to", "chatJid", "target"].map((key) => readStringParam(params, key)).find(Boolean) ?? toolContext?.currentChannelId;
  if (!named) throw unfit("message", "no chat: set to, a number such as +491701234567 or a group id that ends in @g.us");
  return named;
}

const send: Handler = async (live, ctx) => {
  const { params } = ctx;
  const mediaUrl = ["media", "mediaUrl", "path", "filePath"].map((key) => readStringParam(params, key, { trim: false })).find(Boolean);
  const text = ["message", "text", "caption"].map((key) => readStringParam(params, key, { allowEmpty: true })).find((one) => one !== undefined) ?? "";
  if (text === "" && mediaUrl === undefined) throw unfit("message", "nothing to send: set message or media");
  const [to, replyToId] = [chatIn(ctx), readStringParam(params, "replyTo")];
  const { cfg, accountId, mediaLocalRoots } = ctx;
  const media = { cfg, accountId, to, text, mediaLocalRoots, replyToId, gifPlayback: params["gifPlayback"] === true, audioAsVoice: params["asVoice"] === true };
  const sent =
    mediaUrl === undefined
      ? await transmit(live, to, textContent(text), { replyToId })
      : await sendMedia(live, { ...media, mediaUrl }, async (words) => words.text);
  return { ok: true, messageId: sent.messageId, toJid: sent.toJid };
};

const react: Handler = async (live, ctx) => {
  const { params } = ctx;
  const messageId = readStringParam(params, "messageId", { required: true });
  const { emoji, remove, isEmpty } = reactionParam(ctx);
  const isAway = remove || isEmpty;
  const fromMe = params["fromMe"];
  await sendReaction(live, {
    to: chatIn(ctx),
    messageId,
    emoji: isAway ? "" : emoji,
    participant: readStringParam(params, "participant"),
    ...(typeof fromMe === "boolean" ? { fromMe } : {}),
  });
  return isAway ? { ok: true, removed: true } : { ok: true, added: emoji };
};

const poll: Handler = async (live, ctx) => {
  const { params } = ctx;
  const question = readStringParam(params, "pollQuestion") ?? readStringParam(params, "question", { required: true, label: "pollQuestion" });
  const written: unknown = params["pollOption"] ?? params["pollOptions"] ?? params["options"];
  const options = (Array.isArray(written) ? written : [written]).filter((option) => typeof option === "string");
  const isMulti = params["pollMulti"] === true;
  const maxSelections = readNumberParam(params, "maxSelections", { integer: true }) ?? (isMulti ? options.length : 1);
  const sent = await transmit(live, chatIn(ctx), pollContent({ question, options, maxSelections }));
  return { ok: true, messageId: sent.messageId, toJid: sent.toJid };
};

const HANDLERS: Readonly<Record<ActionName, Handler>> = { send, react, poll };

export function createActions(accounts: WhatsAppAccounts, live: LiveAccounts): NonNullable<ChannelPlugin["actions"]> {
  return {
    listActions({ cfg }) {
      const enabled = accounts
        .listAccountIds(cfg)
        .map((id) => accounts.read(cfg, id))
        .filter((account) => account.enabled);
      return Object.keys(GATES)
        .filter(isKnown)
        .filter((action) => enabled.some((account) => isOn(account, action)));
    },
    supportsAction: ({ action }) => isKnown(action),
    extractToolSend: ({ args }) => extractToolSend(args, "sendMessage"),
    async handleAction(ctx) {
      const { action } = ctx;
      if (!isKnown(action)) throw unfit("message", `WhatsApp has no action "${action}"; available: ${Object.keys(GATES).join(", ")}`);
      const account = accounts.read(ctx.cfg, ctx.accountId);
      if (!isOn(account, action)) throw unfit("message", `the action "${action}" is off; set channels.whatsapp.actions.${GATES[action]} to true`);
      if (ctx.dryRun === true) return jsonResult({ ok: true, dryRun: true, action, to: chatIn(ctx) });
      return jsonResult(await HANDLERS[action](live.need(account.accountId), ctx));
    },
  };
}
