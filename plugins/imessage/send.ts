/** Messages on their way out. */
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import { asChannelError, type Fields, loadOutgoingFile, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import { convertMarkdownTables, resolveMarkdownTableMode } from "openclaw/plugin-sdk/markdown-table-runtime";
import type { IMessageAccount } from "./account.ts";
import { type RunCommand, withOutgoing } from "./attachments.ts";
import type { Echoes } from "./echoes.ts";
import { type Imsg, INVALID_PARAMS } from "./imsg.ts";
import { echoKey, parseTarget, type Target, targetParams, targetText } from "./target.ts";

export interface Sender {
  readonly account: IMessageAccount;
  readonly echoes: Echoes;
  readonly run: RunCommand;
  now(): number;
  /** With the program that runs, or one for this call. */
  use<T>(work: (imsg: Imsg) => Promise<T>): Promise<T>;
}

export type SendContext = Pick<ChannelOutboundContext, "cfg" | "to" | "text"> & Partial<ChannelOutboundContext>;

const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Older versions know no replies and ignore them; newer ones refuse where they cannot send any. The message matters more. */
async function request(imsg: Imsg, params: Fields, replyTo: string | undefined, signal: AbortSignal | undefined): Promise<Fields> {
  if (replyTo === undefined) return imsg.send(params, signal);
  try {
    return await imsg.send({ ...params, reply_to: replyTo }, signal);
  } catch (error) {
    const failure = asChannelError(error);
    if (failure?.reason !== INVALID_PARAMS || !failure.mentions("reply")) throw error;
    return imsg.send(params, signal);
  }
}

/** A guid of Messages; what is no such thing cannot be referred to. */
const guidIn = (id: string | null | undefined): string | undefined => (id && !id.startsWith("row:") ? id : undefined);

async function deliver(sender: Sender, ctx: SendContext, target: Target, file: string | undefined) {
  const { account, echoes } = sender;
  const text = convertMarkdownTables(ctx.text, resolveMarkdownTableMode({ cfg: ctx.cfg, channel: "imessage", accountId: ctx.accountId }));
  const params: Fields = {
    ...targetParams(target),
    ...(text === "" ? {} : { text }),
    ...(file === undefined ? {} : { file }),
    service: (target.kind === "handle" ? target.service : undefined) ?? account.service,
    region: account.region,
  };
  const arrived = echoes.sending(echoKey(target), text);
  try {
    const result = await sender.use((imsg) => request(imsg, params, guidIn(ctx.replyToId), ctx.signal));
    const guid = textOf(result["guid"]) ?? textOf(result["message_id"]);
    if (guid !== undefined) echoes.sent(guid);
    const row = wholeOf(result["id"]);
    // Older versions give no id for what was sent.
    const messageId = guid ?? (row === undefined ? (ctx.nonce ?? `imessage-${sender.now()}`) : `row:${row}`);
    return { channel: "imessage", messageId, chatId: targetText(target), timestamp: sender.now() };
  } finally {
    arrived();
  }
}

/** One message, with a file where there is one. */
export async function send(sender: Sender, ctx: SendContext) {
  const target = parseTarget(ctx.to);
  if (ctx.mediaUrl === undefined) return deliver(sender, ctx, target, undefined);
  const file = await loadOutgoingFile(ctx, MAX_FILE_BYTES);
  return withOutgoing(sender.account, file, sender.run, (path) => deliver(sender, ctx, target, path));
}
