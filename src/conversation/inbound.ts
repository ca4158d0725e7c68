/** Messages as the inbox stores them: the bounds of an event, its row, and the message that a row stands for. */
import { AppError } from "../base/errors.ts";
import { printableName } from "../base/printable.ts";
import { isRecord } from "../base/records.ts";
import { traceIdOf, type HookLogEntry } from "../hooks/index.ts";
import type { ChannelInboundEvent, MsgContext, ThinkingLevel } from "../protocol/index.ts";
import type { Route } from "../routing/index.ts";
import type { InboxRow, InboxInput, Store } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";
import type { TurnHints } from "./commands/commands.ts";
import type { RunRequest } from "./contract.ts";
import type { Live } from "./turns/live-replies.ts";

/** What the gate found out about a message. */
interface InboundAccess {
  readonly owner: boolean;
  readonly commandAuthorized: boolean;
  readonly wasMentioned: boolean;
  /** The chat answers only when we are spoken to. */
  readonly requireMention?: boolean;
  /** A recording in a chat that wants to be spoken to: it starts a turn only if the words in it name us. */
  readonly unlessUnnamed?: true;
  /** For `why`. */
  readonly why: string;
  /** The key of the configuration that decided. */
  readonly path?: string;
}

/** What commands and plugins made of messages before they went to a lane. A process that finds it asks neither again. */
export interface Decided {
  /** The last message of those that were taken together. Only its own record has the rest. */
  readonly last: number;
  /** The text for the model; undefined where it is the message's own. */
  readonly text?: string;
  /** The text is the transcript of a recording. */
  readonly spoken?: true;
  readonly thinking?: ThinkingLevel;
  readonly hints?: TurnHints;
  /** What plugins answered, for `why`. */
  readonly hooks?: readonly HookLogEntry[];
  /** A reaction was set that goes when the answer is there. */
  readonly ack?: true;
}

/** What the inbox row of a channel's message stores besides its text. */
export interface InboundRecord {
  readonly kind: "channel";
  /** Without its text, which is the row's. */
  readonly event: Omit<ChannelInboundEvent, "text">;
  readonly access: InboundAccess;
  readonly address: ReplyAddress;
  /** What decided who answers. */
  readonly route: { readonly matchedBy: string; readonly path?: string };
  /** Of a plugin that reads messages by itself: the context as it gave it. */
  readonly context?: MsgContext;
  /** Once commands and plugins have decided about it. */
  readonly decided?: Decided;
  /** Once it has ended before a turn: what plugins answered about it. */
  readonly hooks?: readonly HookLogEntry[];
}

/** What the inbox row of a client's run stores besides its text. */
export type StoredRequest = Omit<RunRequest, "runId" | "sessionKey" | "message"> & Pick<InboundRecord, "decided">;

/** A run that a client asked for, on disk. */
export interface ClientRequest extends StoredRequest {
  readonly inboxId: number;
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly message: string;
}

/** A message, read from its row. One of a client has the same form as one of a channel. */
export interface Inbound extends InboundRecord {
  readonly id: number;
  readonly channel: string;
  readonly accountId: string;
  readonly conversation: string;
  readonly messageId: string;
  readonly text: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly receivedAt: number;
  /** The turn that a previous process began with it. */
  readonly turnId?: string;
  /** The trace that everything about the message and its answer belongs to. */
  readonly traceId: string;
  /** Of a client's message: the run that it asked for. */
  readonly request?: ClientRequest;
  /** The plugin that takes the replies itself, while it waits for them. */
  readonly live?: Live | undefined;
}

/** Messages that are treated as one. */
export type Group = readonly [Inbound, ...Inbound[]];

/** Run ids are one name space over all clients and sessions, so a repeated one is always found. */
export const RUNS = { channel: "gateway", account: "runs", conversation: "runs" } as const;

/** The scope of records of exchanges between sessions. */
export const EXCHANGES = "session-exchange";

/** The run that a row stands for; undefined for one that is no client's. */
export function requestOf(row: InboxRow): ClientRequest | undefined {
  const { sessionKey, agentId } = row;
  if (row.channel !== RUNS.channel || row.account !== RUNS.account || sessionKey === null || agentId === null) return undefined;
  const stored = (row.payload ?? { channel: "webchat" }) as StoredRequest;
  return { ...stored, inboxId: row.id, runId: row.messageId, sessionKey, agentId, message: row.text };
}

