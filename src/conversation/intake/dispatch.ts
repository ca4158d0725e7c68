import { messageOf } from "../../base/errors.ts";
import type { FinalizedMsgContext, ReplyPayload, SessionEntry } from "../../protocol/index.ts";
import { queueSettings, sendPolicy } from "../../sessions/index.ts";
import type { Outcome, Write } from "../../store/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import type { ChannelItem } from "../lanes/item.ts";
import { createLanes } from "../lanes/serial.ts";
import type { LiveReplies } from "../live/live-replies.ts";
import type { ConversationDeps } from "../ports.ts";
import { chatOf, type Inbound } from "./inbound-record.ts";
import { createHookNotes } from "./hook-notes.ts";
import { claimEvent, dispatchEvent, inboundContext, receivedEvent } from "./inbound-hooks.ts";
import { createJoining } from "./joining.ts";
import { messageContext } from "./message-context.ts";

type Group = readonly [Inbound, ...Inbound[]];

export interface Dispatch {
  /** A message is on disk: finds out what becomes of it. */
  add(inbound: Inbound): void;
  /** What waits for more is treated now; resolves when all that was added is in a lane or at its end. */
  idle(): Promise<void>;
  /** Messages on their way to a lane. */
  readonly pending: number;
}

const STOPS: ReadonlySet<string> = new Set(["/stop", "stop", "esc", "abort", "wait", "exit", "interrupt"]);
const FAILED = "Something went wrong before this could be answered: please try again.";

