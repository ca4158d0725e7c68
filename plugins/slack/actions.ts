/** Actions of the `message` tool. */
import {
  type ChannelMessageActionContext,
  type ChannelPlugin,
  createActionGate,
  extractSlackToolSend,
  handleSlackMessageAction,
  jsonResult,
  listSlackMessageActions,
  readNumberParam,
  readStringParam,
} from "openclaw/plugin-sdk";
import { type Fields, fieldsOf, listOf, numberOf, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import { accounts, type SlackAccount } from "./account.ts";
import { buttonBlocks } from "./send/blocks.ts";
import { sendMedia } from "./send/media.ts";
import { addReaction, removeOwnReactions, removeReaction } from "./send/reactions.ts";
import { channelOf, messageTs } from "./send/target.ts";
import { editText, sendText } from "./send/text.ts";
import type { HostConfig } from "./types.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

type ActionAdapter = NonNullable<ChannelPlugin["actions"]>;
type ActionName = ChannelMessageActionContext["action"];
type Handler = (workspace: Workspace, action: Fields, ctx: ChannelMessageActionContext) => Promise<object>;

const MAX_READ = 100;

/** The switch of each action, as `handleSlackMessageAction` names them. All are on by default. */
const GATES: Readonly<Record<string, string>> = {
  react: "reactions",
  reactions: "reactions",
  readMessages: "messages",
  editMessage: "messages",
  deleteMessage: "messages",
  pinMessage: "pins",
  unpinMessage: "pins",
  listPins: "pins",
  memberInfo: "memberInfo",
  emojiList: "emojiList",
  search: "search",
  permissions: "permissions",
  "channel-info": "channelInfo",
};

/** Actions besides those that the SDK puts into Slack's words. */
const MORE = ["search", "permissions", "channel-info"] as const satisfies ActionName[];
const isMore = (action: ActionName): action is (typeof MORE)[number] => (MORE as readonly string[]).includes(action);

function tsIn(action: Fields): string {
  const ts = messageTs(textOf(action["messageId"]));
  if (ts === undefined) throw unfit("message", "no message: set messageId, such as 1699999999.000100");
  return ts;
}

const channelIn = (workspace: Workspace, action: Fields): Promise<string> => channelOf(workspace, textOf(action["channelId"]) ?? "");

/** A message as an agent reads it. */
function shown(raw: unknown): object {
  const message = fieldsOf(raw) ?? {};
  const files = listOf(message["files"]).map((file) => ({
    name: fieldsOf(file)?.["name"],
    mimetype: fieldsOf(file)?.["mimetype"],
    size: fieldsOf(file)?.["size"],
  }));
  const { ts, user, text, thread_ts: threadTs, reply_count: replies, reactions } = message;
  return { ts, user, text, threadTs, replies, ...(reactions === undefined ? {} : { reactions }), ...(files.length === 0 ? {} : { files }) };
}

const send: Handler = async (workspace, action, ctx) => {
  const to = textOf(action["to"]) ?? "";
  const blocks = action["blocks"];
  const common = {
    cfg: ctx.cfg,
    accountId: ctx.accountId,
    to,
    text: textOf(action["content"]) ?? "",
    threadId: textOf(action["threadTs"]) ?? ctx.toolContext?.currentThreadTs ?? null,
  };
  const blocksFor = (mrkdwn: string): readonly unknown[] | undefined => (Array.isArray(blocks) ? blocks : buttonBlocks(ctx.params["buttons"], mrkdwn));
  const mediaUrl = textOf(action["mediaUrl"]);
  const sent =
    mediaUrl === undefined
      ? await sendText(workspace, common, blocksFor)
      : await sendMedia(workspace, { ...common, mediaUrl, mediaLocalRoots: ctx.mediaLocalRoots }, blocksFor);
  return { ok: true, messageId: sent.messageId, channelId: sent.channelId };
};

const react: Handler = async (workspace, action) => {
  const [channel, ts, emoji] = [await channelIn(workspace, action), tsIn(action), textOf(action["emoji"]) ?? ""];
  if (action["remove"] === true && emoji === "") throw unfit("message", "set the emoji to remove, or an empty one to remove all of the app's own");
  if (emoji === "") return { ok: true, removed: await removeOwnReactions(workspace, channel, ts) };
  await (action["remove"] === true ? removeReaction : addReaction)(workspace, channel, ts, emoji);
  return action["remove"] === true ? { ok: true, removed: emoji } : { ok: true, added: emoji };
};

const HANDLERS: Readonly<Record<string, Handler>> = {
  sendMessage: send,
  react,
  async reactions(workspace, action) {
    const answer = await workspace.api.call(
      "reactions.get",
      { channel: await channelIn(workspace, action), timestamp: tsIn(action), full: true },
      { as: "read" },
    );
    return { ok: true, reactions: listOf(fieldsOf(answer["message"])?.["reactions"]).slice(0, numberOf(action["limit"]) ?? MAX_READ) };
  },
  async readMessages(workspace, action) {
    const channel = await channelIn(workspace, action);
    const thread = messageTs(textOf(action["threadId"]));
    const page = {
      channel,
      limit: Math.min(numberOf(action["limit"]) ?? 20, MAX_READ),
      latest: messageTs(textOf(action["before"])),
      oldest: messageTs(textOf(action["after"])),
    };
    const answer = await workspace.api.call(thread === undefined ? "conversations.history" : "conversations.replies", { ...page, ts: thread }, { as: "read" });
    return { ok: true, messages: listOf(answer["messages"]).map(shown), hasMore: answer["has_more"] === true };
  },
  async editMessage(workspace, action) {
    const [channel, ts] = [await channelIn(workspace, action), tsIn(action)];
    const content = textOf(action["content"]) ?? "";
    const blocks = Array.isArray(action["blocks"]) ? action["blocks"] : undefined;
    if (content === "" && blocks === undefined) throw unfit("message", "nothing to change: set message or blocks");
    await editText(workspace, { channel, ts, text: await workspace.render(content, undefined), blocks });
    return { ok: true, messageId: ts, channelId: channel };
  },
  async deleteMessage(workspace, action) {
    await workspace.api.call("chat.delete", { channel: await channelIn(workspace, action), ts: tsIn(action) });
    return { ok: true, deleted: true };
  },
  async pinMessage(workspace, action) {
    await workspace.api.call("pins.add", { channel: await channelIn(workspace, action), timestamp: tsIn(action) });
    return { ok: true, pinned: true };
  },
  async unpinMessage(workspace, action) {
    await workspace.api.call("pins.remove", { channel: await channelIn(workspace, action), timestamp: tsIn(action) });
    return { ok: true, unpinned: true };
  },
  async listPins(workspace, action) {
    const { items } = await workspace.api.call("pins.list", { channel: await channelIn(workspace, action) }, { as: "read" });
    return { ok: true, pins: listOf(items).map((item) => shown(fieldsOf(item)?.["message"])) };
  },
  async memberInfo(workspace, action) {
    const { user } = await workspace.api.call("users.info", { user: textOf(action["userId"])?.toUpperCase() }, { as: "read" });
    return { ok: true, user };
  },
  async emojiList(workspace, action) {
    const { emoji } = await workspace.api.call("emoji.list", {}, { as: "read" });
    const names = Object.keys(fieldsOf(emoji) ?? {}).sort();
    return { ok: true, count: names.length, emoji: names.slice(0, numberOf(action["limit"]) ?? 200) };
  },
  async search(workspace, action) {
    if (workspace.account.userToken === "") throw unfit("message", "Slack search needs a user token: set channels.slack.userToken with the scope search:read");
    const { messages } = await workspace.api.call(
      "search.messages",
      { query: textOf(action["query"]) ?? "", count: numberOf(action["limit"]) ?? 20 },
      { as: "read" },
    );
    const matches = listOf(fieldsOf(messages)?.["matches"]).map((raw) => ({ ...shown(raw), channel: fieldsOf(fieldsOf(raw)?.["channel"])?.["id"] }));
    return { ok: true, matches };
  },
  async permissions(workspace) {
    const { headers } = await workspace.api.ask("auth.test");
    return {
      ok: true,
      scopes: String(headers["x-oauth-scopes"] ?? "")
        .split(",")
        .filter(Boolean),
    };
  },
  async "channel-info"(workspace, action) {
    const { channel } = await workspace.api.call(
      "conversations.info",
      { channel: await channelIn(workspace, action), include_num_members: true },
      { as: "read" },
    );
    return { ok: true, channel };
  },
};

export const isOn = (account: SlackAccount, action: string): boolean => {
  const gate = GATES[action];
  return gate === undefined || createActionGate(account.actions)(gate);
};

export function createActions(workspaces: Workspaces): ActionAdapter {
  const usable = (cfg: HostConfig): SlackAccount[] =>
    accounts
      .listAccountIds(cfg)
      .map((id) => accounts.read(cfg, id))
      .filter(({ enabled, problems }) => enabled && problems.length === 0);

  async function run(ctx: ChannelMessageActionContext, action: Fields): Promise<object> {
    const workspace = workspaces.of(ctx.cfg, ctx.accountId);
    const name = String(action["action"]);
    if (!isOn(workspace.account, name)) throw unfit("message", `the action "${ctx.action}" is off; set channels.slack.actions.${GATES[name]} to true`);
    if (ctx.dryRun === true) return { ok: true, dryRun: true, action: ctx.action };
    return HANDLERS[name]!(workspace, action, ctx);
  }

  return {
    listActions({ cfg }) {
      const extra = MORE.filter((action) => usable(cfg).some((account) => isOn(account, action) && (action !== "search" || account.userToken !== "")));
      const all = listSlackMessageActions(cfg);
      return all.length === 0 ? [] : [...all, ...extra];
    },
    supportsAction: ({ action }) =>
      isMore(action) || ["send", "react", "reactions", "read", "edit", "delete", "pin", "unpin", "list-pins", "member-info", "emoji-list"].includes(action),
    supportsButtons: ({ cfg }) => usable(cfg).length > 0,
    extractToolSend: ({ args }) => extractSlackToolSend(args),
    async handleAction(ctx) {
      if (isMore(ctx.action)) {
        const { params } = ctx;
        const channelId = readStringParam(params, "channelId") ?? readStringParam(params, "to") ?? ctx.toolContext?.currentChannelId;
        const query = readStringParam(params, "query", { required: ctx.action === "search" } as { required: true });
        return jsonResult(await run(ctx, { action: ctx.action, channelId, query, limit: readNumberParam(params, "limit", { integer: true }) }));
      }
      return handleSlackMessageAction({
        providerId: "slack",
        ctx,
        includeReadThreadId: true,
        invoke: async (action) => jsonResult(await run(ctx, action)),
      });
    },
  };
}
