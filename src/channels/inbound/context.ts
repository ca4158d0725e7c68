/** Derived fields of an inbound message, filled in once. */
import { printableName } from "../../base/printable.ts";
import type { FinalizedMsgContext, MsgContext } from "../../protocol/index.ts";
import { canonicalChatType } from "./envelope.ts";

export interface FinalizeOptions {
  readonly forceBodyForAgent?: boolean | undefined;
  readonly forceBodyForCommands?: boolean | undefined;
  readonly forceChatType?: boolean | undefined;
  readonly forceConversationLabel?: boolean | undefined;
}

const TEXTS = ["Body", "RawBody", "CommandBody", "Transcript", "ThreadStarterBody", "ThreadHistoryBody", "BodyForAgent", "BodyForCommands"] as const;
const UNKNOWN_TYPE = "application/octet-stream";

const trimmed = (value: unknown): string | undefined => (typeof value === "string" ? value.trim() || undefined : undefined);
const lines = (text: string): string => text.replaceAll(/\r\n?/g, "\n");

/** The part after the last colon of an address such as `signal:group:123`. */
const idOf = (address: string | undefined): string | undefined => address?.split(":").at(-1)?.trim() || undefined;

/** A name for the conversation; a bare number is added where the name alone would be ambiguous. */
export function conversationLabel(ctx: MsgContext): string | undefined {
  const explicit = trimmed(ctx.ConversationLabel) ?? trimmed(ctx.ThreadLabel);
  if (explicit !== undefined) return explicit;
  const from = trimmed(ctx.From);
  if (canonicalChatType(ctx.ChatType) === "direct") return trimmed(ctx.SenderName) ?? from;
  const base = trimmed(ctx.GroupChannel) ?? trimmed(ctx.GroupSubject) ?? trimmed(ctx.GroupSpace) ?? from;
  const id = idOf(from);
  const vague = id !== undefined && (/^\d+$/.test(id) || id.endsWith("@g.us"));
  return base === undefined || id === undefined || !vague || base.includes(id) || /^[#@]/.test(base) ? base : `${base} id:${id}`;
}

function mediaTypes(ctx: MsgContext): void {
  const count = Math.max(ctx.MediaPaths?.length ?? 0, ctx.MediaUrls?.length ?? 0, ctx.MediaPath || ctx.MediaUrl ? 1 : 0);
  if (count === 0) return;
  const known = ctx.MediaTypes ?? (ctx.MediaType ? [ctx.MediaType] : []);
  ctx.MediaTypes = Array.from({ length: Math.max(count, known.length) }, (_, index) => trimmed(known[index]) ?? UNKNOWN_TYPE);
  ctx.MediaType = trimmed(ctx.MediaType) ?? ctx.MediaTypes[0];
}

/** Names of people and chats: one printable line. */
const NAMES = [
  "SenderName",
  "SenderUsername",
  "SenderTag",
  "GroupSubject",
  "GroupChannel",
  "GroupSpace",
  "ConversationLabel",
  "ThreadLabel",
  "ReplyToSender",
] as const;

/** Fills `ctx` in place and returns it. Only an exact `true` authorizes. */
export function finalizeInboundContext<T extends MsgContext>(ctx: T, options: FinalizeOptions = {}): T & FinalizedMsgContext {
  const target: MsgContext = ctx;
  for (const key of TEXTS) if (typeof target[key] === "string") target[key] = lines(target[key]);
  for (const key of NAMES) if (typeof target[key] === "string") target[key] = printableName(target[key]);
  target.Body ??= "";
  if (target.UntrustedContext) target.UntrustedContext = target.UntrustedContext.map(lines).filter((text) => text.trim() !== "");
  const chatType = canonicalChatType(target.ChatType);
  if (chatType !== undefined || options.forceChatType) target.ChatType = chatType;
  const body = target.CommandBody ?? target.RawBody ?? target.Body;
  if (options.forceBodyForAgent || target.BodyForAgent === undefined) target.BodyForAgent = body;
  if (options.forceBodyForCommands || target.BodyForCommands === undefined) target.BodyForCommands = body;
  if (options.forceConversationLabel) target.ConversationLabel = undefined;
  target.ConversationLabel = conversationLabel(target);
  target.CommandAuthorized = target.CommandAuthorized === true;
  mediaTypes(target);
  return ctx as T & FinalizedMsgContext;
}
