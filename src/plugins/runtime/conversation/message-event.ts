import { createHash } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import { canonicalChatType } from "../../../channels/index.ts";
import type { ChannelInboundEvent, ChannelInboundMedia, ChatType, MsgContext } from "../../../protocol/index.ts";

/** A message that a plugin has read and gated by itself. */
export interface OfferedMessage {
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
  /** As it was given, in a form that can be kept. */
  readonly context: MsgContext;
}

/** More of a context is not kept. */
const MAX_CONTEXT = 4_000_000;

/** The first that says something. */
function textOf(...values: readonly unknown[]): string | undefined {
  const texts = values.map((value) => (typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : ""));
  return texts.find((text) => text !== "");
}

/** `demo:group:123` → `123`. */
function bareId(channel: string, id: string): string {
  const own = id.toLowerCase().startsWith(`${channel.toLowerCase()}:`) ? id.slice(channel.length + 1) : id;
  return /^(?:group|channel|room|direct|dm|user):(.+)$/i.exec(own)?.[1] ?? own;
}

const chatTypeOf = (ctx: MsgContext): ChatType => canonicalChatType(ctx.ChatType) ?? "direct";

function kindOf(mimeType: string): ChannelInboundMedia["kind"] {
  const [type] = mimeType.split("/");
  return type === "image" || type === "video" || type === "audio" ? type : "document";
}

function mediaOf(ctx: MsgContext): ChannelInboundMedia[] {
  const paths = ctx.MediaPaths?.length ? ctx.MediaPaths : ctx.MediaPath ? [ctx.MediaPath] : [];
  const types = ctx.MediaTypes?.length ? ctx.MediaTypes : [ctx.MediaType];
  return paths.map((saved, index) => {
    const mimeType = types[index] ?? "application/octet-stream";
    return { kind: kindOf(mimeType), ref: { saved }, mimeType };
  });
}

/** A message without an id of its own: the same words at the same time are the same message; without a time each is a new one. */
function madeId(ctx: MsgContext, newId: () => string): string {
  if (typeof ctx.Timestamp !== "number") return `made:${newId()}`;
  return `made:${createHash("sha256")
    .update(JSON.stringify([ctx.SessionKey, ctx.From, ctx.Timestamp, ctx.Body]))
    .digest("hex")
    .slice(0, 24)}`;
}

function kept(ctx: MsgContext): MsgContext {
  const json = JSON.stringify(ctx, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  if (json.length > MAX_CONTEXT) throw new AppError("INVALID_INPUT", `the context of a message has ${json.length} characters; the limit is ${MAX_CONTEXT}`);
  return JSON.parse(json) as MsgContext;
}

/** The event that a context tells of. */
export function messageOffer(ctx: MsgContext, newId: () => string, skillFilter?: readonly string[]): OfferedMessage {
  const channel = textOf(ctx.OriginatingChannel, ctx.Provider, ctx.Surface)?.toLowerCase();
  if (channel === undefined) throw new AppError("INVALID_INPUT", "a message needs a channel: set OriginatingChannel or Provider");
  const to = textOf(ctx.OriginatingTo, ctx.To, ctx.From);
  const sender = textOf(ctx.SenderId, ctx.From);
  if (to === undefined || sender === undefined) throw new AppError("INVALID_INPUT", "a message needs OriginatingTo or To, and SenderId or From");
  const type = chatTypeOf(ctx);
  const [threadId, label] = [ctx.MessageThreadId, textOf(ctx.GroupSubject, ctx.ConversationLabel)];
  const media = mediaOf(ctx);
  const text = ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "";
  const event: ChannelInboundEvent = {
    kind: ctx.CommandSource === "native" ? "command" : "message",
    id: textOf(ctx.MessageSidFull, ctx.MessageSid) ?? madeId(ctx, newId),
    chat: {
      type,
      id: type === "direct" ? sender : bareId(channel, to),
      ...(threadId === undefined ? {} : { threadId }),
      ...(type === "direct" || !label ? {} : { title: label }),
    },
    sender: { id: sender, name: ctx.SenderName, username: ctx.SenderUsername, tag: ctx.SenderTag, e164: ctx.SenderE164 },
    text,
    to,
    ...(typeof ctx.Timestamp === "number" ? { at: ctx.Timestamp } : {}),
    ...(media.length === 0 ? {} : { media }),
    ...(ctx.ReplyToId ? { replyTo: { id: ctx.ReplyToId, body: ctx.ReplyToBody, sender: ctx.ReplyToSender } } : {}),
    ...(ctx.GroupSystemPrompt ? { groupSystemPrompt: ctx.GroupSystemPrompt } : {}),
    ...(skillFilter ? { skillFilter: [...skillFilter] } : {}),
  };
  // A command of the platform's menu is about the chat's session, not about one of its own.
  const sessionKey = ctx.CommandSource === "native" ? (ctx.CommandTargetSessionKey ?? ctx.SessionKey) : ctx.SessionKey;
  const context = kept(sessionKey === undefined ? ctx : { ...ctx, SessionKey: sessionKey });
  return { channel, accountId: textOf(ctx.AccountId) ?? "default", event, context };
}
