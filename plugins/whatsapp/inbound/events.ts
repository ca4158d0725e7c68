/** Messages of WhatsApp as events of the host. */
import type { GroupParticipant, proto, WAMessage, WAMessageKey } from "baileys";
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";
import { defined, groupLayers, rulesOf } from "openclaw/plugin-sdk/channel-kit";
import type { WhatsAppAccount } from "../account.ts";
import { hiddenOf, isFeed, isGroup, normalAddress, numberOf, withoutDevice } from "../address.ts";
import type { Library } from "../session/library.ts";
import { contextIn, locationIn, mediaIn, textIn } from "./content.ts";
import { readVote } from "./votes.ts";

export interface Self {
  /** `+49170…`. */
  readonly number: string | undefined;
  /** `123…@lid`. */
  readonly hidden: string | undefined;
}

export interface EventFacts {
  readonly account: WhatsAppAccount;
  readonly library: Library;
  readonly self: Self;
  /** The number behind a hidden id, where this device knows it. */
  numberFor(hidden: string): Promise<string | undefined>;
  subjectOf(group: string): Promise<string | undefined>;
  membersOf(group: string): Promise<readonly GroupParticipant[]>;
  /** A message that was sent by us. */
  sentMessage(id: string): Promise<proto.IMessage | undefined>;
}

/** An event, and what has to be known about its message later. */
export interface ReadMessage {
  readonly event: ChannelInboundEvent;
  readonly key: WAMessageKey;
  /** The owner's chat with themselves. */
  readonly isSelfChat: boolean;
}

interface Person {
  readonly id: string;
  readonly number: string | undefined;
  readonly hidden: string | undefined;
}

export function selfOf(me: { readonly id?: string | undefined; readonly lid?: string | undefined } | undefined): Self {
  return { number: numberOf(me?.id), hidden: hiddenOf(me?.lid) };
}

/** Whether the owner's own messages are answered: the setting, else whether the own number is on the list. */
export function answersSelf({ selfChatMode, allowFrom }: WhatsAppAccount, { number }: Self): boolean {
  return selfChatMode ?? (number !== undefined && allowFrom.some((entry) => normalAddress(entry) === number));
}

async function personOf(jid: string, alternative: string | null | undefined, facts: EventFacts): Promise<Person | undefined> {
  const hidden = hiddenOf(jid) ?? hiddenOf(alternative);
  const number = numberOf(jid) ?? numberOf(alternative) ?? (hidden === undefined ? undefined : await facts.numberFor(hidden));
  const id = number ?? hidden;
  return id === undefined ? undefined : { id, number, hidden };
}

const isSelf = ({ number, hidden }: Self, jid: string | null | undefined): boolean => {
  const one = numberOf(jid) ?? hiddenOf(jid);
  return one !== undefined && (one === number || one === hidden);
};

interface Origin {
  readonly chat: ChannelInboundEvent["chat"];
  readonly sender: ChannelInboundEvent["sender"];
  readonly to: string;
  readonly isSelfChat: boolean;
}

/** Where a message was written and by whom. Undefined: it is not for us. */
async function originOf({ key, pushName }: WAMessage, facts: EventFacts): Promise<Origin | undefined> {
  const { account, self } = facts;
  const remote = key.remoteJid ?? "";
  if (remote === "" || isFeed(remote)) return undefined;
  const inGroup = isGroup(remote);
  const isSelfChat = !inGroup && isSelf(self, remote);
  // Written on the phone that this device is linked to: to someone else, or by an owner who does not talk to us that way.
  if (key.fromMe && !(answersSelf(account, self) && (inGroup || isSelfChat))) return undefined;
  if (key.fromMe && (await facts.sentMessage(key.id ?? "")) !== undefined) return undefined;
  const person = key.fromMe
    ? { id: self.number ?? self.hidden ?? "", number: self.number, hidden: self.hidden }
    : await personOf(inGroup ? (key.participant ?? "") : remote, inGroup ? key.participantAlt : key.remoteJidAlt, facts);
  if (!person || person.id === "") return undefined;
  const sender = defined({
    id: person.id,
    otherIds: [person.number, person.hidden].filter((id) => id !== undefined && id !== person.id) as string[],
    name: pushName || undefined,
    e164: person.number,
  });
  if (!inGroup) return { chat: { type: "direct", id: person.id }, sender, to: person.id, isSelfChat };
  const id = remote.toLowerCase();
  return { chat: defined({ type: "group" as const, id, title: await facts.subjectOf(id) }), sender, to: id, isSelfChat };
}

const digitsOf = (address: string | undefined): string | undefined => /\d+/.exec(address ?? "")?.[0];

