/** Questions for tests of the gate. */
import type { ChannelInboundEvent, ChannelInboundKind, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { AccessQuestion } from "./verdict.ts";

export const KINDS = ["message", "command", "button", "edit", "reaction", "member", "notice"] as const satisfies readonly ChannelInboundKind[];

/** A channel that spells ids like Telegram: numbers, with or without `tg:`; names are left out. */
export const numericChannel = {
  id: "telegram",
  config: {
    formatAllowFrom: ({ allowFrom }: { allowFrom: (string | number)[] }) =>
      allowFrom.map((entry) => String(entry).replace(/^(?:telegram|tg):/i, "")).filter((entry) => /^-?\d+$/.test(entry)),
  },
} as unknown as ChannelPlugin;

type Told = { readonly sender?: Partial<ChannelInboundEvent["sender"]>; readonly chat?: Partial<ChannelInboundEvent["chat"]> } & Partial<
  Omit<ChannelInboundEvent, "sender" | "chat">
>;

export function told({ sender, chat, ...rest }: Told = {}): ChannelInboundEvent {
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

export const inGroup = (event: Told = {}): ChannelInboundEvent => told({ ...event, chat: { type: "group", id: "-100", ...event.chat } });

export function asked(
  channels: Record<string, unknown>,
  event: ChannelInboundEvent,
  more: Partial<AccessQuestion> & { commands?: object } = {},
): AccessQuestion {
  const { commands, ...rest } = more;
  const cfg = { channels, ...(commands ? { commands } : {}) } as HostConfig;
  return { cfg, plugin: numericChannel, channel: "telegram", accountId: "default", event, approved: new Set(), ...rest };
}
