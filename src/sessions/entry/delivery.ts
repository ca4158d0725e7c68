import type { MsgContext, SessionEntry } from "../../protocol/index.ts";
import { isRecord } from "../../base/records.ts";
import { printableName } from "../../base/printable.ts";

/** Where answers of a session go. */
export interface DeliveryContext {
  readonly channel?: string;
  readonly to?: string;
  readonly accountId?: string;
  readonly threadId?: string | number;
}

/** Where a session came from, for people. */
export interface Origin extends Omit<DeliveryContext, "channel"> {
  readonly label?: string;
  readonly provider?: string;
  readonly surface?: string;
  readonly chatType?: string;
  readonly from?: string;
}

type Fields = Readonly<Record<string, unknown>>;

const filled = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);
const thread = (value: unknown): string | number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : filled(value));

/** The fields that have a value. The one assertion: a copy of them has its type. */
function present<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  const copy: { [K in keyof T]?: T[K] | undefined } = { ...fields };
  for (const name in copy) if (copy[name] === undefined) delete copy[name];
  return copy as T;
}

/** Where answers go: `deliveryContext`, and for older entries the `last…` fields. Those of another channel do not mix in. */
export function deliveryOf(entry: SessionEntry | undefined): DeliveryContext | undefined {
  const written = entry?.["deliveryContext"];
  const own: Fields = isRecord(written) ? written : {};
  const channel = filled(own["channel"]) ?? filled(entry?.lastChannel);
  if (channel === undefined) return undefined;
  const same = filled(entry?.lastChannel) === channel;
  const last = (field: string): unknown => (same ? entry?.[field] : undefined);
  return present<DeliveryContext>({
    channel,
    to: filled(own["to"]) ?? filled(last("lastTo")),
    accountId: filled(own["accountId"]) ?? filled(last("lastAccountId")),
    threadId: thread(own["threadId"]) ?? thread(last("lastThreadId")),
  });
}

/** Fields of the entry after a message came by this route; null takes one away. Without a channel nothing changes. */
export function deliveryPatch(route: DeliveryContext): Fields {
  const { channel, to, accountId, threadId } = route;
  if (filled(channel) === undefined) return {};
  const context = present<DeliveryContext>({ channel: filled(channel), to: filled(to), accountId: filled(accountId), threadId: thread(threadId) });
  return {
    deliveryContext: context,
    lastChannel: context.channel,
    lastTo: context.to ?? null,
    lastAccountId: context.accountId ?? null,
    lastThreadId: context.threadId ?? null,
  };
}

const chatTypeOf = (value: unknown): string | undefined => {
  const type = filled(value)?.toLowerCase();
  return type === "dm" ? "direct" : type === "room" ? "channel" : type;
};

/** A name for the chat: its own, else the group's, else who writes. */
function labelOf(context: MsgContext): string | undefined {
  const { ConversationLabel, GroupSubject, GroupChannel, GroupSpace, SenderName, From } = context;
  const named = filled(ConversationLabel);
  if (named !== undefined) return named;
  const group = filled(GroupChannel) ?? filled(GroupSubject);
  const space = filled(GroupSpace);
  if (group !== undefined) return space === undefined ? group : `${space} ${group}`;
  return filled(SenderName) ?? filled(From);
}

/** What an inbound message says about its session's origin. What it does not mention stays as it was. */
export function originOf(context: MsgContext, before?: unknown): Origin {
  const reported = present<Origin>({
    label: labelOf(context),
    provider: filled(context.OriginatingChannel)?.toLowerCase() ?? filled(context.Provider)?.toLowerCase(),
    surface: filled(context.Surface)?.toLowerCase(),
    chatType: chatTypeOf(context.ChatType),
    from: filled(context.From),
    to: filled(context.OriginatingTo) ?? filled(context.To),
    accountId: filled(context.AccountId),
    threadId: thread(context.MessageThreadId),
  });
  return isRecord(before) ? { ...before, ...reported } : reported;
}

/** Everything an inbound message says about its chat, as fields of the session's entry. */
export function chatFields(context: MsgContext, entry: SessionEntry | undefined): Fields {
  const chatType = chatTypeOf(context.ChatType);
  const origin = originOf(context, entry?.["origin"]);
  const chat = { origin: Object.keys(origin).length === 0 ? undefined : origin, chatType, channel: origin.provider };
  if (chatType !== "group" && chatType !== "channel") return present<Record<string, unknown>>(chat);
  const name = (value: unknown): string | undefined => (typeof value === "string" ? printableName(value) || undefined : undefined);
  const subject = name(context.GroupSubject);
  const groupChannel = name(context.GroupChannel);
  return present<Record<string, unknown>>({
    ...chat,
    subject,
    groupChannel,
    space: name(context.GroupSpace),
    groupId: origin.to ?? origin.from,
    displayName: groupChannel ?? subject ?? name(context.ConversationLabel),
  });
}
