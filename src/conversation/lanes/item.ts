import type { HookLogEntry } from "../../hooks/index.ts";
import type { QueueSettings } from "../../sessions/index.ts";
import type { ThinkingLevel } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { TurnHints } from "../commands/commands.ts";
import type { Inbound } from "../intake/inbound-record.ts";
import type { ClientRun } from "../turns/run.ts";

/** What waits in a session's lane: messages of a channel that belong together, or the run that a client asked for. */
export type LaneItem = ChannelItem | ClientItem;

interface Waits {
  readonly sessionKey: string;
  readonly agentId: string;
  /** Of the session, when it came. */
  readonly queue: QueueSettings;
}

export interface ChannelItem extends Waits {
  readonly kind: "channel";
  /** One or more, in order. */
  readonly messages: readonly [Inbound, ...Inbound[]];
  /** What they say, without directives. */
  readonly text: string;
  readonly thinking?: ThinkingLevel;
  /** What they ask for this turn only. */
  readonly hints?: TurnHints;
  /** The sign that they were seen. */
  readonly ack?: { replied(): void };
  /** What plugins said about them. */
  readonly hooks?: readonly HookLogEntry[];
  /** The turn that a process before this one began with them. */
  readonly resumedTurn?: string;
}

export interface ClientItem extends Waits {
  readonly kind: "client";
  readonly run: ClientRun;
}

export const inboxIdsOf = (item: LaneItem): readonly number[] => (item.kind === "client" ? [item.run.row.inboxId] : item.messages.map(({ id }) => id));

/** What an item says, without directives. */
export const textOf = (item: LaneItem): string => (item.kind === "client" ? item.run.text : item.text);

/** Whether one turn can answer both: what they ask for is alike, and the answer goes to the same place. */
export function sameTurn(one: LaneItem, other: LaneItem): boolean {
  if (one.kind === "client" || other.kind === "client") return one.kind === "client" && other.kind === "client" && sameRequest(one.run, other.run);
  return sameChat(one.messages.at(-1)!.address, other.messages.at(-1)!.address);
}

function sameChat(a: ReplyAddress, b: ReplyAddress): boolean {
  return a.channel === b.channel && a.accountId === b.accountId && a.to === b.to && a.threadId === b.threadId;
}

/** Runs with rights, tools or instructions of their own have a turn of their own. */
function sameRequest({ row: a }: ClientRun, { row: b }: ClientRun): boolean {
  if (a.clientTools || b.clientTools || a.kind !== undefined || b.kind !== undefined || a.events || b.events) return false;
  if (a.reply || b.reply) if (!a.reply || !b.reply || !sameChat(a.reply, b.reply)) return false;
  return a.channel === b.channel && a.systemPrompt === b.systemPrompt && a.owner === b.owner && a.senderId === b.senderId;
}
