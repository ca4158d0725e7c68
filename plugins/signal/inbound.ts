/** Envelopes of signal-cli as events for the host. */
import type { ChannelInboundEvent } from "openclaw/plugin-sdk";
import { defined, type Fields, fieldsOf, mediaKindOf, recordsOf, rulesOf, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import { layersOf, type SignalAccount } from "./account.ts";
import type { FileRef, Self } from "./api.ts";
import { numberIn, type Target, uuidIn } from "./target.ts";

export interface MappingDeps {
  readonly account: SignalAccount;
  readonly self: Self;
  /** When listening began. */
  readonly openedAt: number;
}

interface Person {
  /** `+49170…`, or `uuid:<id>` where the number is not known. */
  readonly id: string;
  readonly number: string | undefined;
  readonly uuid: string | undefined;
}

interface Facts extends MappingDeps {
  readonly sender: Person;
  readonly name: string | undefined;
  readonly data: Fields;
  readonly timestamp: number;
  readonly receivedAt: number;
}

/** Where a mention stands in a text. */
const PLACEHOLDER = "\uFFFC";
/** What is older than the connection by this much waited on the platform. */
const BACKLOG_MS = 5000;

const personOf = (number: unknown, uuid: unknown, either?: unknown): Person | undefined => {
  const text = textOf(either) ?? "";
  const found = { number: numberIn(textOf(number) ?? (text.startsWith("+") ? text : "")), uuid: uuidIn(textOf(uuid) ?? text) };
  const id = found.number ?? (found.uuid === undefined ? undefined : `uuid:${found.uuid}`);
  return id === undefined ? undefined : { id, ...found };
};

const isSame = (person: Person | undefined, self: Self): boolean =>
  person !== undefined && ((person.number !== undefined && person.number === self.number) || (person.uuid !== undefined && person.uuid === self.uuid));

/** Whether a person stands in a list, by any of their ids. */
const isListed = ({ id, uuid }: Person, list: readonly string[]): boolean =>
  list.some((entry) => entry === "*" || entry === id || entry === `uuid:${uuid ?? ""}`);

/** What the daemon or the container brought: bare, as a notification, or wrapped for a subscription. */
function envelopeIn(message: unknown): { readonly envelope: Fields; readonly account: string | undefined } | undefined {
  const outer = fieldsOf(message) ?? {};
  const params = fieldsOf(outer["params"]) ?? outer;
  const result = fieldsOf(params["result"]) ?? params;
  const envelope = fieldsOf(result["envelope"]);
  return envelope && { envelope, account: textOf(result["account"]) };
}

const groupIdOf = (data: Fields): string | undefined => textOf(fieldsOf(data["groupInfo"])?.["groupId"]);

/** The chat, and where an answer goes. */
function chatOf({ data, sender }: Facts): Pick<ChannelInboundEvent, "chat" | "to" | "context"> {
  const groupId = groupIdOf(data);
  if (groupId === undefined) return { chat: { type: "direct", id: sender.id }, to: sender.id, context: { To: sender.id } };
  const title = textOf(fieldsOf(data["groupInfo"])?.["groupName"]);
  const to = `group:${groupId}`;
  return { chat: { type: "group", id: groupId, ...(title === undefined ? {} : { title }) }, to, context: { To: to } };
}

/** Times name messages. In a group two people may write at the same one. */
const idOf = ({ data, sender }: Facts, timestamp: number): string => (groupIdOf(data) === undefined ? String(timestamp) : `${timestamp}:${sender.id}`);

function senderOf({ sender, name }: Facts): ChannelInboundEvent["sender"] {
  const { id, number, uuid } = sender;
  return defined({ id, name, e164: number, otherIds: number !== undefined && uuid !== undefined ? [`uuid:${uuid}`] : undefined });
}

interface Mentioned {
  readonly person: Person | undefined;
  readonly start: number;
  readonly length: number;
}

const mentionsIn = (data: Fields): Mentioned[] =>
  recordsOf(data["mentions"]).flatMap((raw) => {
    const [start, length] = [wholeOf(raw["start"]), wholeOf(raw["length"])];
    return start === undefined || length === undefined ? [] : { person: personOf(raw["number"], raw["uuid"]), start, length };
  });

/** The text with the people who are mentioned in it, by id: names can be chosen. */
function textWith(data: Fields, mentions: readonly Mentioned[]): string {
  const raw = textOf(data["message"]) ?? "";
  return mentions
    .filter(({ start, length }) => start >= 0 && length > 0 && raw.slice(start, start + length) === PLACEHOLDER.repeat(length))
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, length, person }) => `${text.slice(0, start)}@${person?.id ?? "unknown"}${text.slice(start + length)}`, raw);
}

function mediaOf({ data, account, sender }: Facts): ChannelInboundEvent["media"] {
  if (account.ignoreAttachments) return undefined;
  const groupId = groupIdOf(data);
  const target: Target = groupId === undefined ? { kind: "person", id: sender.number ?? sender.uuid ?? "" } : { kind: "group", id: groupId };
  return recordsOf(data["attachments"]).flatMap((raw) => {
    const [id, mimeType] = [textOf(raw["id"]), textOf(raw["contentType"])];
    if (id === undefined) return [];
    const ref: FileRef = { id, target };
    const kind = mimeType === undefined ? ("attachment" as const) : mediaKindOf(mimeType);
    return [defined({ kind, ref, mimeType, fileName: textOf(raw["filename"]), bytes: wholeOf(raw["size"]) })];
  });
}

