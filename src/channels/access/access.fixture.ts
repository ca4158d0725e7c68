/** Fixtures for tests of the access rules. */
import type { ChannelInboundEvent, ChannelInboundKind, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { AccessRequest } from "./decision.ts";

export const KINDS = ["message", "command", "button", "edit", "reaction", "member", "notice"] as const satisfies readonly ChannelInboundKind[];

/** A channel that normalizes ids like Telegram: numbers, with or without `tg:`; names are dropped. */
export const numericChannel = {
  id: "telegram",
  config: {
    formatAllowFrom: ({ allowFrom }: { allowFrom: (string | number)[] }) =>
      allowFrom.map((entry) => String(entry).replace(/^(?:telegram|tg):/i, "")).filter((entry) => /^-?\d+$/.test(entry)),
  },
} as unknown as ChannelPlugin;

type EventFields = { readonly sender?: Partial<ChannelInboundEvent["sender"]>; readonly chat?: Partial<ChannelInboundEvent["chat"]> } & Partial<
  Omit<ChannelInboundEvent, "sender" | "chat">
>;

export function inboundEvent({ sender, chat, ...rest }: EventFields = {}): ChannelInboundEvent {
  return {
    kind: "message",
    id: "m1",
    text: "hello",
    to: "7",
    ...rest,
    sender: { id: "7", ...sender },
    chat: { type: "direct", id: "7", ...chat },
  };
}

export const inGroup = (event: EventFields = {}): ChannelInboundEvent => inboundEvent({ ...event, chat: { type: "group", id: "-100", ...event.chat } });

export function accessRequest(
  channels: Record<string, unknown>,
  event: ChannelInboundEvent,
  more: Partial<AccessRequest> & { commands?: object } = {},
): AccessRequest {
  const { commands, ...rest } = more;
  const cfg = { channels, ...(commands ? { commands } : {}) } as HostConfig;
  return { cfg, plugin: numericChannel, channel: "telegram", accountId: "default", event, approved: new Set(), ...rest };
}
