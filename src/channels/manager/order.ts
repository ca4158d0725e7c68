import type { ChannelPlugin } from "../../protocol/index.ts";

/** Channels that say nothing about their place stand in this order, before those that are not here. */
const KNOWN: readonly string[] = ["telegram", "whatsapp", "discord", "irc", "googlechat", "slack", "signal", "imessage"];
const LAST = 999;

function placeOf({ id, meta }: ChannelPlugin): number {
  const known = KNOWN.indexOf(id);
  return meta?.order ?? (known < 0 ? LAST : known);
}

/** As lists show them. */
export function inOrder(plugins: readonly ChannelPlugin[]): ChannelPlugin[] {
  return plugins.toSorted((a, b) => placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1));
}

export const labelOf = ({ id, meta }: ChannelPlugin): string => meta?.label ?? id;