/** From the inbox to a lane: hooks, joining, commands, policies. Messages of one chat go through in their order; a word that stops what runs overtakes. */
export function createDispatch(deps: ConversationDeps, lives: Pick<LiveReplies, "of" | "ended">, enqueue: (item: ChannelItem) => void): Dispatch {
  const { store, config, hooks, commands, delivery, clock } = deps;
  const log = deps.log.room("conversation");
  const chats = createLanes();
  const notes = createHookNotes(hooks, clock.now);
  let pending = 0;

  function commandFacts({ id, sessionKey, agentId }: Inbound): OutgoingFacts {
    const live = lives.of(id)?.key;
    return { kind: "command", sessionKey, agentId, ...(live === undefined ? {} : { live }) };
  }

  /** Ends messages, with what is said about it, in one commit. */
  async function settle(group: Group, outcome: Outcome, why: string, reply: readonly ReplyPayload[] = []): Promise<void> {
    const last = group.at(-1)!;
    const facts = { ...commandFacts(last), senderId: last.event.sender.id, messageId: last.event.id };
    const writes: readonly Write[] = reply.length === 0 ? [] : (await delivery.prepare(last.address, reply, facts)).writes;
    await store.commit([["inbox.settle", { ids: group.map(({ id }) => id), outcome, why, hooks: notes.of(group) }], ...writes]);
    if (writes.length > 0) delivery.kick();
    lives.ended(group.map(({ id }) => id));
  }

  /** `message_received` and `inbound_claim`. True: a plugin took it. */
  async function claimed(inbound: Inbound): Promise<boolean> {
    const ctx = messageContext(inbound);
    const context = inboundContext(inbound, ctx);
    if (hooks.has("message_received")) void hooks.run("message_received", receivedEvent(inbound, ctx), context);
    void deps.internalHooks?.()?.trigger("message", "received", inbound.sessionKey, { ...receivedEvent(inbound, ctx) });
    if (!hooks.has("inbound_claim")) return false;
    const claim = await notes.asking(inbound, (logged) => logged.run("inbound_claim", claimEvent(inbound, ctx), context));
    if (!claim?.handled) return false;
    const reply = claim.reply ? [claim.reply as ReplyPayload] : [];
    await settle([inbound], reply.length === 0 ? "silent" : "answered", `claimed by ${claim.decidedBy ?? "a plugin"}`, reply);
    return true;
  }

  async function command(group: Group, ctx: FinalizedMsgContext): Promise<CommandVerdict> {
    const last = group.at(-1)!;
    return commands.run({
      ctx,
      sessionKey: last.sessionKey,
      agentId: last.agentId,
      channel: last.channel,
      accountId: last.accountId,
      senderId: last.event.sender.id,
      isGroup: last.event.chat.type !== "direct",
      authorized: last.access.commandAuthorized,
      owner: last.access.owner,
      source: last.event.kind === "command" ? "native" : "text",
      canAnswerAside: true,
      wasMentioned: last.access.wasMentioned,
      ...(last.event.mention?.botUsername === undefined ? {} : { botUsername: last.event.mention.botUsername }),
      signal: new AbortController().signal,
    });
  }

  /** `before_dispatch`: the text as a plugin wants it. Undefined: it was dealt with. */
  async function dispatched(group: Group, ctx: FinalizedMsgContext, text: string): Promise<string | undefined> {
    if (!hooks.has("before_dispatch")) return text;
    const last = group.at(-1)!;
    const answer = await notes.asking(last, (logged) => logged.run("before_dispatch", dispatchEvent(last, ctx, text), inboundContext(last, ctx)));
    if (answer?.cancel) {
      await settle(group, "refused", `stopped by ${answer.decidedBy ?? "a plugin"}${answer.cancelReason === undefined ? "" : `: ${answer.cancelReason}`}`);
      return undefined;
    }
    if (answer?.handled) {
      const reply = answer.text === undefined ? [] : [{ text: answer.text }];
      await settle(group, reply.length === 0 ? "silent" : "answered", `answered by ${answer.decidedBy ?? "a plugin"}`, reply);
      return undefined;
    }
    return answer?.content ?? text;
  }

  async function treat(group: Group): Promise<void> {
    const last = group.at(-1)!;
    const ctx = joined(group);
    const session = await store.read("sessions.get", { key: last.sessionKey });
    const entry: SessionEntry | undefined = session?.entry;
    const verdict = await command(group, ctx);
    if (verdict.kind === "answered") return settle(group, verdict.outcome, verdict.why, verdict.reply);
    if (verdict.asides.length > 0) {
      await delivery.send(last.address, verdict.asides, commandFacts(last), 0);
    }
    const policy = sendPolicy(config.current, last.sessionKey, entry, last.channel);
    if (!policy.allowed) return settle(group, "silent", `session.sendPolicy: nothing is sent in this session (${policy.source})`);
    const text = await dispatched(group, ctx, verdict.text);
    if (text === undefined) return;
    const ack = await seen(last);
    enqueue({
      kind: "channel",
      sessionKey: last.sessionKey,
      agentId: last.agentId,
      messages: group,
      text,
      queue: queueSettings(config.current, entry, last.channel),
      ...(notes.of(group).length === 0 ? {} : { hooks: notes.of(group) }),
      ...(verdict.thinking === undefined ? {} : { thinking: verdict.thinking }),
      ...(verdict.hints === undefined ? {} : { hints: verdict.hints }),
      ...(ack ? { ack } : {}),
    });
  }

  /** Puts a sign on the message that it was seen, where the configuration wants that. Nobody waits for it. */
  async function seen({ channel, address, event, access, agentId }: Inbound): Promise<{ replied(): void } | undefined> {
    const adapter = deps.channels.get(channel)?.reactions;
    if (!adapter || event.kind !== "message") return undefined;
    const { ackReactionFor, setAckReaction } = await import("../reply/index.ts");
    const cfg = config.current;
    const emoji = ackReactionFor({
      cfg,
      agentId,
      address,
      requireMention: access.requireMention === true,
      canDetectMention: event.mention?.canDetect !== false,
      wasMentioned: access.wasMentioned,
    });
    return emoji === undefined ? undefined : setAckReaction({ adapter, cfg, address, messageId: event.id, emoji, log });
  }

  /** One that cannot be treated is told, and does not hold up the others. */
  async function safely(group: Group, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const why = messageOf(error);
      log.error(`a message could not be treated: ${why}`, { inbox: group.map(({ id }) => id), error });
      await settle(group, "failed", why, [{ text: FAILED, isError: true }]).catch((second: unknown) => {
        log.error(`the end of a message could not be written: ${messageOf(second)}`, { error: second });
        lives.ended(group.map(({ id }) => id));
      });
    } finally {
      pending -= group.length;
    }
  }

  const joining = createJoining({ clock, config: () => config.current }, (group) => {
    const all = group as Group;
    const run = (): Promise<void> => safely(all, () => treat(all)).finally(() => notes.forget(all));
    if (STOPS.has(all[0].text.trim().toLowerCase())) void run();
    else chats.queue(chatOf(all[0]), run);
  });

  return {
    add(inbound) {
      pending += 1;
      const isControl = commands.isControl(inbound.text, inbound.event.mention?.botUsername === undefined ? {} : { botUsername: inbound.event.mention.botUsername });
      if (!hooks.has("inbound_claim")) {
        claimed(inbound).catch((error: unknown) => log.warn(`plugins could not be told of a message: ${messageOf(error)}`));
        return joining.add(inbound, isControl);
      }
      const group: Group = [inbound];
      chats.queue(`claim\0${chatOf(inbound)}`, async () => {
        let taken: boolean | undefined;
        await safely(group, async () => {
          taken = await claimed(inbound);
        });
        if (taken !== false) return notes.forget(group);
        pending += 1;
        joining.add(inbound, isControl);
      });
    },
    async idle() {
      joining.flush();
      await chats.idle();
    },
    get pending() {
      return pending;
    },
  };
}

/** Several messages as one: texts one below the other, the ids of the last, all ids beside. */
function joined(group: Group): FinalizedMsgContext {
  const last = messageContext(group.at(-1)!);
  if (group.length === 1) return last;
  const contexts = group.map(messageContext);
  const text = (field: "Body" | "RawBody" | "BodyForAgent" | "BodyForCommands"): string =>
    contexts.flatMap((ctx) => (ctx[field] ? [ctx[field]] : [])).join("\n");
  const ids = contexts.flatMap(({ MessageSid }) => (MessageSid === undefined ? [] : [MessageSid]));
  return {
    ...last,
    Body: text("Body"),
    RawBody: text("RawBody"),
    CommandBody: text("BodyForCommands"),
    BodyForAgent: text("BodyForAgent"),
    BodyForCommands: text("BodyForCommands"),
    MessageSids: ids,
    MessageSidFirst: ids[0],
    MessageSidLast: ids.at(-1),
  };
}
