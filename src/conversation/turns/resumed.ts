import { queueSettings } from "../../sessions/index.ts";
import type { InboxRow } from "../../store/index.ts";
import { inboundOf, type Inbound } from "../intake/inbound-record.ts";
import type { Group } from "../intake/joined.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ConversationDeps } from "../ports.ts";
import { wasPrompted } from "./run-log.ts";

/** Messages of channels that the previous process did not finish. */
export interface ResumedChannels {
  /** They were in a turn and come back as that turn. */
  readonly items: readonly ChannelItem[];
  /** Their turn had no prompt yet: what commands and plugins make of their text is not stored anywhere, so both are asked again. */
  readonly unprompted: readonly { readonly messages: Group; readonly turnId: string }[];
  /** They were in no turn: they are looked at again. */
  readonly fresh: readonly Inbound[];
}

export async function resumedChannels(rows: readonly InboxRow[], deps: ConversationDeps): Promise<ResumedChannels> {
  const inbounds = rows.flatMap((row) => inboundOf(row) ?? []);
  const claimed = inbounds.filter(({ turnId }) => turnId !== undefined);
  const items: ChannelItem[] = [];
  const unprompted: { messages: Group; turnId: string }[] = [];
  for (const [resumedTurn, group] of Map.groupBy(claimed, ({ turnId }) => turnId!)) {
    const messages = group as [Inbound, ...Inbound[]];
    const { sessionKey, agentId, channel } = messages.at(-1)!;
    const text = messages.map((message) => message.text).join("\n");
    if (!(await wasPrompted(deps, resumedTurn))) unprompted.push({ messages, turnId: resumedTurn });
    else items.push({ kind: "channel", sessionKey, agentId, messages, text, queue: queueSettings(deps.config.current, undefined, channel), resumedTurn });
  }
  return { items, unprompted, fresh: inbounds.filter(({ turnId }) => turnId === undefined) };
}
