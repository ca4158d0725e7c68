/** Targets, and requests that post something to them. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, defined, type Fields, type FilePart, fieldsOf, textOf, unfit, unsure } from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "../account.ts";
import { type Answers, isOver } from "../interactions.ts";
import { codeOf, type Rest } from "../rest.ts";
import { type Component, framed } from "./components.ts";

/** Whom a message goes to. */
export type Target = { readonly kind: "user" | "channel"; readonly id: string };

/** `user:<id>`, `channel:<id>`, `<@id>`, `discord:<id>` (a person); a bare number is a channel, and so is a thread. */
export function parseTarget(to: string, threadId?: string | number | null): Target {
  const thread = String(threadId ?? "").trim();
  if (/^\d+$/.test(thread)) return { kind: "channel", id: thread };
  const text = to.trim();
  const [, mentioned] = /^<@!?(\d+)>$/.exec(text) ?? [];
  if (mentioned !== undefined) return { kind: "user", id: mentioned };
  const [, space] = /^<#(\d+)>$/.exec(text) ?? [];
  if (space !== undefined) return { kind: "channel", id: space };
  const [, prefix = "channel", id] = /^(?:(user|channel|group|thread|discord|dm):)?@?(\d{1,20})$/i.exec(text.replace(/^discord:(?=[a-z])/i, "")) ?? [];
  if (id === undefined)
    throw unfit("send", `"${to}" is not a Discord chat; use channel:<id> or user:<id> (developer mode shows ids; openclaw directory finds them)`);
  const isPerson = /^(?:user|discord|dm)$/i.test(prefix);
  return { kind: isPerson ? "user" : "channel", id };
}

/** One account that can send. */
export interface Sender {
  readonly account: DiscordAccount;
  readonly rest: Rest;
  /** Interactions that wait, while the account runs. */
  readonly answers: Answers | undefined;
  /** DM channels by person. */
  readonly directs: Map<string, string>;
  /** We sent this one. */
  sent(messageId: string): void;
  /** The thread that an answer to this message belongs in; undefined: none. */
  autoThread(channelId: string, answersId: string): Promise<string | undefined>;
}

export type PostContext = Pick<ChannelOutboundContext, "to"> &
  Partial<Pick<ChannelOutboundContext, "replyToId" | "threadId" | "silent" | "nonce" | "answersId" | "stalePreviewId" | "signal">>;

export interface Content {
  readonly text?: string | undefined;
  readonly components?: readonly Component[] | undefined;
  readonly files?: readonly AttachedFile[] | undefined;
  readonly more?: Fields | undefined;
}

/** `more`: further fields of the attachment. */
type AttachedFile = FilePart & { readonly more?: Fields | undefined };

/** Everybody at once is never called, and nobody is pinged by a reply. */
export const ALLOWED_MENTIONS = { parse: ["users"], replied_user: false } as const;
/** What changes while it is read pings nobody. */
export const NO_MENTIONS = { parse: [] } as const;
const SILENT = 4096;
const MAX_DIRECTS = 5000;

/** The channel of a target. That of a person is opened once. */
export async function channelOf(sender: Sender, to: string, threadId?: string | number | null, signal?: AbortSignal): Promise<string> {
  const target = parseTarget(to, threadId);
  if (target.kind === "channel") return target.id;
  const known = sender.directs.get(target.id);
  if (known !== undefined) return known;
  const id = textOf((await sender.rest.fields("POST", "/users/@me/channels", { json: { recipient_id: target.id }, signal, isPatient: true }))["id"]);
  if (id === undefined) throw unfit("send", `Discord opened no chat with user ${target.id}`);
  if (sender.directs.size >= MAX_DIRECTS) sender.directs.clear();
  sender.directs.set(target.id, id);
  return id;
}

function bodyOf(sender: Sender, { text = "", components, files = [], more = {} }: Content): Record<string, unknown> {
  const { accentColor } = sender.account;
  const isFramed = accentColor !== undefined && components !== undefined && files.length === 0;
  return {
    ...(isFramed ? framed(text, components, accentColor) : defined({ content: text === "" ? undefined : text, components })),
    allowed_mentions: ALLOWED_MENTIONS,
    ...more,
  };
}

/** JSON, or a form where files go along. */
function requestOf(body: Record<string, unknown>, files: readonly AttachedFile[] = []) {
  if (files.length === 0) return { json: body };
  const attachments = files.map(({ fileName, more }, id) => ({ id, filename: fileName, ...more }));
  const parts = Object.fromEntries(files.map((file, index) => [`files[${index}]`, file]));
  return { parts: { payload_json: JSON.stringify({ ...body, attachments }), ...parts } };
}

