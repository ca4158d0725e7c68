import type { AccessGranted } from "../../channels/index.ts";
import type { ChannelInboundEvent } from "../../protocol/index.ts";
import type { Route } from "../../routing/index.ts";
import type { InboxInput } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import { inboundOf, type Inbound, type InboundAccess, type InboundRecord } from "../inbound.ts";

/** An event with the account that it came over. */
export interface Offered {
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
}

/** The place of the configuration that decided, where one did. */
export const pathOf = ({ path }: { readonly path?: string }): { readonly path?: string } => (path === undefined ? {} : { path });

/** What is stored of the gate's verdict. */
export function accessOf(verdict: AccessGranted): InboundAccess {
  const { owner, commandAuthorized, wasMentioned, requireMention, why } = verdict;
  return { owner, commandAuthorized, wasMentioned, requireMention, why, ...pathOf(verdict) };
}

/** Of a stranger's message nothing is stored but that it came, from whom and where. */
export function withoutContent({ channel, accountId, event }: Offered): Offered {
  const { kind, id, chat, sender, to, at } = event;
  const place = { type: chat.type, id: chat.id, ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }) };
  return { channel, accountId, event: { kind, id, chat: place, sender: { id: sender.id }, to, text: "", ...(at === undefined ? {} : { at }) } };
}

const EMPTY_ROW = { state: "pending", outcome: null, why: null, turnId: null, claimedAt: null, settledAt: null } as const;

/** The input that a row which was just written stands for. */
export function acceptedInput(row: InboxInput, id: number, receivedAt: number): Inbound {
  return inboundOf({ ...EMPTY_ROW, ...row, id, receivedAt } as never)!;
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

/** A chat, or a thread of it, as the inbox tells them apart. */
function conversationOf({ chat }: ChannelInboundEvent): string {
  return chat.threadId === undefined ? chat.id : `${chat.id}:thread:${chat.threadId}`;
}

/** An event as the inbox stores it. */
export function rowOf(
  offered: Offered,
  route: Pick<Route, "sessionKey" | "agentId" | "matchedBy" | "binding">,
  more: Pick<InboxInput, "settled"> & Partial<Pick<InboundRecord, "access" | "context">>,
): InboxInput {
  const { channel, accountId, event } = offered;
  const { text, ...rest } = event;
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
    conversation: conversationOf(event),
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