/** What a run was accepted with, and when; undefined when none of that id is known. */
export async function acceptedRequest(store: Pick<Store, "read">, runId: string): Promise<(ClientRequest & { readonly acceptedAt: number }) | undefined> {
  const [row] = await store.read("inbox.find", { messageId: runId, ...RUNS });
  const request = row && requestOf(row);
  return request && { ...request, acceptedAt: row.receivedAt };
}

const isChannelRecord = (value: unknown): value is InboundRecord => isRecord(value) && value["kind"] === "channel";

/** A channel's message, as its row has it. */
export function channelMessage(
  { payload, account: accountId, channel, conversation, messageId, text, sessionKey, agentId }: MessageRow,
  id: number,
  receivedAt: number,
): Inbound {
  const traceId = traceIdOf(channel, accountId, payload.address.to, payload.event.id);
  return { ...payload, id, channel, accountId, conversation, messageId, text, sessionKey, agentId, receivedAt, traceId };
}

/** Undefined for rows that are neither a channel's nor a client's. */
export function inboundOf(row: InboxRow): Inbound | undefined {
  const turn = row.turnId === null ? {} : { turnId: row.turnId };
  const request = requestOf(row);
  if (request) return { ...clientMessage(request, row.receivedAt), ...turn };
  const { payload, sessionKey, agentId } = row;
  if (!isChannelRecord(payload) || sessionKey === null || agentId === null) return undefined;
  return { ...channelMessage({ ...row, payload, sessionKey, agentId }, row.id, row.receivedAt), ...turn };
}

/** Who writes over the gateway itself, where nothing else is known. */
const OPERATOR = "operator";

export const isOperator = (scopes: readonly string[] = []): boolean => scopes.includes("operator.write") || scopes.includes("operator.admin");

/** A client's message in the form that messages of channels have: its session is the conversation. */
export function clientMessage(request: ClientRequest, receivedAt: number): Inbound {
  const { runId, inboxId, sessionKey, agentId, message, channel, accountId = "default", senderId = OPERATOR, images = [], files = [] } = request;
  const media = [
    ...images.map(({ mimeType }) => ({ kind: "image" as const, mimeType, ref: undefined })),
    ...files.map(({ path, mimeType }) => ({ kind: "document" as const, mimeType, ref: path })),
  ];
  return {
    kind: "channel",
    id: inboxId,
    channel,
    accountId,
    conversation: sessionKey,
    messageId: runId,
    text: message,
    sessionKey,
    agentId,
    receivedAt,
    traceId: traceIdOf(channel, accountId, sessionKey, runId),
    request,
    event: {
      kind: "message",
      id: runId,
      chat: { type: "direct", id: sessionKey },
      sender: { id: senderId },
      to: sessionKey,
      ...(media.length === 0 ? {} : { media }),
    },
    access: { owner: request.owner ?? false, commandAuthorized: isOperator(request.scopes), wasMentioned: true, why: "a client of the gateway" },
    address: { channel, accountId, to: sessionKey, chatType: "direct" },
    route: { matchedBy: "client" },
    ...(request.decided ? { decided: request.decided } : {}),
  };
}

/** What two messages of one chat share. */
export const chatOf = ({ channel, accountId, conversation }: Pick<Inbound, "channel" | "accountId" | "conversation">): string =>
  `${channel}\0${accountId}\0${conversation}`;

/** A message that took longer than this from its sender to us waited somewhere. */
const LATE_MS = 30_000;

/** Whether a message belongs to a back-log: it waited on the platform, as after an outage. */
export function isLate({ at, backlog }: Pick<ChannelInboundEvent, "at" | "backlog">, receivedAt: number): boolean {
  return backlog === true || (at !== undefined && receivedAt - at > LATE_MS);
}

/** An event with the account that it came over. */
export interface Offered {
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
}

/** Of a stranger's message nothing is stored but that it came, from whom and where. */
export function withoutContent({ channel, accountId, event }: Offered): Offered {
  const { kind, id, chat, sender, to, at } = event;
  const bare = { type: chat.type, id: chat.id, ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }) };
  return { channel, accountId, event: { kind, id, chat: bare, sender: { id: sender.id }, to, text: "", ...(at === undefined ? {} : { at }) } };
}

/** Where the answer to an event goes. */
export function addressOf({ channel, accountId, event }: Offered): ReplyAddress {
  const { chat, to, id, kind } = event;
  return {
    channel,
    accountId,
    to,
    chatType: chat.type,
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    ...(kind === "message" ? { replyToId: id } : {}),
  };
}

/** The row of a channel's message. */
type MessageRow = Pick<InboxInput, "channel" | "account" | "conversation" | "messageId" | "text"> & {
  readonly payload: InboundRecord;
  readonly sessionKey: string;
  readonly agentId: string;
};

