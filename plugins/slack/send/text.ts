/** Texts and buttons: posted, put into the message that showed them, or answered to a command. */
import type { ChannelOutboundContext, OutboundDeliveryResult } from "openclaw/plugin-sdk";
import { asChannelError, ChannelError, type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Params } from "../api.ts";
import type { Workspace } from "../workspace.ts";
import { channelOf, messageTs, parseTarget, type Target } from "./target.ts";

export type TextContext = Pick<
  ChannelOutboundContext,
  "to" | "text" | "rich" | "replyToId" | "threadId" | "identity" | "nonce" | "isRepeat" | "stalePreviewId" | "signal"
>;

/** Of our own id in a message's metadata. */
const EVENT_TYPE = "openclaw_delivery";
/** How long a message that may have arrived is looked for by that id. */
export const NONCE_WINDOW_MS = 600_000;
const REPEAT_MARK = "(repeat?) ";

export function receipt(channel: string, ts: string): OutboundDeliveryResult {
  return { channel: "slack", messageId: ts, channelId: channel, chatId: channel, timestamp: Math.round(Number(ts) * 1000) };
}

/** The thread that a message belongs to: the one it is in, else the message that it answers. */
export const threadOf = ({ threadId, replyToId }: Pick<TextContext, "threadId" | "replyToId">): string | undefined =>
  messageTs(threadId) ?? messageTs(replyToId);

/** The name and picture that an agent goes by. */
function faceOf({ identity }: TextContext): Params {
  if (!identity?.name && !identity?.emoji && !identity?.avatarUrl) return {};
  const emoji = identity.emoji?.trim() ?? "";
  return {
    username: identity.name,
    icon_url: /^https?:\/\//.test(identity.avatarUrl ?? "") ? identity.avatarUrl : undefined,
    icon_emoji: identity.avatarUrl === undefined && /^:?[a-z0-9_+-]+:?$/i.test(emoji) ? `:${emoji.replaceAll(":", "")}:` : undefined,
  };
}

/** A message that an earlier attempt left there; null where nobody can look. */
async function findSent(
  { api, waiting }: Workspace,
  channel: string,
  { nonce, signal }: TextContext,
  thread: string | undefined,
): Promise<string | undefined | null> {
  const oldest = ((waiting.now() - NONCE_WINDOW_MS) / 1000).toFixed(6);
  const params = { channel, oldest, limit: 200, include_all_metadata: true, ...(thread === undefined ? {} : { ts: thread }) };
  try {
    const { messages } = await api.call(thread === undefined ? "conversations.history" : "conversations.replies", params, { signal, timeoutMs: 10_000 });
    const isSame = (message: Fields | undefined): boolean => {
      const metadata = fieldsOf(message?.["metadata"]);
      return metadata?.["event_type"] === EVENT_TYPE && fieldsOf(metadata["event_payload"])?.["nonce"] === nonce;
    };
    return textOf(listOf(messages).map(fieldsOf).find(isSame)?.["ts"]);
  } catch (error) {
    if (asChannelError(error)?.delivery.state === "failed") return null;
    throw error;
  }
}

/** Without a name of its own where the app may not choose one. */
async function post({ api }: Workspace, params: Params, face: Params, signal: AbortSignal | undefined): Promise<Fields> {
  const options = { signal, lane: textOf(params["channel"]) };
  const hasFace = Object.values(face).some((value) => value !== undefined);
  try {
    return await api.call("chat.postMessage", { ...params, ...face }, options);
  } catch (error) {
    if (!hasFace || asChannelError(error)?.reason !== "missing_scope") throw error;
    return api.call("chat.postMessage", params, options);
  }
}

