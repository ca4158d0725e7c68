import type { HookLogEntry } from "../../hooks/index.ts";
import type { ChannelInboundEvent, MsgContext } from "../../protocol/index.ts";
import type { InboxRow } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { Decided } from "./decided.ts";

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

/** What an inbox row of a channel keeps besides its text. All that happens later follows from it. */
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
  /** Once it has ended before a turn: what plugins said about it. */
  readonly hooks?: readonly HookLogEntry[];
}

/** A row of a channel, read. */
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
  /** The turn that a process before this one began with it. */
  readonly turnId?: string;
  /** Of a client's message: the run that it asked for. */
  readonly runId?: string;
}

/** Undefined for rows that did not come over a channel. */
export function inboundOf(row: InboxRow): Inbound | undefined {
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
    ...(row.turnId === null ? {} : { turnId: row.turnId }),
  };
}

/** The same message or not, whoever asks: what two rows of one chat share. */
export const chatOf = ({ channel, accountId, conversation }: Pick<Inbound, "channel" | "accountId" | "conversation">): string =>
  `${channel}\0${accountId}\0${conversation}`;

/** A message that took longer than this from its sender to us waited somewhere. */
const LATE_MS = 30_000;

/** Whether a message belongs to a back-log: it waited on the platform, as after an outage. */
export function isLate({ at, backlog }: Pick<ChannelInboundEvent, "at" | "backlog">, receivedAt: number): boolean {
  return backlog === true || (at !== undefined && receivedAt - at > LATE_MS);
}