/** An event as the inbox stores it. */
export function rowOf(
  offered: Offered,
  route: Pick<Route, "sessionKey" | "agentId" | "matchedBy" | "binding">,
  more: Pick<InboxInput, "settled"> & Partial<Pick<InboundRecord, "access" | "context">>,
): MessageRow & InboxInput {
  const { channel, accountId, event } = offered;
  const { text, ...rest } = event;
  const { id: chatId, threadId } = event.chat;
  const access = more.access ?? { owner: false, commandAuthorized: false, wasMentioned: false, why: more.settled?.why ?? "" };
  const record: InboundRecord = {
    kind: "channel",
    event: rest,
    access,
    address: addressOf(offered),
    route: { matchedBy: route.matchedBy, ...(route.binding ? { path: route.binding.path } : {}) },
    ...(more.context ? { context: more.context } : {}),
  };
  return {
    channel,
    account: accountId,
    // A thread is a conversation of its own.
    conversation: threadId === undefined ? chatId : `${chatId}:thread:${threadId}`,
    messageId: event.kind === "message" ? event.id : `${event.kind}:${event.id}`,
    kind: event.kind,
    text,
    payload: record,
    sender: event.sender.id,
    sessionKey: route.sessionKey,
    agentId: route.agentId,
    settled: more.settled,
  };
}

/** Longer texts are cut; the model gets a note. */
const MAX_TEXT = 1_000_000;
const MAX_ID = 512;
const MAX_NAME = 256;
/** Before it is cleaned. */
const MAX_READ = 4096;
const MAX_MEDIA = 32;
const MAX_QUOTE = 20_000;
const MAX_UNTRUSTED = 10;
const CUT = "\n[The message was longer; the rest was cut.]";

const KINDS: ReadonlySet<string> = new Set(["message", "command", "button", "edit", "reaction", "member", "notice"]);
const CHAT_TYPES: ReadonlySet<string> = new Set(["direct", "group", "channel"]);
/** Control characters other than tab and line feed. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

function idOf(name: string, value: unknown): string {
  const id = typeof value === "number" ? String(value) : value;
  if (typeof id === "string" && id.trim() !== "" && id.length <= MAX_ID) return id;
  throw new AppError("INVALID_INPUT", `${name} of an inbound event must be 1 to ${MAX_ID} characters, got ${typeof id === "string" ? id.length : typeof id}`);
}

/** One line of other people's words. */
const lineOf = (value: string | undefined): string | undefined =>
  typeof value === "string" ? printableName(value.slice(0, MAX_READ)).slice(0, MAX_NAME).toWellFormed().trim() || undefined : undefined;

function textOf(value: unknown, most = MAX_TEXT): string {
  if (typeof value !== "string") return "";
  const whole = value.length > most ? `${value.slice(0, most).toWellFormed()}${CUT}` : value.toWellFormed();
  return whole.replaceAll(/\r\n?/g, "\n").replaceAll(CONTROL, "");
}

/** The event with every part inside its bounds. Throws `INVALID_INPUT` for what cannot be a message at all. */
export function boundedEvent(event: ChannelInboundEvent): ChannelInboundEvent {
  if (!KINDS.has(event.kind)) throw new AppError("INVALID_INPUT", `the kind of an inbound event must be one of ${[...KINDS].join(", ")}, got ${event.kind}`);
  if (!CHAT_TYPES.has(event.chat.type)) throw new AppError("INVALID_INPUT", `the type of a chat must be direct, group or channel, got ${event.chat.type}`);
  const { chat, sender, replyTo } = event;
  return {
    ...event,
    id: idOf("the id", event.id),
    to: idOf("the reply address", event.to),
    text: textOf(event.text),
    chat: {
      ...chat,
      id: idOf("the chat", chat.id),
      title: lineOf(chat.title),
      channelName: lineOf(chat.channelName),
      parentName: lineOf(chat.parentName),
      space: lineOf(chat.space),
      guildSlug: lineOf(chat.guildSlug),
    },
    sender: { ...sender, id: idOf("the sender", sender.id), name: lineOf(sender.name), username: lineOf(sender.username), tag: lineOf(sender.tag) },
    media: event.media?.slice(0, MAX_MEDIA),
    untrusted: event.untrusted?.slice(0, MAX_UNTRUSTED).map((text) => textOf(text, MAX_QUOTE)),
    replyTo: replyTo && {
      ...replyTo,
      id: idOf("the answered message", replyTo.id),
      sender: lineOf(replyTo.sender),
      body: replyTo.body === undefined ? undefined : textOf(replyTo.body, MAX_QUOTE),
    },
  };
}
