/** Parameters of the `message` tool, as Discord's actions need them. */
import { type ChannelMessageActionContext, readNumberParam, readStringParam } from "openclaw/plugin-sdk";
import { type Fields, fieldsOf, listOf, textOf, textsOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import { channelOf, type Sender } from "../send/sender.ts";

export type Context = ChannelMessageActionContext;
export type Handler = (sender: Sender, ctx: Context) => Promise<Record<string, unknown>>;

export const text = ({ params }: Context, ...names: readonly string[]): string | undefined =>
  names.map((name) => readStringParam(params, name) ?? readNumberParam(params, name)?.toString()).find((value) => value !== undefined && value !== "");

export function need(ctx: Context, what: string, ...names: readonly string[]): string {
  const value = text(ctx, ...names);
  if (value === undefined) throw unfit(ctx.action, `${ctx.action} needs ${names[0]}: ${what}`);
  return value;
}

export function idIn(ctx: Context, what: string, ...names: readonly string[]): string {
  const id = need(ctx, what, ...names)
    .replace(/^(?:user|channel|role):/i, "")
    .replace(/^<[@#&!]*(\d+)>$/, "$1");
  if (!/^\d{1,20}$/.test(id)) throw unfit(ctx.action, `${names[0]} must be a Discord id, a number such as 123456789012345678, not "${id.slice(0, 40)}"`);
  return id;
}

export const number = ({ params }: Context, name: string): number | undefined => readNumberParam(params, name, { integer: true });
export const texts = ({ params }: Context, name: string): string[] =>
  textsOf(params[name])
    .map((entry) => entry.trim())
    .filter(Boolean);
export const rows = (answer: unknown): Fields[] => listOf(answer).flatMap((raw) => (fieldsOf(raw) ? [fieldsOf(raw)!] : []));

/** The channel that is named, else the one that the agent is in. */
export async function channelIn(sender: Sender, ctx: Context): Promise<string> {
  const to = text(ctx, "channelId", "to", "target") ?? ctx.toolContext?.currentChannelId;
  if (!to) throw unfit(ctx.action, `no channel: set to, such as channel:123456789012345678`);
  return channelOf(sender, to, text(ctx, "threadId"));
}

/** The server that is named, else that of the channel. */
export async function guildIn(sender: Sender, ctx: Context): Promise<string> {
  if (text(ctx, "guildId") !== undefined) return idIn(ctx, "the id of the server", "guildId");
  const channel = await sender.rest.fields("GET", `/channels/${await channelIn(sender, ctx)}`);
  const id = textOf(channel["guild_id"]);
  if (id === undefined) throw unfit(ctx.action, `${ctx.action} needs a server, and this chat is not in one: set guildId`);
  return id;
}

/** What a model needs of a message. */
export function brief(message: Fields): Record<string, unknown> {
  const author = fieldsOf(message["author"]);
  const files = listOf(message["attachments"]).flatMap((raw) => textOf(fieldsOf(raw)?.["filename"]) ?? []);
  return {
    id: message["id"],
    channelId: message["channel_id"],
    author: { id: author?.["id"], name: textOf(author?.["global_name"]) ?? author?.["username"] },
    content: message["content"],
    timestamp: message["timestamp"],
    ...(files.length > 0 ? { files } : {}),
    ...(message["pinned"] === true ? { pinned: true } : {}),
  };
}
