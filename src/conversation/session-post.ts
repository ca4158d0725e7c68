import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { Conversation } from "./create-conversation.ts";
import type { ReplyAddress } from "./address.ts";
import type { RunOutcome, RunRequest } from "./contract.ts";
import { deliveryOf } from "../sessions/index.ts";
import type { Store } from "../store/index.ts";
import type { SessionPost, SessionReply } from "../tools/index.ts";

interface Deps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly conversation: () => Conversation;
  /** Sends a text to a chat. */
  readonly announce: (address: ReplyAddress, text: string, sessionKey: string) => Promise<unknown>;
}

type Message = Parameters<SessionPost["send"]>[0];
type Party = Message["to"] & Partial<Message["from"]>;

const MAX_TURNS = 5;
const REPLY_SKIP = "REPLY_SKIP";
const ANNOUNCE_SKIP = "ANNOUNCE_SKIP";

const replyOf = (outcome: RunOutcome | undefined): SessionReply => {
  if (!outcome || outcome.status === "error") return { status: "error", error: outcome?.error ?? "the run is not known" };
  const isSkip = outcome.silent === true || outcome.text.trim() === REPLY_SKIP;
  return { status: "ok", reply: isSkip ? "" : outcome.text };
};

/** Messages between sessions: each is accepted, queued and answered like any other message. */
export function sessionPost(deps: Deps): SessionPost {
  /** The channel that a session's turns are shown as coming from: what it is set to stays. */
  async function requestFor(to: Message["to"], runId: string, message: string, about: string, from: Party): Promise<RunRequest> {
    const entry = (await deps.store.read("sessions.get", { key: to.key }))?.entry;
    const provenance = { kind: "inter_session", sourceSessionKey: from.key, sourceChannel: from.channel, sourceTool: "sessions_send" } as const;
    return { runId, kind: "session", sessionKey: to.key, message, channel: entry?.lastChannel ?? "webchat", systemPrompt: about, provenance };
  }

  async function ask(to: Message["to"], runId: string, message: string, about: string, from: Party): Promise<SessionReply> {
    const conversation = deps.conversation();
    const { ended } = await conversation.accept(await requestFor(to, runId, message, about, from));
    return replyOf(ended ?? (await conversation.outcome(runId)));
  }

  /** What two sessions still have to say to each other, and what the other's chat gets of it in the end. */
  async function afterwards({ runId, from, to }: Message, first: string): Promise<void> {
    const most = Math.min(MAX_TURNS, deps.config.current.session?.agentToAgent?.maxPingPongTurns ?? MAX_TURNS);
    let said = first;
    for (let turn = 0; turn < most; turn += 1) {
      const [speaker, other] = turn % 2 === 0 ? [from, to] : [to, from];
      const about = `Session ${other.key} answered you. Reply ${REPLY_SKIP} when nothing more has to be said.`;
      const reply = await ask(speaker, `${runId}-${turn}`, said, about, other);
      if (reply.status !== "ok" || reply.reply.trim() === "" || reply.reply.trim() === REPLY_SKIP) break;
      said = reply.reply;
    }
    await announce(to, runId, from);
  }

  /** Lets the session say in its own chat what came of it. */
  async function announce(to: Message["to"], runId: string, from: Party): Promise<void> {
    const entry = (await deps.store.read("sessions.get", { key: to.key }))?.entry;
    const { channel, to: target, accountId = "default", threadId } = deliveryOf(entry) ?? {};
    if (channel === undefined || target === undefined || channel === "webchat") return;
    const about = `Say in this chat what came of the exchange with the other session, if people there should know. Reply ${ANNOUNCE_SKIP} to stay silent.`;
    const reply = await ask(to, `${runId}-announce`, "The exchange with the other session is over.", about, from);
    if (reply.status !== "ok" || reply.reply.trim() === "" || reply.reply.trim() === ANNOUNCE_SKIP) return;
    await deps.announce({ channel, accountId, to: target, chatType: "direct", ...(threadId === undefined ? {} : { threadId }) }, reply.reply, to.key);
  }

  return {
    async send(message) {
      const { runId, to, from, text, timeoutMs, signal } = message;
      const about = `The message comes from session ${from.key} of agent ${from.agentId}, not from a person.`;
      const { promise: late, resolve } = Promise.withResolvers<SessionReply>();
      using _timer = timeoutMs > 0 ? deps.clock.after(timeoutMs, () => resolve({ status: "timeout" })) : { [Symbol.dispose]: () => {} };
      const answering = ask(to, runId, text, about, from);
      const follow = answering.then((reply) => (reply.status === "ok" && reply.reply.trim() !== "" ? afterwards(message, reply.reply) : undefined));
      follow.catch((error: unknown) => deps.log.warn(`an exchange between sessions ended early: ${messageOf(error)}`, { from: from.key, to: to.key }));
      if (timeoutMs === 0) return { status: "accepted" };
      signal.addEventListener("abort", () => resolve({ status: "timeout" }), { once: true });
      // Awaited here: the timer ends with this function.
      return await Promise.race([answering, late]).catch((error: unknown) => ({ status: "error", error: messageOf(error) }));
    },
  };
}
