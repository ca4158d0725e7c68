import { queueSettings } from "../../sessions/index.ts";
import type { InboxRow } from "../../store/index.ts";
import { inboundOf, type Inbound } from "../intake/inbound-record.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ConversationDeps } from "../ports.ts";

/** Messages of a channel that were in a turn come back as that turn; the others are looked at anew. */
export function resumedChannels(
  rows: readonly InboxRow[],
  { config }: ConversationDeps,
): { readonly items: readonly ChannelItem[]; readonly fresh: readonly Inbound[] } {
  const inbounds = rows.flatMap((row) => inboundOf(row) ?? []);
  const claimed = inbounds.filter(({ turnId }) => turnId !== undefined);
  const items = [...Map.groupBy(claimed, ({ turnId }) => turnId!)].map(([resumedTurn, group]): ChannelItem => {
    const messages = group as [Inbound, ...Inbound[]];
    const { sessionKey, agentId, channel } = messages.at(-1)!;
    const text = messages.map((message) => message.text).join("\n");
    return { kind: "channel", sessionKey, agentId, messages, text, queue: queueSettings(config.current, undefined, channel), resumedTurn };
  });
  return { items, fresh: inbounds.filter(({ turnId }) => turnId === undefined) };
}
