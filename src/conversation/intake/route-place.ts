import type { ChannelInboundEvent } from "../../protocol/index.ts";
import type { RouteLocation } from "../../routing/index.ts";

/** Where an event happened, as bindings are compared with it. A direct chat is whom it is with. */
export function routePlace(channel: string, accountId: string, { chat, sender }: ChannelInboundEvent): RouteLocation {
  const { type, id, threadId, parentId, guildId, teamId } = chat;
  return {
    channel,
    accountId,
    peer: { kind: type, id: type === "direct" ? sender.id : id },
    ...(threadId === undefined ? {} : { threadId }),
    ...(parentId === undefined ? {} : { parentPeer: { kind: type, id: parentId } }),
    ...(guildId === undefined ? {} : { guildId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(sender.roles === undefined ? {} : { roles: sender.roles }),
  };
}

/** A chat, or a thread of it, as the inbox tells them apart. */
export function conversationOf({ chat }: ChannelInboundEvent): string {
  return chat.threadId === undefined ? chat.id : `${chat.id}:thread:${chat.threadId}`;
}
