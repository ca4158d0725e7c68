import type { ChannelPlugin } from "../../protocol/index.ts";
import type { LiveReply } from "./live-replies.ts";

/** The channel as it shows a turn whose replies somebody else takes: that one shows that an answer is being written, and previews it if it wants to. */
export function livePlugin({ typing }: LiveReply, id: string, plugin: ChannelPlugin | undefined): ChannelPlugin {
  const known = plugin ?? ({ id, capabilities: { chatTypes: ["direct", "group"] } } as unknown as ChannelPlugin);
  return { ...known, typing: typing && { start: typing }, preview: undefined };
}
