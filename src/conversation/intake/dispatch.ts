import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { buildMentionRegexes } from "../../channels/index.ts";
import type { FinalizedMsgContext, ReplyPayload } from "../../protocol/index.ts";
import { queueSettings, sendPolicy } from "../../sessions/index.ts";
import type { CommandCall } from "../commands/commands.ts";
import { paceOf, type Pace } from "../commands/parsing/pace.ts";
import type { ChannelItem } from "../lanes/item.ts";
import { createOrder } from "../lanes/order.ts";
import { createLanes } from "../lanes/serial.ts";
import type { LiveReplies } from "../live/live-replies.ts";
import type { ConversationDeps } from "../ports.ts";
import { persistDecided } from "./decided.ts";
import { createHookNotes, type HookNotes } from "./hook-notes.ts";
import { chatOf, type Inbound } from "./inbound-record.ts";
import { joined, withoutMentions, type Group } from "./joined.ts";
import { createJoining } from "./joining.ts";
import { createPluginWords, type PluginWords } from "./plugin-words.ts";
import { LOOKED_AT_TOO_OFTEN, LOOKS_GIVEN_UP, type SecondLooks } from "./second-looks.ts";
import { markSeen } from "./seen.ts";
import type { Outcome, Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { traceOfMessage } from "./inbound-hooks.ts";

/** How messages end before they come to a turn. */
interface Endings {
  /** Ends them, with what is said about it, in one commit. */
  settle(group: Group, outcome: Outcome, why: string, reply?: readonly ReplyPayload[]): Promise<void>;
  /** What belongs to an answer without a turn. */
  factsOf(inbound: Inbound): OutgoingFacts;
}

function createEndings({ store, delivery }: ConversationDeps, lives: Pick<LiveReplies, "of" | "ended">, notes: HookNotes): Endings {
  function factsOf(inbound: Inbound): OutgoingFacts {
    const { id, sessionKey, agentId, event } = inbound;
    const live = lives.of(id)?.key;
    const answered = { senderId: event.sender.id, messageId: event.id, traceId: traceOfMessage(inbound) };
    return { kind: "command", sessionKey, agentId, ...answered, ...(live === undefined ? {} : { live }) };
  }
  return {
    factsOf,
    async settle(group, outcome, why, reply = []) {
      const last = group.at(-1)!;
      const writes: readonly Write[] = reply.length === 0 ? [] : (await delivery.prepare(last.address, reply, factsOf(last))).writes;
      await store.commit([["inbox.settle", { ids: group.map(({ id }) => id), outcome, why, hooks: notes.of(group) }], ...writes]);
      if (writes.length > 0) delivery.kick();
      lives.ended(group.map(({ id }) => id));
    },
  };
}

export interface Dispatch {
  /** A message is on disk: finds out what becomes of it. */
  add(inbound: Inbound): void;
  /** The same for a message that a previous process left. */
  addAgain(inbound: Inbound): void;
  /** Messages whose turn the previous process began without a prompt: finds out again what they say, and continues that turn. */
  resume(messages: Group, turnId: string): void;
  /** Stops what has not come to a lane: commands that run, and what waits for them. The ids name those that ran. */
  stop(sessionKey: string): { readonly runIds: readonly string[]; readonly waiting: number };
  /** What waits for more is treated now; resolves when all that was added is in a lane or at its end. */
  idle(): Promise<void>;
  /** Messages on their way to a lane. */
  readonly pending: number;
}

const STOPPED = "stopped by a command";
const FAILED = "Something went wrong before this could be answered: please try again.";

/** Characters of a group's message that may be a stop or a quick command behind our name. */
const MOST_WITH_NAME = 300;
const botOf = ({ event }: Inbound): { readonly botUsername?: string } =>
  event.mention?.botUsername === undefined ? {} : { botUsername: event.mention.botUsername };

/** Messages on their way to a lane. */
interface Examined {
  readonly id: string;
  readonly group: Group;
  readonly pace: Pace;
  readonly abort: AbortController;
  /** The turn that a process before this one began with them. */
  readonly resumedTurn?: string;
  /** `long`: a command that takes its time. */
  phase: "waiting" | "looked at" | "long";
}

function commandCall(last: Inbound, ctx: FinalizedMsgContext, signal: AbortSignal, tookLong: () => void): CommandCall {
  const { event, access, sessionKey, agentId, channel, accountId } = last;
  return {
    ctx,
    sessionKey,
    agentId,
    channel,
    accountId,
    senderId: event.sender.id,
    ...(event.sender.otherIds ? { otherSenderIds: event.sender.otherIds.map(String) } : {}),
    isGroup: event.chat.type !== "direct",
    authorized: access.commandAuthorized,
    owner: access.owner,
    source: event.kind === "command" ? "native" : "text",
    canAnswerAside: true,
    wasMentioned: access.wasMentioned,
    messageKey: `inbox:${last.id}`,
    ...botOf(last),
    signal,
    tookLong,
  };
}

interface Treating {
  readonly looks: SecondLooks;
  readonly deps: ConversationDeps;
  readonly endings: Endings;
  readonly words: PluginWords;
  readonly notes: HookNotes;
  readonly enqueue: (item: ChannelItem) => void;
}

/** Commands, policies, plugins; what is left waits in its session's lane. */
async function treat(
  { group, abort: { signal }, resumedTurn }: Examined,
  { deps, endings, words, notes, enqueue }: Treating,
  tookLong: () => void,
): Promise<void> {
  if (signal.aborted) return endings.settle(group, "cancelled", STOPPED);
  const { store, config, commands, delivery, channels } = deps;
  const last = group.at(-1)!;
  const { sessionKey, agentId, channel } = last;
  const ctx = withoutMentions(joined(group), channels.get(channel), config.current, agentId);
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  const verdict = await commands.run(commandCall(last, ctx, signal, tookLong));
  if (verdict.kind === "answered") return endings.settle(group, verdict.outcome, verdict.why, verdict.reply);
  if (verdict.asides.length > 0) await delivery.send(last.address, verdict.asides, endings.factsOf(last), 0);
  const policy = sendPolicy(config.current, sessionKey, entry, channel);
  if (!policy.allowed) return endings.settle(group, "silent", `session.sendPolicy: nothing is sent in this session (${policy.source})`);
  const text = await words.dispatched(last, ctx, verdict.text);
  if (typeof text !== "string") return endings.settle(group, text.outcome, text.why, text.reply);
  if (signal.aborted) return endings.settle(group, "cancelled", STOPPED);
  const ack = await markSeen(deps, last);
  const hooks = notes.of(group);
  const decided = {
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(verdict.thinking === undefined ? {} : { thinking: verdict.thinking }),
    ...(verdict.hints === undefined ? {} : { hints: verdict.hints }),
  };
  persistDecided(
    deps,
    group.map(({ id }) => id),
    { ...decided, text, ...(ack ? { ack: true } : {}) },
  );
  enqueue({
    kind: "channel",
    sessionKey,
    agentId,
    messages: group,
    text,
    queue: queueSettings(config.current, entry, channel),
    ...decided,
    ...(ack ? { ack } : {}),
    ...(resumedTurn === undefined ? {} : { resumedTurn }),
  });
}

/** How a message stands to those before it. In groups it may name us first. */
function paceOfInbound(inbound: Inbound, { config, channels }: Pick<ConversationDeps, "config" | "channels">): Pace {
  const { event, text, channel, agentId } = inbound;
  if (event.chat.type === "direct") return paceOf(text, undefined, botOf(inbound).botUsername);
  const mentions = (): readonly RegExp[] => buildMentionRegexes(config.current, agentId);
  const pace = paceOf(text, mentions, botOf(inbound).botUsername);
  if (pace !== "usual" || text.length > MOST_WITH_NAME) return pace;
  // Channels have their own way to name us.
  const { BodyForCommands = "" } = withoutMentions(joined([inbound]), channels.get(channel), config.current, agentId);
  return paceOf(BodyForCommands, mentions, botOf(inbound).botUsername);
}

/** Messages of one chat are treated in their order; a stop reaches those that have not come to a lane. */
function createExamination(treating: Treating, safely: (group: Group, work: () => Promise<void>) => Promise<void>) {
  const { deps, notes } = treating;
  const chats = createOrder();
  const examined = new Set<Examined>();
  return {
    add(group: Group, resumedTurn?: string): void {
      const item: Examined = {
        id: deps.ids.uuid(),
        group,
        pace: group.length === 1 && resumedTurn === undefined ? paceOfInbound(group[0], deps) : "usual",
        abort: new AbortController(),
        phase: "waiting",
        ...(resumedTurn === undefined ? {} : { resumedTurn }),
      };
      examined.add(item);
      const run = async (tookLong: () => void): Promise<void> => {
        item.phase = "looked at";
        const long = (): void => {
          item.phase = "long";
          tookLong();
        };
        await safely(group, () => treat(item, treating, long));
        treating.looks.passed(group.map(({ id }) => id));
        examined.delete(item);
        notes.forget(group);
      };
      if (item.pace === "stop") void run(() => {});
      else chats.add(chatOf(group[0]), { isQuick: item.pace === "quick", run });
    },
    stop(sessionKey: string): ReturnType<Dispatch["stop"]> {
      const meant = [...examined].filter((item) => item.group[0].sessionKey === sessionKey && item.pace !== "stop" && !item.abort.signal.aborted);
      for (const { abort } of meant) abort.abort();
      const running = meant.filter(({ phase }) => phase === "long");
      return { runIds: running.map(({ id }) => id), waiting: meant.length - running.length };
    },
    idle: chats.idle,
  };
}

/** Counts messages on their way, and keeps one that fails or that a previous process left from holding up the others. */
function createCare(treating: Treating, lives: Pick<LiveReplies, "ended">, log: Logger) {
  const count = { pending: 0 };

  /** One that cannot be treated is told, and does not hold up the others. */
  async function safely(group: Group, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const why = messageOf(error);
      log.error(`a message could not be treated: ${why}`, { inbox: group.map(({ id }) => id), error });
      await treating.endings.settle(group, "failed", why, [{ text: FAILED, isError: true }]).catch((second: unknown) => {
        log.error(`the end of a message could not be written: ${messageOf(second)}`, { error: second });
        lives.ended(group.map(({ id }) => id));
      });
    } finally {
      count.pending -= group.length;
    }
  }

  /** Messages that a previous process left, unless plugins were asked about them too often. */
  async function again(group: Group, go: () => void): Promise<void> {
    const ids = group.map(({ id }) => id);
    count.pending += group.length;
    try {
      await treating.deps.untilPlugins?.();
    } catch {
      count.pending -= group.length;
      return; // On disk: the next start resumes it.
    }
    const isLetIn = await treating.looks.begin(ids).catch((error: unknown) => {
      log.error(`the attempts of a message could not be counted: ${messageOf(error)}`, { inbox: ids, error });
      return true;
    });
    if (isLetIn) return go();
    await safely(group, () => treating.endings.settle(group, "failed", LOOKED_AT_TOO_OFTEN, [{ text: LOOKS_GIVEN_UP, isError: true }]));
    treating.looks.passed(ids);
    treating.notes.forget(group);
  }

  return { count, safely, again };
}