function quoteOf(data: Fields): ChannelInboundEvent["replyTo"] {
  const quote = fieldsOf(data["quote"]);
  const id = wholeOf(quote?.["id"]);
  if (!quote || id === undefined) return undefined;
  return defined({
    id: String(id),
    body: textOf(quote["text"]),
    sender: personOf(quote["authorNumber"], quote["authorUuid"], quote["author"])?.id,
    isQuote: true,
  });
}

function messageEvent(facts: Facts): ChannelInboundEvent | undefined {
  const { account, self, data, timestamp, receivedAt, openedAt } = facts;
  if (account.ignoreStories && fieldsOf(data["storyContext"])) return undefined;
  const mentions = mentionsIn(data);
  const media = mediaOf(facts);
  const text = textWith(data, mentions) || (fieldsOf(data["sticker"]) ? "<media:sticker>" : "");
  if (text === "" && !media?.length) return undefined;
  const ref = chatOf(facts);
  const rules = ref.chat.type === "group" ? rulesOf(layersOf(account, ref.chat.id)) : undefined;
  return defined({
    kind: "message" as const,
    id: idOf(facts, timestamp),
    ...ref,
    sender: senderOf(facts),
    text,
    at: timestamp,
    mention: { mentioned: mentions.some(({ person }) => isSame(person, self)), others: mentions.some(({ person }) => !isSame(person, self)) },
    media: media?.length ? media : undefined,
    replyTo: quoteOf(data),
    groupSystemPrompt: rules?.systemPrompt,
    skillFilter: rules?.skills,
    backlog: receivedAt < openedAt - BACKLOG_MS || undefined,
    context: { ...ref.context, MessageSid: String(timestamp) },
  });
}

function editEvent(facts: Facts, target: number): ChannelInboundEvent | undefined {
  const event = messageEvent(facts);
  if (!event || event.text === "") return undefined;
  const { media: _media, backlog: _backlog, ...rest } = event;
  return { ...rest, kind: "edit", id: `${idOf(facts, target)}:edit:${facts.timestamp}`, context: { ...event.context, MessageSid: String(target) } };
}

function isReported({ account, self, sender }: Facts, author: Person | undefined): boolean {
  const { reactionNotices, reactionAllowlist } = account;
  if (reactionNotices === "own") return isSame(author, self);
  return reactionNotices === "all" || (reactionNotices === "allowlist" && isListed(sender, reactionAllowlist));
}

function reactionEvent(facts: Facts, reaction: Fields): ChannelInboundEvent | undefined {
  const { sender, name, timestamp } = facts;
  const [emoji, target] = [textOf(reaction["emoji"]), wholeOf(reaction["targetSentTimestamp"])];
  const author = personOf(reaction["targetAuthorNumber"], reaction["targetAuthorUuid"], reaction["targetAuthor"]);
  if (emoji === undefined || target === undefined || !isReported(facts, author)) return undefined;
  const ref = chatOf(facts);
  const deed = reaction["isRemove"] === true ? "took back" : "added";
  return {
    kind: "reaction",
    id: `${target}:reaction:${sender.id}:${timestamp}`,
    ...ref,
    sender: senderOf(facts),
    text: `Signal reaction: ${name ?? sender.id} ${deed} ${emoji} on message ${target}`,
    at: timestamp,
    context: { ...ref.context, ReplyToId: String(target) },
  };
}

/** Something that only the session's next turn is notified of. */
function noticeEvent(facts: Facts, what: string, id: string): ChannelInboundEvent {
  const { sender, name, timestamp } = facts;
  return { kind: "notice", id, ...chatOf(facts), sender: senderOf(facts), text: `Signal: ${name ?? sender.id} ${what}`, at: timestamp };
}

function dataEvent(facts: Facts): ChannelInboundEvent | undefined {
  const { data, sender, timestamp } = facts;
  const reaction = fieldsOf(data["reaction"]);
  if (reaction) return reactionEvent(facts, reaction);
  const deleted = wholeOf(fieldsOf(data["remoteDelete"])?.["timestamp"]);
  if (deleted !== undefined) return noticeEvent(facts, `deleted message ${deleted}`, `${deleted}:deleted:${sender.id}`);
  const event = messageEvent(facts);
  if (event || fieldsOf(data["groupInfo"])?.["type"] !== "UPDATE") return event;
  return noticeEvent(facts, "changed the group", `${timestamp}:group:${sender.id}`);
}

/** The event that a message of the daemon stands for. Undefined: nothing for the host, such as a receipt, or something of our own. */
export function eventOf(message: unknown, deps: MappingDeps): ChannelInboundEvent | undefined {
  const found = envelopeIn(message);
  if (!found) return undefined;
  const { envelope, account } = found;
  // A daemon may have several accounts.
  if (account?.startsWith("+") && deps.self.number !== undefined && account !== deps.self.number) return undefined;
  const sender = personOf(envelope["sourceNumber"], envelope["sourceUuid"], envelope["source"]);
  const edit = fieldsOf(envelope["editMessage"]);
  const data = fieldsOf(edit ? edit["dataMessage"] : envelope["dataMessage"]);
  const timestamp = wholeOf(data?.["timestamp"]) ?? wholeOf(envelope["timestamp"]);
  if (!sender || !data || timestamp === undefined || timestamp <= 0 || isSame(sender, deps.self)) return undefined;
  const receivedAt = wholeOf(envelope["serverReceivedTimestamp"]) ?? timestamp;
  const facts: Facts = { ...deps, sender, name: textOf(envelope["sourceName"]), data, timestamp, receivedAt };
  if (!edit) return dataEvent(facts);
  const target = wholeOf(edit["targetSentTimestamp"]);
  return target === undefined ? undefined : editEvent(facts, target);
}
