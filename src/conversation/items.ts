/** What goes from the inbox through a session's lane to its answer. */
import type { ShownReplies, Spoken, TurnEnd, TurnEvent, TurnInput } from "../agent/index.ts";
import { AppError } from "../base/errors.ts";
import { buildMentionRegexes, mayHoldCommand } from "../channels/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { HookLogEntry } from "../hooks/index.ts";
import type { ReplyPayload, SessionEntry, ThinkingLevel } from "../protocol/index.ts";
import { type QueueSettings, queueSettings } from "../sessions/index.ts";
import type { Write } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";
import type { CommandVerdict, TurnHints } from "./commands/commands.ts";
import { type Pace, paceOf } from "./commands/parsing/message.ts";
import { Abort, End } from "./item-end.ts";
import { chatOf, type ClientRequest, type Group, type Inbound } from "./inbound.ts";
import { joined, withoutMentions } from "./intake/message-context.ts";
import type { AbortReason, RunOutcome } from "./contract.ts";
import type { ConversationContext, ConversationDeps, ItemFiles } from "./ports.ts";

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
  /** The newest of the messages. */
  readonly last: Inbound;
  readonly inboxIds: readonly number[];
  /** Items of one line are examined in order: those of a chat, or of a client's session. */
  readonly line: string;
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
  /** No command can be in it. */
  readonly isPlain: boolean;
  /** `long`: its command takes its time. From `queued` on it is certain that the item starts a turn. */
  phase: "received" | "waiting" | "examined" | "long" | "queued" | "running";
  readonly abort: Abort;
  reason?: AbortReason;
  readonly outcome: End;
  /** For the model: without commands and directives. */
  text: string;
  /** The text is the transcript of a recording that came without words. */
  isSpoken?: boolean;
  files?: Promise<ItemFiles>;
  /** Of the session, when the item came to its lane. */
  queue: QueueSettings;
  /** Settings for its turn only, from its text. */
  thinking?: ThinkingLevel | undefined;
  hints?: TurnHints | undefined;
  /** What plugins answered about it on its way to the lane. */
  hooks: readonly HookLogEntry[];
  /** The reaction that shows that it was seen, to be removed when the answer is there. */
  ack?: { replied(): Promise<void> } | undefined;
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
  /** Rows of the inbox that end with it. */
  readonly inputs: readonly number[];
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
  input(turn: Turn, entry: SessionEntry | undefined, context: ConversationContext): Promise<TurnInput>;
  open(turn: Turn, entry: SessionEntry | undefined, context: ConversationContext): Promise<TurnStream>;
  /** Ends a turn with an answer that no model gave, in one commit. */
  answer(turn: Turn, answer: DirectAnswer, context: ConversationContext): Promise<RunOutcome>;
  /** Sends what a command answers beside the turn that follows it. Gives the texts that are part of the outcome. */
  sendAsides(item: Item, asides: readonly ReplyPayload[], context: ConversationContext): Promise<readonly string[]>;
  /** Rows that notify the sender why there is no answer. */
  failureNotice(turn: Turn, text: string, context: ConversationContext): Promise<readonly Write[]>;
}

/** Whether someone spoke. */
export const hasRecording = ({ messages }: Pick<Item, "messages">): boolean =>
  messages.some(({ event }) => event.media?.some(({ kind, mimeType = "" }) => kind === "audio" || mimeType.startsWith("audio/")));

/** A turn that ends before it begins: of one item, and those that were merged into it. */
export const endingOf = (item: Item): Turn => ({
  main: item,
  items: [item, ...item.merged],
  summarised: [],
  inputs: [item, ...item.merged].flatMap(({ inboxIds }) => inboxIds),
  isBegun: false,
  steering: [],
  taken: new Set(),
  isOver: true,
});

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
  return sameChat(one.last.address, other.last.address);
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

/** What a previous process left. */
interface Left {
  /** The turn that it began with the messages. */
  readonly turnId?: string | undefined;
}

export type CreateItem = (messages: Group, left?: Left) => Item;

/** Characters of a group's message that may be a stop or a quick command behind our name. */
const MOST_WITH_NAME = 300;

