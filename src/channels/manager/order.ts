import type { ChannelPlugin } from "../../protocol/index.ts";

/** Default order of channels that declare none, before unknown ones. */
const KNOWN: readonly string[] = ["telegram", "whatsapp", "discord", "irc", "googlechat", "slack", "signal", "imessage"];
const LAST = 999;

function positionOf({ id, meta }: ChannelPlugin): number {
  const known = KNOWN.indexOf(id);
  return meta?.order ?? (known < 0 ? LAST : known);
}

/** In display order. */
export function inOrder(plugins: readonly ChannelPlugin[]): ChannelPlugin[] {
  return plugins.toSorted((a, b) => positionOf(a) - positionOf(b) || (a.id < b.id ? -1 : 1));
}

export const labelOf = ({ id, meta }: ChannelPlugin): string => meta?.label ?? id;
