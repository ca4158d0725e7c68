/** What goes from the inbox through a session's lane to its answer. */
import type { ShownReplies, Spoken, TurnEnd, TurnEvent, TurnInput } from "../agent/index.ts";
import type { HookLogEntry } from "../hooks/index.ts";
import type { ReplyPayload, SessionEntry, ThinkingLevel } from "../protocol/index.ts";
import type { QueueSettings } from "../sessions/index.ts";
import type { Write } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";
import type { CommandVerdict, TurnHints } from "./commands/commands.ts";
import type { Pace } from "./commands/parsing/pace.ts";
import type { AbortReason, RunOutcome } from "./contract.ts";
import type { ClientRequest, Group, Inbound } from "./inbound.ts";

/** How an abort is reported. */
export const ORIGINS = { rpc: "rpc", stop: "stop-command", timeout: "timeout", interrupt: "interrupt" } as const satisfies Record<AbortReason, string>;

/** One or more messages that belong together: of a channel, or the one of a client's run. */
export interface Item {
  /** The turn that answers it has this id. A client chose it for its run. */
  readonly id: string;
  readonly sessionKey: string;
  readonly agentId: string;
  /** In order. */
  readonly messages: Group;
  /** What a client asked for; undefined for messages of a channel. */
  readonly request?: ClientRequest;
  /** Who sees the answer. */
  readonly listener: Listener;
  /** A previous process accepted it. */
  readonly isResumed: boolean;
  /** A previous process began its turn: who answers was decided then. */
  hasBegun: boolean;
  /** How it stands to messages before it. */
  readonly pace: Pace;
  /** `long`: its command takes its time. From `queued` on it is certain that the item starts a turn. */
  phase: "received" | "waiting" | "examined" | "long" | "queued" | "running";
  readonly abort: AbortController;
  reason?: AbortReason;
  readonly outcome: PromiseWithResolvers<RunOutcome>;
  /** For the model: without commands and directives. */
  text: string;
  /** Of the session, when the item came to its lane. */
  queue: QueueSettings;
  /** Settings for its turn only, from its text. */
  thinking?: ThinkingLevel | undefined;
  hints?: TurnHints | undefined;
  /** What plugins answered about it on its way to the lane. */
  hooks: readonly HookLogEntry[];
  /** The sign that it was seen. */
  ack?: { replied(): void } | undefined;
  /** Texts that a command sent beside the answer. */
  asides: readonly string[];
  /** Items that end with this one: the same turn answers them. */
  readonly merged: Item[];
  /** The item whose turn answers this one. */
  into?: Item;
}

/** One run of the agent, or the end of an item that gets none. */
export interface Turn {
  /** The newest of its items: the turn has its id. */
  readonly main: Item;
  readonly items: readonly [Item, ...Item[]];
  /** Items of which only a line is left. */
  readonly summarised: readonly Item[];
  /** False: its items end before their lane began it. */
  readonly isBegun: boolean;
  /** Items that the model is to be shown at its next step. */
  readonly steering: Item[];
  /** Items that it took and has not committed: they are open until it does. */
  readonly taken: Set<Item>;
  /** Nothing is shown to the model any more. */
  isOver: boolean;
}

/** Shows one turn while it runs and when it has ended. */
export interface TurnStream {
  event(event: TurnEvent): void;
  /** Asks plugins about a text that the model wrote before a call. Undefined: they are not asked. */
  readonly spoken?: ((text: string) => Promise<Spoken | undefined>) | undefined;
  /** What is committed with the end of the turn. */
  finish(end: TurnEnd): Promise<readonly Write[] | ShownReplies>;
  /** The end is on disk: it is shown. Gives the outcome with everything that was. */
  settled(end: TurnEnd, outcome: RunOutcome): RunOutcome;
  /** The turn does not end here: nothing is shown any more. */
  abandon(): Promise<void>;
}

/** An answer that no model gave: a command's, or a plugin's. */
export type DirectAnswer = Pick<Extract<CommandVerdict, { readonly kind: "answered" }>, "reply" | "outcome" | "why"> & {
  readonly hooks: readonly HookLogEntry[];
  /** What was asked, where the transcript does not have it. */
  readonly unsaid?: Pick<TurnInput, "message" | "images">;
};

/** Who sees the answer to an item: a chat over its channel, or a client over the gateway's events. */
export interface Listener {
  /** The items of a turn as the agent gets them. */
  input(turn: Turn, entry: SessionEntry | undefined): Promise<TurnInput>;
  open(turn: Turn, entry: SessionEntry | undefined): Promise<TurnStream>;
  /** Ends a turn with an answer that no model gave, in one commit. */
  answer(turn: Turn, answer: DirectAnswer): Promise<RunOutcome>;
  /** Sends what a command says beside the turn that follows it. Gives the texts that are part of the outcome. */
  sendAsides(item: Item, asides: readonly ReplyPayload[]): Promise<readonly string[]>;
  /** Rows that tell the sender why there is no answer. */
  failureNotice(turn: Turn, text: string): Promise<readonly Write[]>;
  /** Stops the turn from outside. */
  signal(item: Item): AbortSignal | undefined;
}

/** A turn that ends before it begins: of one item, and those that were merged into it. */
export const endingOf = (item: Item): Turn => ({
  main: item,
  items: [item, ...item.merged],
  summarised: [],
  isBegun: false,
  steering: [],
  taken: new Set(),
  isOver: true,
});

export const lastMessage = ({ messages }: Item): Inbound => messages.at(-1)!;

export const inboxIdsOf = ({ messages }: Item): readonly number[] => messages.map(({ id }) => id);

/** Inputs that end with a turn. */
export const inputsOf = ({ summarised, items }: Turn): readonly number[] => [...summarised, ...items].flatMap(inboxIdsOf);

/** Makes `item` end with the turn of `main`. */
export function mergeInto(main: Item, item: Item): void {
  if (item.into === main) return;
  item.phase = "running";
  item.into = main;
  main.merged.push(item);
}

/** Whether one turn can answer both: what they ask for is alike, and the answer goes to the same chat. */
export function sameTurn(one: Item, other: Item): boolean {
  if (one.request || other.request) return one.request !== undefined && other.request !== undefined && sameRequest(one.request, other.request);
  return sameChat(lastMessage(one).address, lastMessage(other).address);
}

function sameChat(a: ReplyAddress, b: ReplyAddress): boolean {
  return a.channel === b.channel && a.accountId === b.accountId && a.to === b.to && a.threadId === b.threadId;
}

/** Runs with rights, tools or instructions of their own have a turn of their own. */
function sameRequest(a: ClientRequest, b: ClientRequest): boolean {
  if (a.clientTools || b.clientTools || a.kind !== undefined || b.kind !== undefined || a.events || b.events) return false;
  if (a.reply || b.reply) if (!a.reply || !b.reply || !sameChat(a.reply, b.reply)) return false;
  return a.channel === b.channel && a.systemPrompt === b.systemPrompt && a.owner === b.owner && a.senderId === b.senderId;
}