/** Whether no command can be in a message: it has no slash, no exclamation mark, no word that stops or resets, or is what a button says. */
function isPlainMessage({ event, text, context }: Inbound, { session }: OpenClawConfig): boolean {
  // Those of the gateway came in as commands.
  if (event.kind === "button") return true;
  if (context || session?.resetTriggers || mayHoldCommand(text)) return false;
  return event.context?.["BodyForCommands"] === undefined && event.context?.["CommandBody"] === undefined;
}

/** How a message stands to those before it. In groups it may name us first; a client's without rights is no command. */
function paceOfMessage(inbound: Inbound, { config, channels }: Pick<ConversationDeps, "config" | "channels">): Pace {
  const { event, text, channel, agentId, request } = inbound;
  if (request) return request.scopes === undefined ? "usual" : paceOf(text);
  const botUsername = event.mention?.botUsername;
  if (event.chat.type === "direct") return paceOf(text, undefined, botUsername);
  const mentions = (): readonly RegExp[] => buildMentionRegexes(config.current, agentId);
  const pace = paceOf(text, mentions, botUsername);
  if (pace !== "usual" || text.length > MOST_WITH_NAME) return pace;
  // Channels have their own way to name us.
  const { BodyForCommands = "" } = withoutMentions(joined([inbound]), channels.get(channel), config.current, agentId);
  return paceOf(BodyForCommands, mentions, botUsername);
}

export interface Listeners {
  readonly client: Listener;
  readonly chat: Listener;
  readonly heartbeat: Listener;
}

export function createItems(deps: ConversationDeps, listeners: Listeners): CreateItem {
  return (messages, left) => {
    const last = messages.at(-1) ?? messages[0];
    const { sessionKey, agentId, channel, request } = last;
    const isPlain = messages.length === 1 && isPlainMessage(last, deps.config.current);
    return {
      id: request?.runId ?? left?.turnId ?? deps.ids.uuid(),
      sessionKey,
      agentId,
      messages,
      last,
      inboxIds: messages.map(({ id }) => id),
      line: request?.sessionKey ?? chatOf(messages[0]),
      ...(request ? { request } : {}),
      listener: !request ? listeners.chat : request.kind === "heartbeat" ? listeners.heartbeat : listeners.client,
      isResumed: left !== undefined && (request !== undefined || left.turnId !== undefined),
      hasBegun: left?.turnId !== undefined,
      pace: messages.length === 1 && !isPlain && left?.turnId === undefined ? paceOfMessage(last, deps) : "usual",
      isPlain,
      phase: request ? "waiting" : "received",
      abort: new Abort(),
      outcome: new End(),
      text: messages.map(({ text }) => text).join("\n"),
      queue: queueSettings(deps.config.current, undefined, channel),
      hooks: [],
      asides: [],
      merged: [],
    };
  };
}

/** Items from their acceptance to their end. */
export interface OpenItems {
  add(item: Item): void;
  /** One item takes the place of several. */
  replace(items: readonly Item[], joined: Item): void;
  /** It is at its end, and those that were merged into it; `hasTurn`: in a turn of its id. */
  end(item: Item, outcome: RunOutcome, hasTurn?: boolean): void;
  get(id: string): Item | undefined;
  /** Items of clients in a session. */
  clientsIn(sessionKey: string): number;
  /** Items in a session. */
  inSession(sessionKey: string): number;
  /** The first row of a session that has not come to its lane; infinite when all have. */
  firstExamined(sessionKey: string): number;
  /** With an id, or as a stop, also items that have not come to a lane. */
  abort(target: AbortTarget, reason: AbortReason): { readonly runIds: readonly string[]; readonly turns: number; readonly waiting: number };
  /** The chat that a turn answers; undefined for turns of clients. */
  chatOf(runId: string): { readonly address: ReplyAddress; readonly messageId: string } | undefined;
  /** Where a turn's answer is sent; undefined when only clients see it. */
  addressOf(runId: string): ReplyAddress | undefined;
  /** Whether a turn answers a person in a client, and only there. */
  isForClient(runId: string): boolean;
  /** Messages in all. */
  readonly size: number;
}

