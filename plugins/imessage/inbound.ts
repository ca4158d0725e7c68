/** Rows of Messages as events for the host. */
import type { ChannelGatewayContext, ChannelInboundEvent } from "openclaw/plugin-sdk";
import { buildMentionRegexes } from "openclaw/plugin-sdk/channel-inbound";
import {
  defined,
  entriesOf,
  type Fields,
  groupLayers,
  mediaKindOf,
  recordsOf,
  rulesOf,
  textOf,
  textsOf,
  trimmedOf,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { bareEntry, type IMessageAccount } from "./account.ts";
import type { Echoes } from "./echoes.ts";
import { handleOf } from "./target.ts";

/** A row, read. */
export interface Row {
  readonly id: number;
  readonly guid: string;
  /** 0 where it is missing. */
  readonly chatId: number;
  readonly sender: string;
  readonly text: string;
  readonly isFromMe: boolean;
  readonly isGroup: boolean;
  readonly fields: Fields;
}

export interface RowDeps {
  readonly cfg: ChannelGatewayContext["cfg"];
  readonly account: IMessageAccount;
  readonly echoes: Echoes;
  /** The text and sender of a message of the chat. */
  find(chatId: number, guid: string): Promise<{ readonly text: string; readonly sender: string } | undefined>;
}

/** Stands for a file in a text. */
const PLACEHOLDER = "\uFFFC";

/** A chat that is configured as a group is one, and one with several people is never private, whatever `is_group` says. */
function isGroupChat(fields: Fields, chatId: number, { groups }: IMessageAccount): boolean {
  const names = [textOf(fields["chat_guid"]), textOf(fields["chat_identifier"])];
  return (
    fields["is_group"] === true ||
    names.some((name) => name?.includes(";+;")) ||
    textsOf(fields["participants"]).length > 1 ||
    (chatId > 0 && Object.hasOwn(groups, String(chatId)))
  );
}

/** Undefined: it makes no sense. */
export function readRow(fields: Fields, account: IMessageAccount): Row | undefined {
  const id = wholeOf(fields["id"]);
  if (id === undefined || id <= 0) return undefined;
  const chatId = wholeOf(fields["chat_id"]) ?? 0;
  return {
    id,
    guid: textOf(fields["guid"]) ?? `row:${id}`,
    chatId,
    sender: handleOf(textOf(fields["sender"]) ?? ""),
    text: textOf(fields["text"]) ?? "",
    isFromMe: fields["is_from_me"] === true,
    isGroup: isGroupChat(fields, chatId, account),
    fields,
  };
}

/** How the chat of a row may be named. */
function chatNames({ chatId, sender, isGroup, fields }: Row): string[] {
  const [guid, identifier] = [textOf(fields["chat_guid"]), textOf(fields["chat_identifier"])];
  return [
    ...(chatId > 0 ? [`chat_id:${chatId}`] : []),
    ...(guid === undefined ? [] : [`chat_guid:${guid}`]),
    ...(identifier === undefined ? [] : [`chat_identifier:${identifier}`]),
    ...(isGroup ? [] : [sender]),
  ];
}

function isEcho(row: Row, { echoes }: RowDeps): boolean {
  const ours = handleOf(textOf(row.fields["destination_caller_id"]) ?? "");
  if (ours !== "") echoes.receivedAt(ours);
  return echoes.isOwn({ guid: row.guid, text: row.text, sender: row.sender, chats: chatNames(row) });
}

function chatOf(row: Row): Pick<ChannelInboundEvent, "chat" | "to" | "context"> {
  const { chatId, sender, isGroup, fields } = row;
  if (!isGroup) return { chat: { type: "direct", id: sender }, to: sender, context: { To: sender } };
  const title = trimmedOf(fields["chat_name"]);
  const to = `chat_id:${chatId}`;
  return { chat: defined({ type: "group" as const, id: String(chatId), title }), to, context: { To: to } };
}

/**
 * A list may name a chat: the person in a private one, everyone in a group. Groups count in lists for groups only: who is on `allowFrom` may give the
 * commands of owners.
 */
function listedAs(row: Row, { allowFrom, groupAllowFrom, groups }: IMessageAccount): string[] {
  const names = chatNames(row).filter((name) => name !== row.sender);
  if (!row.isGroup) return names;
  const own = groupLayers(groups, String(row.chatId)).flatMap((layer) => entriesOf(layer["allowFrom"]));
  const [listed, direct] = [[...groupAllowFrom, ...own], allowFrom].map((list) => new Set(list.map(bareEntry)));
  return names.filter((name) => listed!.has(name) && !direct!.has(name));
}

function senderOf(row: Row, account: IMessageAccount): ChannelInboundEvent["sender"] {
  const { sender, fields } = row;
  return defined({
    id: sender,
    otherIds: listedAs(row, account),
    name: trimmedOf(fields["sender_name"]) ?? trimmedOf(fields["contact_name"]),
    e164: sender.startsWith("+") ? sender : undefined,
  });
}

function mediaOf({ fields }: Row): NonNullable<ChannelInboundEvent["media"]> {
  return recordsOf(fields["attachments"]).flatMap((file) => {
    const path = textOf(file["original_path"]);
    if (path === undefined) return [];
    const isLate = file["missing"] === true;
    const mimeType = textOf(file["mime_type"]);
    const kind = file["is_sticker"] === true ? "sticker" : mimeType === undefined ? "attachment" : mediaKindOf(mimeType);
    return [
      defined({ kind, ref: isLate ? { path, isLate } : { path }, mimeType, fileName: textOf(file["transfer_name"]), bytes: wholeOf(file["total_bytes"]) }),
    ];
  });
}

/** Messages has no mentions that `imsg` shows: only patterns can find one, and without patterns nothing can. */
function canDetect(cfg: RowDeps["cfg"]): boolean {
  const agents = (cfg.agents?.list ?? []).map(({ id }) => id);
  return [undefined, ...agents].some((agent) => buildMentionRegexes(cfg, agent).length > 0);
}

/** Tapbacks name a part of a message: `p:0/<guid>`. */
const bareGuid = (guid: string): string => guid.replace(/^(?:p:\d+\/|bp:)/, "");

const timeOf = ({ fields }: Row): number | undefined => {
  const at = Date.parse(textOf(fields["created_at"]) ?? "");
  return Number.isNaN(at) ? undefined : at;
};

function reactionEvent(row: Row, account: IMessageAccount): ChannelInboundEvent | undefined {
  const { fields, sender, guid } = row;
  const about = textOf(fields["reacted_to_guid"]);
  const emoji = textOf(fields["reaction_emoji"]) ?? textOf(fields["reaction_type"]);
  if (about === undefined || emoji === undefined) return undefined;
  const ref = chatOf(row);
  const text = `iMessage reaction: ${sender} ${fields["is_reaction_add"] === false ? "took back" : "added"} ${emoji} on message ${bareGuid(about)}`;
  return defined({
    kind: "reaction" as const,
    id: guid,
    ...ref,
    sender: senderOf(row, account),
    text,
    at: timeOf(row),
    replyTo: { id: bareGuid(about) },
    context: { ...ref.context, ReplyToId: bareGuid(about) },
  });
}

async function replyOf({ chatId, fields }: Row, deps: RowDeps): Promise<ChannelInboundEvent["replyTo"]> {
  const guid = textOf(fields["reply_to_guid"]) ?? textOf(fields["thread_originator_guid"]) ?? textOf(fields["reply_to_id"]);
  if (guid === undefined) return undefined;
  const id = bareGuid(guid);
  const written = textOf(fields["reply_to_text"]);
  const found = written === undefined ? await deps.find(chatId, id).catch(() => undefined) : undefined;
  return defined({ id, body: written ?? found?.text, sender: textOf(fields["reply_to_sender"]) ?? found?.sender });
}

/** The event that a row stands for. Undefined: our own, or nothing for the host. */
export async function eventOf(row: Row, deps: RowDeps, backlog: boolean): Promise<ChannelInboundEvent | undefined> {
  const { account, cfg } = deps;
  if (row.isFromMe || row.sender === "" || (row.isGroup && row.chatId <= 0)) return undefined;
  if (row.fields["is_reaction"] === true) return reactionEvent(row, account);
  if (isEcho(row, deps)) return undefined;
  const media = account.includeAttachments ? mediaOf(row) : [];
  const words = row.text.replaceAll(PLACEHOLDER, "").trim();
  const hasFile = row.text.includes(PLACEHOLDER) || recordsOf(row.fields["attachments"]).length > 0;
  const text = words === "" && media.length === 0 && hasFile ? "<media:attachment>" : words;
  if (text === "" && media.length === 0) return undefined;
  const rules = row.isGroup ? rulesOf(groupLayers(account.groups, String(row.chatId))) : undefined;
  return defined({
    kind: "message" as const,
    id: row.guid,
    ...chatOf(row),
    sender: senderOf(row, account),
    text,
    at: timeOf(row),
    mention: row.isGroup && !canDetect(cfg) ? { canDetect: false } : undefined,
    media,
    replyTo: await replyOf(row, deps),
    groupSystemPrompt: rules?.systemPrompt,
    skillFilter: rules?.skills,
    backlog: backlog || undefined,
  });
}
