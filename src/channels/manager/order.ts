import { CHANNELS_LISTED_FIRST } from "../../config/index.ts";
import type { ChannelCapabilities, ChannelPlugin } from "../../protocol/index.ts";

const LAST = 999;

/** What a channel says about its position, else where the catalogue lists it. */
function positionOf({ id, meta }: ChannelPlugin): number {
  const known = CHANNELS_LISTED_FIRST.indexOf(id);
  return meta?.order ?? (known < 0 ? LAST : known);
}

/** In display order. */
export function inOrder(plugins: readonly ChannelPlugin[]): ChannelPlugin[] {
  return plugins.toSorted((a, b) => positionOf(a) - positionOf(b) || (a.id < b.id ? -1 : 1));
}

export const labelOf = ({ id, meta }: ChannelPlugin): string => meta?.label ?? id;

/** Capabilities that an agent can make use of. */
export const AGENT_CAPABILITIES = [
  "polls",
  "reactions",
  "edit",
  "unsend",
  "reply",
  "effects",
  "groupManagement",
  "threads",
  "media",
] as const satisfies (keyof ChannelCapabilities)[];

/** All that a channel can be able to; the last are the gateway's own business. */
export const CAPABILITIES = [...AGENT_CAPABILITIES, "nativeCommands", "blockStreaming"] as const satisfies (keyof ChannelCapabilities)[];
