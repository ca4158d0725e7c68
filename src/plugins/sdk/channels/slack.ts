/** What the Slack plugin's shell needs: reply modes, threads, and the `message` tool's actions in Slack's own words. */
import { AppError } from "../../../base/errors.ts";
import type {
  AgentToolResult,
  ChannelMessageActionContext,
  ChannelMessageActionName,
  ChannelThreadingContext,
  ChannelThreadingToolContext,
  ChannelToolSend,
  HostConfig,
  ReplyToMode,
} from "../../../protocol/index.ts";
import { createActionGate, extractToolSend, readNumberParam, readStringParam } from "../params.ts";
import { listEnabledSlackAccounts, resolveSlackAccount, type ResolvedSlackAccount } from "./accounts.ts";

/** By kind of chat, then the old key for direct messages, then the account's. */
export function resolveSlackReplyToMode(account: ResolvedSlackAccount, chatType?: string | null): ReplyToMode {
  const kind = chatType === "dm" ? "direct" : (chatType ?? "");
  const direct = kind === "direct" ? (account.dm?.["replyToMode"] as ReplyToMode | undefined) : undefined;
  return account.replyToModeByChatType?.[kind] ?? direct ?? account.replyToMode ?? "off";
}

export function buildSlackThreadingToolContext(params: {
  cfg: HostConfig;
  accountId?: string | null | undefined;
  context: ChannelThreadingContext;
  hasRepliedRef?: { value: boolean } | undefined;
}): ChannelThreadingToolContext {
  const { context } = params;
  const thread = context.MessageThreadId ?? context.ReplyToId;
  return {
    currentChannelId: context.To?.startsWith("channel:") ? context.To.slice("channel:".length) : undefined,
    currentThreadTs: thread === undefined ? undefined : String(thread),
    // Inside a thread every reply belongs there.
    replyToMode: context.ThreadLabel ? "all" : resolveSlackReplyToMode(resolveSlackAccount(params), context.ChatType),
    hasRepliedRef: params.hasRepliedRef,
  };
}

export const extractSlackToolSend = (args: Record<string, unknown>): ChannelToolSend | null => extractToolSend(args);

/** Actions by the switch that lets them through. */
const GATED: readonly (readonly [gate: string, ...actions: ChannelMessageActionName[]])[] = [
  ["reactions", "react", "reactions"],
  ["messages", "read", "edit", "delete"],
  ["pins", "pin", "unpin", "list-pins"],
  ["memberInfo", "member-info"],
  ["emojiList", "emoji-list"],
];

/** What at least one account with a token allows. */
export function listSlackMessageActions(cfg: HostConfig): ChannelMessageActionName[] {
  const gates = listEnabledSlackAccounts(cfg)
    .filter((account) => account.botTokenSource !== "none")
    .map((account) => createActionGate(account.actions));
  if (gates.length === 0) return [];
  return ["send", ...GATED.flatMap(([gate, ...actions]) => (gates.some((isOn) => isOn(gate)) ? actions : []))];
}

type Params = Record<string, unknown>;
type Words = (params: Params, room: () => string, includeReadThreadId: boolean) => Params;

const message = (params: Params) => ({ messageId: readStringParam(params, "messageId", { required: true }) });

function blocksOf(raw: unknown): unknown[] | undefined {
  let blocks: unknown;
  try {
    blocks = typeof raw === "string" ? JSON.parse(raw) : raw;
  } catch (cause) {
    throw new AppError("INVALID_INPUT", "blocks must be a list of Slack blocks, or one as JSON, and this is not JSON", { cause });
  }
  if (blocks === undefined || blocks === null) return undefined;
  if (!Array.isArray(blocks) || blocks.length === 0) throw new AppError("INVALID_INPUT", "blocks must be a list with at least one Slack block");
  return blocks;
}

const send: Words = (params) => {
  const to = readStringParam(params, "to", { required: true });
  const content = readStringParam(params, "message", { allowEmpty: true }) ?? "";
  const mediaUrl = readStringParam(params, "media", { trim: false });
  const blocks = blocksOf(params["blocks"]);
  if (!content && !mediaUrl && !blocks) throw new AppError("INVALID_INPUT", "a Slack message needs message, blocks or media");
  if (mediaUrl && blocks) throw new AppError("INVALID_INPUT", "a Slack message takes blocks or media, not both");
  return { action: "sendMessage", to, content, mediaUrl, blocks, threadTs: readStringParam(params, "threadId") ?? readStringParam(params, "replyTo") };
};

const WORDS: Partial<Record<ChannelMessageActionName, Words>> = {
  send,
  react: (params, room) => ({
    action: "react",
    channelId: room(),
    ...message(params),
    emoji: readStringParam(params, "emoji", { allowEmpty: true }),
    remove: typeof params["remove"] === "boolean" ? params["remove"] : undefined,
  }),
  reactions: (params, room) => ({ action: "reactions", channelId: room(), ...message(params), limit: readNumberParam(params, "limit", { integer: true }) }),
  read: (params, room, includeThread) => ({
    action: "readMessages",
    channelId: room(),
    limit: readNumberParam(params, "limit", { integer: true }),
    before: readStringParam(params, "before"),
    after: readStringParam(params, "after"),
    ...(includeThread ? { threadId: readStringParam(params, "threadId") } : {}),
  }),
  edit: (params, room) => ({
    action: "editMessage",
    channelId: room(),
    ...message(params),
    content: readStringParam(params, "message", { allowEmpty: true }) ?? "",
    blocks: blocksOf(params["blocks"]),
  }),
  delete: (params, room) => ({ action: "deleteMessage", channelId: room(), ...message(params) }),
  pin: (params, room) => ({ action: "pinMessage", channelId: room(), ...message(params) }),
  unpin: (params, room) => ({ action: "unpinMessage", channelId: room(), ...message(params) }),
  "list-pins": (_params, room) => ({ action: "listPins", channelId: room() }),
  "member-info": (params) => ({ action: "memberInfo", userId: readStringParam(params, "userId", { required: true }) }),
  "emoji-list": (params) => ({ action: "emojiList", limit: readNumberParam(params, "limit", { integer: true }) }),
};

/** Puts an action of the `message` tool into Slack's words and hands it to `invoke`. */
export async function handleSlackMessageAction(params: {
  providerId: string;
  ctx: ChannelMessageActionContext;
  invoke(action: Params, cfg: HostConfig, toolContext?: ChannelThreadingToolContext): Promise<AgentToolResult>;
  normalizeChannelId?: ((channelId: string) => string) | undefined;
  includeReadThreadId?: boolean | undefined;
}): Promise<AgentToolResult> {
  const { ctx, normalizeChannelId } = params;
  const words = WORDS[ctx.action];
  if (!words) throw new AppError("INVALID_INPUT", `${params.providerId} has no action ${ctx.action}; it has ${Object.keys(WORDS).join(", ")}`);
  const room = () => {
    const id = readStringParam(ctx.params, "channelId") ?? readStringParam(ctx.params, "to", { required: true });
    return normalizeChannelId ? normalizeChannelId(id) : id;
  };
  const action = { ...words(ctx.params, room, params.includeReadThreadId === true), accountId: ctx.accountId ?? undefined };
  return ctx.action === "send" ? params.invoke(action, ctx.cfg, ctx.toolContext) : params.invoke(action, ctx.cfg);
}