function mentionOf(text: string, info: proto.IContextInfo | undefined, { self }: EventFacts): ChannelInboundEvent["mention"] {
  const named = info?.mentionedJid ?? [];
  const written = [digitsOf(self.number), digitsOf(self.hidden)].some((digits) => digits !== undefined && text.includes(`@${digits}`));
  return {
    mentioned: written || named.some((jid) => isSelf(self, withoutDevice(jid))),
    implicit: info?.quotedMessage !== undefined && info.quotedMessage !== null && isSelf(self, withoutDevice(info.participant ?? "")),
    others: named.some((jid) => !isSelf(self, withoutDevice(jid))),
    canDetect: true,
  };
}

async function quoteOf(info: proto.IContextInfo | undefined, facts: EventFacts): Promise<ChannelInboundEvent["replyTo"]> {
  if (!info?.stanzaId || !info.quotedMessage) return undefined;
  const quoted = facts.library.normalizeMessageContent(info.quotedMessage) ?? {};
  const author = await personOf(withoutDevice(info.participant ?? ""), undefined, facts);
  const sender = author && isSelf(facts.self, info.participant && withoutDevice(info.participant)) ? "you" : author?.id;
  return defined({ id: info.stanzaId, body: textIn(quoted) || undefined, sender });
}

const secondsOf = (time: WAMessage["messageTimestamp"]): number | undefined => {
  const seconds = Number(time ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
};

type Base = Omit<ChannelInboundEvent, "kind" | "text">;

/** Changes of messages that were there before: edits, deletions, reactions. */
function changeOf(content: proto.IMessage, base: Base, { library, self }: EventFacts): ChannelInboundEvent | "none" | undefined {
  const { protocolMessage, reactionMessage } = content;
  if (reactionMessage) {
    const { text, key } = reactionMessage;
    if (!text) return "none";
    const replyTo = { id: key?.id ?? "", ...(isSelf(self, key?.participant ?? key?.remoteJid) || key?.fromMe ? { sender: "you" } : {}) };
    return { ...base, kind: "reaction", text, replyTo, context: { ...base.context, ReplyToId: replyTo.id } };
  }
  if (!protocolMessage) return undefined;
  const { Type } = library.proto.Message.ProtocolMessage;
  const edited = protocolMessage.key?.id ?? "";
  if (protocolMessage.type === Type.MESSAGE_EDIT && protocolMessage.editedMessage) {
    const text = textIn(library.normalizeMessageContent(protocolMessage.editedMessage) ?? {});
    return { ...base, kind: "edit", text, replyTo: { id: edited }, context: { ...base.context, MessageSid: edited } };
  }
  if (protocolMessage.type === Type.REVOKE) return { ...base, kind: "notice", text: `WhatsApp: message ${edited} was deleted by ${base.sender.id}` };
  return "none";
}

/** `+49170…` and `123…@lid` as addresses without a device. */
const jidsOf = (ids: readonly (string | undefined)[]): string[] =>
  ids.flatMap((id) => (id === undefined ? [] : [id.startsWith("+") ? `${id.slice(1)}@s.whatsapp.net` : id]));

/** A vote in one of our polls. Those in polls of other people cannot be read. */
async function voteOf(
  update: proto.Message.IPollUpdateMessage,
  base: Base,
  { library, self, sentMessage }: EventFacts,
): Promise<ChannelInboundEvent | undefined> {
  const { sender } = base;
  const creators = jidsOf([self.number, self.hidden]);
  const vote = await readVote(update, { library, sentMessage, creators, voters: jidsOf([sender.id, ...(sender.otherIds ?? [])]) });
  if (!vote) return undefined;
  const { question, chosen } = vote;
  const what = chosen.length === 0 ? "withdrew the vote" : `voted ${chosen.map((option) => JSON.stringify(option)).join(", ")}`;
  return { ...base, kind: "notice", text: `WhatsApp: ${sender.name ?? sender.id} ${what} in the poll ${JSON.stringify(question)}` };
}

/** More are only counted. */
const MAX_MEMBERS = 100;

/** `Ada (+49170…), +1555…`, for `GroupMembers`. */
async function groupMembers({ chat }: Pick<Origin, "chat">, facts: EventFacts): Promise<{ readonly GroupMembers?: string }> {
  if (chat.type !== "group") return {};
  const members = await facts.membersOf(chat.id);
  const shown = members.slice(0, MAX_MEMBERS).map(({ id, phoneNumber, name, notify }) => {
    const address = numberOf(phoneNumber) ?? numberOf(id) ?? hiddenOf(id) ?? id;
    return name || notify ? `${name || notify} (${address})` : address;
  });
  const more = members.length > MAX_MEMBERS ? [`and ${members.length - MAX_MEMBERS} more`] : [];
  return shown.length === 0 ? {} : { GroupMembers: [...shown, ...more].join(", ") };
}

/** Undefined: nothing that the host has to know. */
export async function readMessage(message: WAMessage, isBacklog: boolean, facts: EventFacts): Promise<ReadMessage | undefined> {
  const { library, account } = facts;
  const content = library.normalizeMessageContent(message.message);
  const { id } = message.key;
  if (!content || !id) return undefined;
  const origin = await originOf(message, facts);
  if (!origin) return undefined;
  const { isSelfChat, ...where } = origin;
  const seconds = secondsOf(message.messageTimestamp);
  const base: Base = defined({ ...where, id, at: seconds === undefined ? undefined : seconds * 1000, backlog: isBacklog || undefined });
  if (content.pollUpdateMessage) {
    const event = await voteOf(content.pollUpdateMessage, base, facts);
    return event && { event, key: message.key, isSelfChat };
  }
  const change = changeOf(content, base, facts);
  if (change === "none") return undefined;
  if (change) return { event: change, key: message.key, isSelfChat };
  const info = contextIn(content);
  const [text, media, location] = [textIn(content), mediaIn(content), locationIn(content)];
  if (text === "" && media.length === 0 && !location) return undefined;
  const rules = rulesOf(groupLayers(account.groups, origin.chat.id));
  const album =
    message.message?.messageContextInfo?.messageAssociation?.parentMessageKey?.id ?? content.messageContextInfo?.messageAssociation?.parentMessageKey?.id;
  const event: ChannelInboundEvent = defined({
    ...base,
    kind: "message" as const,
    text,
    mention: origin.chat.type === "group" ? mentionOf(text, info, facts) : undefined,
    media: media.length > 0 ? media : undefined,
    location,
    replyTo: await quoteOf(info, facts),
    groupSystemPrompt: origin.chat.type === "group" ? rules.systemPrompt : undefined,
    skillFilter: origin.chat.type === "group" ? rules.skills : undefined,
    joins: album ? { key: album, waitMs: 1500 } : undefined,
    context: contextFields(account, info, text, await groupMembers(origin, facts)),
  });
  return { event, key: message.key, isSelfChat };
}

function contextFields(
  { messagePrefix }: WhatsAppAccount,
  info: proto.IContextInfo | undefined,
  text: string,
  members: { readonly GroupMembers?: string },
): ChannelInboundEvent["context"] {
  const forwarded = info?.isForwarded ? { ForwardedFrom: "WhatsApp", ForwardedFromType: "unknown" } : {};
  const reworded = messagePrefix !== undefined && text !== "" && !text.startsWith("/") ? { BodyForAgent: `${messagePrefix} ${text}` } : {};
  const fields = { ...forwarded, ...reworded, ...members };
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** Who came or went, from the notes that a group has of it. */
export async function readMembers(message: WAMessage, facts: EventFacts): Promise<ReadMessage | undefined> {
  const { StubType } = facts.library.proto.WebMessageInfo;
  const what = new Map<unknown, string>([
    [StubType.GROUP_PARTICIPANT_ADD, "joined"],
    [StubType.GROUP_PARTICIPANT_INVITE, "joined"],
    [StubType.GROUP_PARTICIPANT_REMOVE, "was removed"],
    [StubType.GROUP_PARTICIPANT_LEAVE, "left"],
  ]).get(message.messageStubType);
  const { key } = message;
  if (what === undefined || !key.id || !isGroup(key.remoteJid ?? "")) return undefined;
  const entries: readonly string[] = message.messageStubParameters ?? [];
  const jids = entries.map(idIn).filter((jid) => jid !== undefined);
  const author = await personOf(withoutDevice(message.participant ?? key.participant ?? jids[0] ?? ""), key.participantAlt, facts);
  const people = await Promise.all(jids.map(async (jid) => (await personOf(withoutDevice(jid), undefined, facts))?.id ?? jid));
  if (!author || people.length === 0) return undefined;
  const id = key.remoteJid!.toLowerCase();
  const seconds = secondsOf(message.messageTimestamp);
  const event: ChannelInboundEvent = defined({
    kind: "member" as const,
    id: key.id,
    chat: defined({ type: "group" as const, id, title: await facts.subjectOf(id) }),
    sender: defined({
      id: author.id,
      otherIds: [author.hidden, author.number].filter((one) => one !== undefined && one !== author.id) as string[],
      e164: author.number,
    }),
    text: `WhatsApp: ${people.join(", ")} ${what}`,
    to: id,
    at: seconds === undefined ? undefined : seconds * 1000,
  });
  return { event, key, isSelfChat: false };
}

/** The library gives participants as JSON or as plain addresses. */
function idIn(entry: string): string | undefined {
  if (!entry.startsWith("{")) return entry;
  try {
    const { id } = JSON.parse(entry) as { id?: unknown };
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}