/** From the inbox to a lane: hooks, joining, commands, policies. Messages of one chat go through in their order; a stop overtakes all of them, a quick command those that take long. */
export function createDispatch(
  deps: ConversationDeps,
  lives: Pick<LiveReplies, "of" | "ended">,
  enqueue: (item: ChannelItem) => void,
  looks: SecondLooks,
): Dispatch {
  const { config, hooks, commands, clock } = deps;
  const log = deps.log.subsystem("conversation");
  const claims = createLanes();
  const notes = createHookNotes(hooks, clock.now);
  const endings = createEndings(deps, lives, notes);
  const words = createPluginWords(deps, notes);
  const treating: Treating = { deps, endings, words, notes, enqueue, looks };
  const { count, safely, again } = createCare(treating, lives, log);
  const examination = createExamination(treating, safely);
  const joining = createJoining({ clock, config: () => config.current }, (group) => examination.add(group as Group));

  /** A plugin may take it: that is asked before anything else happens with it. */
  async function askFirst(inbound: Inbound, isControl: boolean): Promise<void> {
    const group: Group = [inbound];
    let taken: boolean | undefined;
    await safely(group, async () => {
      const verdict = await words.claimed(inbound);
      taken = verdict !== undefined;
      if (verdict) await endings.settle(group, verdict.outcome, verdict.why, verdict.reply);
    });
    if (taken !== false) {
      looks.passed([inbound.id]);
      return notes.forget(group);
    }
    count.pending += 1;
    joining.add(inbound, isControl);
  }

  function add(inbound: Inbound): void {
    count.pending += 1;
    const isControl = commands.isControl(inbound.text, botOf(inbound));
    try {
      words.received(inbound);
    } catch (error) {
      log.warn(`plugins could not be notified about a message: ${messageOf(error)}`);
    }
    if (hooks.has("inbound_claim")) {
      // A stop does not wait for what plugins think about earlier messages.
      if (paceOfInbound(inbound, deps) === "stop") return void askFirst(inbound, isControl);
      return claims.queue(chatOf(inbound), () => askFirst(inbound, isControl));
    }
    joining.add(inbound, isControl);
  }

  return {
    add(inbound) {
      const waiting = deps.untilPlugins?.();
      if (!waiting) return add(inbound);
      count.pending += 1;
      const over = (): number => (count.pending -= 1);
      // On disk: when the gateway ends first, the next start takes it up.
      waiting.then(() => {
        over();
        add(inbound);
      }, over);
    },
    addAgain: (inbound) =>
      void again([inbound], () => {
        count.pending -= 1;
        add(inbound);
      }),
    resume: (messages, turnId) => void again(messages, () => examination.add(messages, turnId)),
    stop: examination.stop,
    async idle() {
      joining.flush();
      await claims.idle();
      await examination.idle();
    },
    get pending() {
      return count.pending;
    },
  };
}
