import { queueSettings } from "../../sessions/index.ts";
import type { InboxRow } from "../../store/index.ts";
import { inboundOf, type Inbound } from "../intake/inbound-record.ts";
import type { Group } from "../intake/joined.ts";
import { seenBefore } from "../intake/seen.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ConversationDeps } from "../ports.ts";
import { wasPrompted } from "./run-log.ts";

/** Messages of channels that the previous process did not finish. */
export interface ResumedChannels {
  /** They were in a turn and come back as that turn, or commands and plugins have decided about them. */
  readonly items: readonly ChannelItem[];
  /** Their turn had no prompt yet, and what commands and plugins made of their text is not stored: both are asked again. */
  readonly unprompted: readonly { readonly messages: Group; readonly turnId: string }[];
  /** They were in no turn: they are looked at again. */
  readonly fresh: readonly Inbound[];
}

/** Messages that were taken together, the last of which says what was decided. */
const isWhole = (messages: readonly Inbound[]): messages is Group => messages.at(-1)!.id === messages.at(-1)!.decided?.last;

function itemOf(messages: Group, deps: ConversationDeps, resumedTurn?: string): ChannelItem {
  const last = messages.at(-1)!;
  const { sessionKey, agentId, channel } = last;
  const decided = messages.flatMap((message) => (message.decided?.last === message.id ? [message.decided] : []));
  const { thinking, hints } = decided.at(-1) ?? {};
  const hooks = decided.flatMap((one) => one.hooks ?? []);
  const acked = messages.filter((message) => message.decided?.ack);
  const text = messages.flatMap(({ id, text: own, decided: known }) => (known ? (known.last === id ? [known.text ?? own] : []) : [own])).join("\n");
  return {
    kind: "channel",
    sessionKey,
    agentId,
    messages,
    text,
    queue: queueSettings(deps.config.current, undefined, channel),
    ...(thinking === undefined ? {} : { thinking }),
    ...(hints === undefined ? {} : { hints }),
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(acked.length === 0 ? {} : { ack: { replied: () => acked.forEach((message) => seenBefore(deps, message).replied()) } }),
    ...(resumedTurn === undefined ? {} : { resumedTurn }),
  };
}

export async function resumedChannels(rows: readonly InboxRow[], deps: ConversationDeps): Promise<ResumedChannels> {
  const inbounds = rows.flatMap((row) => inboundOf(row) ?? []);
  const items: ChannelItem[] = [];
  const unprompted: { messages: Group; turnId: string }[] = [];
  const fresh: Inbound[] = [];
  const isClaimed = ({ turnId }: Inbound): boolean => turnId !== undefined;
  for (const [turnId, group] of Map.groupBy(inbounds.filter(isClaimed), ({ turnId: id }) => id!)) {
    const messages = group as [Inbound, ...Inbound[]];
    if (isWhole(messages) || (await wasPrompted(deps, turnId))) items.push(itemOf(messages, deps, turnId));
    else unprompted.push({ messages, turnId });
  }
  const waiting = inbounds.filter((inbound) => !isClaimed(inbound));
  for (const group of Map.groupBy(waiting, ({ id, decided }) => decided?.last ?? id).values()) {
    if (isWhole(group)) items.push(itemOf(group, deps));
    else fresh.push(...group);
  }
  return { items, unprompted, fresh };
}
