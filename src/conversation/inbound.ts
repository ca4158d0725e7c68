/** Messages as the inbox stores them. */
import { traceIdOf, type HookLogEntry } from "../hooks/index.ts";
import type { ChannelInboundEvent, MsgContext, ThinkingLevel } from "../protocol/index.ts";
import type { InboxRow } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";
import type { TurnHints } from "./commands/commands.ts";
import type { RunRequest } from "./contract.ts";

/** What the gate found out about a message. */
export interface InboundAccess {
  readonly owner: boolean;
  readonly commandAuthorized: boolean;
  readonly wasMentioned: boolean;
  /** The chat answers only when we are spoken to. */
  readonly requireMention?: boolean;
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
  /** Of a client's message: the run that it asked for. */
  readonly request?: ClientRequest;
}

/** Messages that are treated as one. */
export type Group = readonly [Inbound, ...Inbound[]];

/** Run ids are one name space over all clients and sessions, so a repeated one is always found. */
export const RUNS = { channel: "gateway", account: "runs", conversation: "runs" } as const;

/** The run that a row stands for; undefined for one that is no client's. */
export function requestOf(row: InboxRow): ClientRequest | undefined {
  if (row.channel !== RUNS.channel || row.account !== RUNS.account || row.sessionKey === null) return undefined;
  const stored = (row.payload ?? { channel: "webchat" }) as StoredRequest;
  return { ...stored, inboxId: row.id, runId: row.messageId, sessionKey: row.sessionKey, agentId: row.agentId!, message: row.text };
}

/** Undefined for rows that are neither a channel's nor a client's. */
export function inboundOf(row: InboxRow): Inbound | undefined {
  const turn = row.turnId === null ? {} : { turnId: row.turnId };
  const request = requestOf(row);
  if (request) return { ...clientMessage(request, row.receivedAt), ...turn };
  const record = row.payload as InboundRecord | null;
  if (record?.kind !== "channel" || row.sessionKey === null || row.agentId === null) return undefined;
  return {
    ...record,
    id: row.id,
    channel: row.channel,
    accountId: row.account,
    conversation: row.conversation,
    messageId: row.messageId,
    text: row.text,
    sessionKey: row.sessionKey,
    agentId: row.agentId,
    receivedAt: row.receivedAt,
    ...turn,
  };
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

/** The trace that everything about a message and its answer belongs to. */
export const traceOf = ({ channel, accountId, address, event }: Pick<Inbound, "channel" | "accountId" | "address" | "event">): string =>
  traceIdOf(channel, accountId, address.to, event.id);

/** What two messages of one chat share. */
export const chatOf = ({ channel, accountId, conversation }: Pick<Inbound, "channel" | "accountId" | "conversation">): string =>
  `${channel}\0${accountId}\0${conversation}`;

/** A message that took longer than this from its sender to us waited somewhere. */
const LATE_MS = 30_000;

/** Whether a message belongs to a back-log: it waited on the platform, as after an outage. */
export function isLate({ at, backlog }: Pick<ChannelInboundEvent, "at" | "backlog">, receivedAt: number): boolean {
  return backlog === true || (at !== undefined && receivedAt - at > LATE_MS);
}
