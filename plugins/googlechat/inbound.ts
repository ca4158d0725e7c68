/** Events of Google Chat as events for the host. */
import { createHash } from "node:crypto";
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";
import { defined, type Fields, fieldsOf, mediaKindOf, recordsOf, rulesOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { type GoogleChatAccount, isUserId, layersOf } from "./account.ts";
import { type GoogleChatApi, isMessage } from "./api.ts";

/** An event in one form, whichever of the two it came in. */
export interface ChatEvent {
  readonly type: "message" | "command" | "added" | "removed" | "button";
  readonly eventTime: string;
  readonly user: Fields;
  readonly space: Fields;
  readonly message: Fields;
  /** Of a pressed button. */
  readonly parameters: Fields;
}

const TYPES: Readonly<Record<string, ChatEvent["type"]>> = {
  MESSAGE: "message",
  APP_COMMAND: "command",
  ADDED_TO_SPACE: "added",
  REMOVED_FROM_SPACE: "removed",
  CARD_CLICKED: "button",
};

/** Of add-ons: the payload's name says what happened. */
const PAYLOADS: Readonly<Record<string, ChatEvent["type"]>> = {
  messagePayload: "message",
  appCommandPayload: "command",
  addedToSpacePayload: "added",
  removedFromSpacePayload: "removed",
  buttonClickedPayload: "button",
};

const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined => (Object.hasOwn(table, key) ? table[key] : undefined);

function addOnEvent(body: Fields, chat: Fields): ChatEvent | undefined {
  const name = Object.keys(chat).find((key) => own(PAYLOADS, key) !== undefined);
  const type = name === undefined ? undefined : own(PAYLOADS, name);
  const payload = fieldsOf(chat[name ?? ""]);
  const message = fieldsOf(payload?.["message"]) ?? {};
  if (type === undefined || !payload) return undefined;
  return {
    type,
    eventTime: textOf(chat["eventTime"]) ?? "",
    user: fieldsOf(chat["user"]) ?? {},
    space: fieldsOf(payload["space"]) ?? fieldsOf(message["space"]) ?? {},
    message,
    parameters: fieldsOf(fieldsOf(body["commonEventObject"])?.["parameters"]) ?? {},
  };
}

/** A list of `{ key, value }` as an object. */
const pairs = (list: unknown): Fields => Object.fromEntries(recordsOf(list).flatMap(({ key, value }) => (typeof key === "string" ? [[key, value]] : [])));

/** The event in a body. Undefined: none that is read here. */
export function readEvent(body: unknown): ChatEvent | undefined {
  const fields = fieldsOf(body);
  if (!fields) return undefined;
  const chat = fieldsOf(fields["chat"]);
  if (chat) return addOnEvent(fields, chat);
  const type = own(TYPES, textOf(fields["type"]) ?? textOf(fields["eventType"]) ?? "");
  if (type === undefined) return undefined;
  const message = fieldsOf(fields["message"]) ?? {};
  return {
    type,
    eventTime: textOf(fields["eventTime"]) ?? "",
    user: fieldsOf(fields["user"]) ?? {},
    space: fieldsOf(fields["space"]) ?? fieldsOf(message["space"]) ?? {},
    message,
    parameters: { ...pairs(fieldsOf(fields["action"])?.["parameters"]), ...fieldsOf(fieldsOf(fields["common"])?.["parameters"]) },
  };
}

export interface MappingDeps {
  readonly api: GoogleChatApi;
  readonly account: GoogleChatAccount;
  /** The app's own user, where it is known. */
  self(): string | undefined;
}

interface ChatSpace {
  readonly name: string;
  readonly isDirect: boolean;
  readonly title: string | undefined;
}

function readSpace(space: Fields): ChatSpace | undefined {
  const name = textOf(space["name"]) ?? "";
  if (!/^spaces\/[\w-]+$/.test(name)) return undefined;
  const kind = textOf(space["spaceType"]) ?? textOf(space["type"]);
  return { name, isDirect: kind === "DIRECT_MESSAGE" || kind === "DM" || space["singleUserBotDm"] === true, title: textOf(space["displayName"]) };
}

/** The chat, and where an answer goes: into the thread that the message stands in, where it is a reply. */
function chatOf({ name, isDirect, title }: ChatSpace, thread?: string): Pick<ChannelInboundEvent, "chat" | "to"> {
  const chat = isDirect ? { type: "direct" as const, id: name } : { type: "group" as const, id: name, ...(title === undefined ? {} : { title }) };
  return { chat, to: thread ?? name };
}

function senderOf(user: Fields): ChannelInboundEvent["sender"] | undefined {
  const id = textOf(user["name"]) ?? "";
  if (!isUserId(id)) return undefined;
  return defined({ id, name: textOf(user["displayName"]), isBot: user["type"] === "BOT" || undefined });
}

const timeOf = (text: unknown): number | undefined => {
  const at = Date.parse(textOf(text) ?? "");
  return Number.isNaN(at) ? undefined : at;
};

/** Files of Drive are named as well: they cannot be fetched, and the model is to know of them. */
function mediaOf(message: Fields): ChannelInboundEvent["media"] {
  const files = recordsOf(message["attachment"] ?? message["attachments"]);
  return files.flatMap((file) => {
    const resource = textOf(fieldsOf(file["attachmentDataRef"])?.["resourceName"]);
    const driveFile = textOf(fieldsOf(file["driveDataRef"])?.["driveFileId"]);
    if (resource === undefined && driveFile === undefined) return [];
    const mimeType = textOf(file["contentType"]);
    const kind = mimeType === undefined ? ("attachment" as const) : mediaKindOf(mimeType);
    return [defined({ kind, ref: defined({ resource, driveFile }), mimeType, fileName: textOf(file["contentName"]) })];
  });
}

/** Who is named. Without a known user of ours, a named app is us: Google reports messages to the apps that they name. */
function mentionOf(message: Fields, self: string | undefined): NonNullable<ChannelInboundEvent["mention"]> {
  const named = recordsOf(message["annotations"]).flatMap(({ type, userMention }) => {
    const user = fieldsOf(fieldsOf(userMention)?.["user"]);
    return type === "USER_MENTION" && user ? [user] : [];
  });
  const isOurs = ({ name, type }: Fields): boolean => name === "users/app" || (self === undefined ? type === "BOT" : name === self);
  return { mentioned: named.some(isOurs), others: named.some((user) => !isOurs(user)) };
}

/** The message that is quoted, or the thread that is written in. */
async function replyTo({ api }: MappingDeps, message: Fields, thread: string | undefined): Promise<ChannelInboundEvent["replyTo"]> {
  const quoted = fieldsOf(message["quotedMessageMetadata"]);
  const name = textOf(quoted?.["name"]) ?? "";
  if (!isMessage(name)) return thread === undefined ? undefined : { id: thread };
  // Only a help for the model: without it the message is taken all the same.
  const found = fieldsOf(quoted?.["quotedMessageSnapshot"]) ?? (await api.message(name).catch(() => undefined));
  return defined({ id: name, body: textOf(found?.["text"]), sender: textOf(fieldsOf(found?.["sender"])?.["displayName"]), isQuote: true });
}

async function messageEvent({ type, user, message, eventTime }: ChatEvent, place: ChatSpace, deps: MappingDeps): Promise<ChannelInboundEvent | undefined> {
  const id = textOf(message["name"]) ?? "";
  const sender = senderOf(fieldsOf(message["sender"]) ?? user);
  const self = deps.self();
  if (!isMessage(id) || !id.startsWith(`${place.name}/`) || !sender || sender.id === self) return undefined;
  const thread = textOf(fieldsOf(message["thread"])?.["name"]);
  const isThread = thread !== undefined && /^spaces\/[\w-]+\/threads\/[\w.-]+$/.test(thread);
  if (isThread) deps.api.threads.set(id, thread);
  const within = isThread && message["threadReply"] === true ? thread : undefined;
  const mention = mentionOf(message, self);
  const [whole, argument] = [textOf(message["text"]) ?? "", textOf(message["argumentText"])];
  const isCommand = type === "command" || fieldsOf(message["slashCommand"]) !== undefined;
  const rules = place.isDirect ? undefined : rulesOf(layersOf(deps.account, place.name));
  return defined({
    kind: isCommand ? ("command" as const) : ("message" as const),
    id,
    ...chatOf(place, within),
    sender,
    // Without the name of the app in front; what names other people stays.
    text: mention.mentioned === true && argument !== undefined && !isCommand ? argument.trim() : whole,
    at: timeOf(message["createTime"]) ?? timeOf(eventTime),
    mention,
    media: mediaOf(message),
    replyTo: await replyTo(deps, message, within),
    groupSystemPrompt: rules?.systemPrompt,
    skillFilter: rules?.skills,
  });
}

/** The app came into a space, or was taken out. */
function memberEvent({ type, user, eventTime }: ChatEvent, place: ChatSpace): ChannelInboundEvent | undefined {
  const sender = senderOf(user);
  if (!sender || place.isDirect) return undefined;
  const what = type === "added" ? "added the app to" : "removed the app from";
  return defined({
    kind: "member" as const,
    id: `${place.name}:${type}:${eventTime}`,
    ...chatOf(place),
    sender,
    text: `Google Chat: ${sender.name ?? sender.id} ${what} ${place.title ?? place.name}`,
    at: timeOf(eventTime),
  });
}

/** The name of the parameter that carries what a button writes. */
export const BUTTON_VALUE = "openclaw";

/** A pressed button is answered as if its value had been written. Google reports buttons only to the app that made them. */
function buttonEvent({ user, message, eventTime, parameters }: ChatEvent, place: ChatSpace, deps: MappingDeps): ChannelInboundEvent | undefined {
  const [sender, value, messageId] = [senderOf(user), textOf(parameters[BUTTON_VALUE]), textOf(message["name"]) ?? ""];
  if (!sender || value === undefined || sender.id === deps.self()) return undefined;
  const thread = message["threadReply"] === true ? textOf(fieldsOf(message["thread"])?.["name"]) : undefined;
  const press = createHash("sha256").update(JSON.stringify([messageId, sender.id, eventTime, value]));
  const id = `press:${press.digest("hex").slice(0, 32)}`;
  return defined({
    kind: "button" as const,
    id,
    ...chatOf(place, thread),
    sender,
    text: value,
    at: timeOf(eventTime),
    mention: { mentioned: true },
    context: { WasMentioned: true, MessageSid: id, ButtonMessageId: messageId },
  });
}

/** What a body brings, in order. Empty: nothing for the host. */
export async function eventsIn(body: unknown, deps: MappingDeps): Promise<ChannelInboundEvent[]> {
  const event = readEvent(body);
  const place = event && readSpace(event.space);
  if (!event || !place) return [];
  if (event.type === "button") return [buttonEvent(event, place, deps)].filter((found) => found !== undefined);
  const isMember = event.type === "added" || event.type === "removed";
  // Who names the app where it is not a member adds it with that message.
  const isSaid = event.type !== "removed" && Object.keys(event.message).length > 0;
  const found = [isMember ? memberEvent(event, place) : undefined, isSaid ? await messageEvent(event, place, deps) : undefined];
  return found.filter((one) => one !== undefined);
}