async function answerCommand(
  workspace: Workspace,
  target: Extract<Target, { kind: "slash" }>,
  text: string,
  blocks: readonly unknown[] | undefined,
  signal?: AbortSignal,
) {
  const { api, account, responses } = workspace;
  const url = await responses.take(target.key);
  if (url !== undefined) {
    const json = { response_type: account.slash.isEphemeral ? "ephemeral" : "in_channel", text, ...(blocks ? { blocks } : {}) };
    await api.post(url, { json }, "the answer to a command", signal);
    return { channel: "slack", messageId: `slash:${target.key}`, channelId: target.id };
  }
  const { message_ts: ts } = await api.call("chat.postEphemeral", { channel: target.id, user: target.user, text, blocks }, { signal, lane: target.id });
  return receipt(target.id, textOf(ts) ?? "");
}

export async function sendText(
  workspace: Workspace,
  ctx: TextContext,
  blocksFor?: (mrkdwn: string) => readonly unknown[] | undefined,
): Promise<OutboundDeliveryResult> {
  const { api } = workspace;
  const { signal, nonce } = ctx;
  const target = parseTarget(ctx.to);
  let text = await workspace.render(ctx.text, ctx.rich);
  if (target.kind === "slash") return answerCommand(workspace, target, text, blocksFor?.(text), signal);
  const channel = await channelOf(workspace, ctx.to, signal);
  const thread = threadOf(ctx);
  if (ctx.isRepeat === true && nonce !== undefined) {
    const sent = await findSent(workspace, channel, ctx, thread);
    if (sent) return receipt(channel, sent);
    if (sent === null && !text.startsWith(REPEAT_MARK)) text = REPEAT_MARK + text;
  }
  const metadata = nonce === undefined ? undefined : { event_type: EVENT_TYPE, event_payload: { nonce } };
  const posted = await post(workspace, { channel, text, thread_ts: thread, blocks: blocksFor?.(text), metadata }, faceOf(ctx), signal);
  const stale = messageTs(ctx.stalePreviewId);
  if (stale !== undefined) await api.call("chat.delete", { channel, ts: stale }).catch(() => {});
  return receipt(textOf(posted["channel"]) ?? channel, textOf(posted["ts"]) ?? "");
}

/** Refusals after which a message can only be replaced by another one. */
const NOT_EDITABLE: ReadonlySet<string> = new Set([
  "message_not_found",
  "cant_update_message",
  "edit_window_closed",
  "msg_too_long",
  "channel_not_found",
  "is_inactive",
]);

/** Editing twice is editing once: what may have been done is simply done again. */
function repeatable(error: unknown): unknown {
  const failure = asChannelError(error);
  if (failure?.delivery.state !== "unknown") return error;
  const { action, status, description, code, message, reason } = failure;
  return new ChannelError(message, { action, status, description, code, reason, delivery: { state: "retry" } });
}

export interface Edit {
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
  readonly blocks?: readonly unknown[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A stream that was left open takes no edits. */
export async function editText({ api }: Workspace, { channel, ts, text, blocks, signal }: Edit): Promise<void> {
  const options = { signal, lane: channel };
  const edit = async (): Promise<unknown> => api.call("chat.update", { channel, ts, text, blocks: blocks ?? [] }, options);
  try {
    await edit();
  } catch (error) {
    if (asChannelError(error)?.reason !== "streaming_state_conflict") throw error;
    await api.call("chat.stopStream", { channel, ts }, options);
    await edit();
  }
}

/** The message that showed the answer becomes it. Undefined: it cannot be edited. */
export async function editPreview(
  workspace: Workspace,
  ctx: TextContext & { readonly previewId: string },
  blocksFor?: (mrkdwn: string) => readonly unknown[] | undefined,
): Promise<OutboundDeliveryResult | undefined> {
  const ts = messageTs(ctx.previewId);
  if (ts === undefined) return undefined;
  const text = await workspace.render(ctx.text, ctx.rich);
  const channel = await channelOf(workspace, ctx.to, ctx.signal);
  try {
    await editText(workspace, { channel, ts, text, blocks: blocksFor?.(text), signal: ctx.signal });
    return receipt(channel, ts);
  } catch (error) {
    if (NOT_EDITABLE.has(asChannelError(error)?.reason ?? "")) return undefined;
    throw repeatable(error);
  }
}