export interface AbortTarget {
  readonly sessionKey: string;
  readonly runId?: string;
}

/** Waits for something of a run, or until the caller gives up. */
export function whileWanted<T>(id: string, awaited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return awaited;
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = (): void => reject(new AppError("CANCELLED", `nothing waits for run ${id} any more`));
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel, { once: true });
  return Promise.race([awaited, promise]).finally(() => signal.removeEventListener("abort", cancel));
}

const isInLane = ({ phase }: Item): boolean => phase === "queued" || phase === "running";

/** Of a channel's messages only those whose turn or command runs have an id that others know. */
const hasKnownId = ({ request, phase, into }: Item): boolean => request !== undefined || phase === "long" || (phase === "running" && !into);

/**
 * What ends the turns of a session does not reach an item before its lane: it may be the command that does so, and would wait for itself. A stop reaches
 * every item but other stops.
 */
const isReached = (item: Item, reason: AbortReason): boolean => isInLane(item) || (reason === "stop" && item.pace !== "stop" && item.phase !== "received");

/** `removed` is called with the session of each item that is not open any more. */
export function createOpenItems(removed: (sessionKey: string) => void = () => {}): OpenItems {
  const items = new Map<string, Item>();
  const counts = new Map<string, number>();

  function add(item: Item): void {
    items.set(item.id, item);
    counts.set(item.sessionKey, open.inSession(item.sessionKey) + 1);
    open.size += item.messages.length;
  }

  function remove(item: Item): void {
    if (!items.delete(item.id)) return;
    open.size -= item.messages.length;
    const left = open.inSession(item.sessionKey) - 1;
    if (left > 0) counts.set(item.sessionKey, left);
    else counts.delete(item.sessionKey);
    removed(item.sessionKey);
  }

  const open: OpenItems & { size: number } = {
    size: 0,
    add,
    replace(parts, joined) {
      for (const part of parts) remove(part);
      add(joined);
    },
    end(item, outcome, hasTurn = false) {
      for (const one of [...item.merged, item]) {
        remove(one);
        one.outcome.resolve(outcome);
        for (const { id, live } of one.messages) live?.ended(id, hasTurn ? item.id : undefined);
      }
    },
    get: (id) => items.get(id),
    clientsIn(sessionKey) {
      let count = 0;
      for (const item of items.values()) if (item.request && item.sessionKey === sessionKey) count += 1;
      return count;
    },
    inSession: (sessionKey) => counts.get(sessionKey) ?? 0,
    firstExamined(sessionKey) {
      let first = Infinity;
      for (const item of items.values()) if (item.sessionKey === sessionKey && !isInLane(item)) first = Math.min(first, ...item.inboxIds);
      return first;
    },
    abort({ sessionKey, runId }, reason) {
      const named = runId === undefined ? items.values().toArray() : [items.get(runId)];
      const reached = named.filter(
        (item): item is Item => item?.sessionKey === sessionKey && (runId !== undefined || isReached(item, reason)) && !(item.into ?? item).abort.aborted,
      );
      for (const item of reached) {
        const target = item.into ?? item;
        target.reason = reason;
        target.abort.abort();
      }
      const known = reached.filter(hasKnownId);
      return {
        runIds: known.map(({ id }) => id),
        turns: known.filter(isInLane).length,
        waiting: reached.filter((item) => !hasKnownId(item) && !isInLane(item)).length,
      };
    },
    chatOf(runId) {
      const item = items.get(runId);
      if (!item || item.request) return undefined;
      const { address, event } = item.last;
      return { address, messageId: event.id };
    },
    addressOf(runId) {
      const item = items.get(runId);
      return item?.request ? item.request.reply : item?.last.address;
    },
    isForClient(runId) {
      const { request, sessionKey = "" } = items.get(runId) ?? {};
      if (request?.channel !== "webchat" || request.reply || sessionKey.includes(":subagent:")) return false;
      return request.kind === undefined || request.kind === "exec" || request.kind === "announce" || request.kind === "regenerate";
    },
  };
  return open;
}