export interface Posted {
  readonly id: string;
  readonly channelId: string;
  readonly at: number | undefined;
}

function postedOf(answer: Fields, channelId: string): Posted {
  const id = textOf(answer["id"]);
  if (id === undefined) throw unsure("send", "Discord accepted the message, but returned no id");
  const at = Date.parse(textOf(answer["timestamp"]) ?? "");
  return { id, channelId: textOf(answer["channel_id"]) ?? channelId, at: Number.isNaN(at) ? undefined : at };
}

/** The answer to a command takes the place of the sign that it is being worked on. Undefined: there is none, or it is too late. */
async function answerCommand(sender: Sender, ctx: PostContext, content: Content): Promise<Posted | undefined> {
  const { answersId = "" } = ctx;
  const pending = sender.answers?.pending(answersId);
  if (!pending || !(await pending.isOpen)) return undefined;
  const { flags: _flags, ...body } = bodyOf({ ...sender, account: { ...sender.account, accentColor: undefined } }, content);
  const request = { ...requestOf(body, content.files), signal: ctx.signal, action: "the answer to a command" };
  try {
    const posted = postedOf(await sender.rest.fields("PATCH", `${pending.path}/messages/@original`, request), "");
    sender.answers?.settled(answersId);
    return posted;
  } catch (error) {
    if (!isOver(error)) throw error;
    sender.answers?.settled(answersId);
    return undefined;
  }
}

/** Nothing stands for a command any more: what answered it is somewhere else. */
export async function dropPending(sender: Sender, answersId: string | undefined): Promise<void> {
  const pending = answersId === undefined ? undefined : sender.answers?.pending(answersId);
  if (!pending || answersId === undefined) return;
  sender.answers?.settled(answersId);
  if (await pending.isOpen)
    await sender.rest.call("DELETE", `${pending.path}/messages/@original`, { action: "the removal of an answer" }).catch(() => undefined);
}

/** Posts a message. The nonce makes a repeat harmless. */
export async function post(sender: Sender, ctx: PostContext, content: Content): Promise<Posted> {
  const answered = ctx.answersId === undefined ? undefined : await answerCommand(sender, ctx, content);
  if (answered) return answered;
  const named = await channelOf(sender, ctx.to, ctx.threadId, ctx.signal);
  const thread = ctx.answersId === undefined ? undefined : await sender.autoThread(named, ctx.answersId);
  const channelId = thread ?? named;
  const replyTo = textOf(ctx.replyToId);
  const body = bodyOf(sender, content);
  const flags = (typeof body["flags"] === "number" ? body["flags"] : 0) | (ctx.silent === true ? SILENT : 0);
  const json = defined({
    ...body,
    flags: flags === 0 ? undefined : flags,
    ...(ctx.nonce === undefined ? {} : { nonce: ctx.nonce.slice(0, 25), enforce_nonce: true }),
    message_reference: replyTo !== undefined && /^\d+$/.test(replyTo) && thread === undefined ? { message_id: replyTo, fail_if_not_exists: false } : undefined,
  });
  const posted = postedOf(
    await sender.rest.fields("POST", `/channels/${channelId}/messages`, { ...requestOf(json, content.files), signal: ctx.signal }),
    channelId,
  );
  sender.sent(posted.id);
  if (ctx.stalePreviewId) await removeQuietly(sender, channelId, ctx.stalePreviewId);
  return posted;
}

/** Takes a message away; one that stays is no failure of what was sent. */
export async function removeQuietly(sender: Sender, channelId: string, messageId: string): Promise<void> {
  await sender.rest.call("DELETE", `/channels/${channelId}/messages/${messageId}`).catch(() => undefined);
}

/** In the form that the host expects. */
export function receipt({ id, channelId, at }: Posted) {
  return { channel: "discord", messageId: id, channelId, chatId: channelId, ...(at === undefined ? {} : { timestamp: at }) };
}

/** Discord says 404 or 403 about a message that cannot be changed any more. */
export const isLost = (error: unknown): boolean => {
  const failure = asChannelError(error);
  return failure !== undefined && failure.delivery.state === "failed" && (failure.status === 404 || failure.status === 403 || codeOf(error) === 50_005);
};

export const dataOf = (payload: { readonly channelData?: Readonly<Record<string, unknown>> | undefined }): Fields | undefined =>
  fieldsOf(payload.channelData?.["discord"]);
