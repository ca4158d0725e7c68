/**
 * Messages between sessions: each is accepted, queued and answered like any other message. The commit that accepts the first one also records the exchange;
 * everything after it is a run under an id that is made of it, so a process that finds an open exchange goes through it again and repeats nothing.
 */
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import { failpoint } from "../base/failpoints.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import type { Config } from "../config/index.ts";
import { deliveryOf, sendPolicy } from "../sessions/index.ts";
import type { Store, Write } from "../store/index.ts";
import type { SessionPost, SessionReply } from "../tools/index.ts";
import type { RunOutcome, RunRequest } from "./contract.ts";
import type { Conversation } from "./create-conversation.ts";
import type { Delivery } from "./delivery/index.ts";
import { EXCHANGES } from "./inbound.ts";

interface Deps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "commit">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly conversation: () => Pick<Conversation, "accept" | "outcome">;
  readonly delivery: () => Pick<Delivery, "prepare" | "kick">;
}

type Message = Parameters<SessionPost["send"]>[0];
type Party = Message["to"] & Partial<Message["from"]>;

/** What is known of an exchange from its first message on. */
interface Exchange {
  readonly runId: string;
  readonly from: Party;
  readonly to: Party;
  /** So many answers go back and forth. */
  readonly turns: number;
}

export interface ResumablePost extends SessionPost {
  /** Goes on with exchanges that the previous process left. */
  resume(): Promise<void>;
}

const MAX_TURNS = 5;
const REPLY_SKIP = "REPLY_SKIP";
const ANNOUNCE_SKIP = "ANNOUNCE_SKIP";

const replyOf = (outcome: RunOutcome | undefined): SessionReply => {
  if (!outcome || outcome.status === "error") return { status: "error", error: outcome?.error ?? "unknown run" };
  const isSkip = outcome.silent === true || outcome.text.trim() === REPLY_SKIP;
  return { status: "ok", reply: isSkip ? "" : outcome.text };
};

/** What was answered, if it is something to go on with. */
function saidIn(outcome: RunOutcome | undefined, skip: string): string | undefined {
  // The process stops: the next one goes on with it.
  if (outcome?.status === "error" && outcome.failure?.kind === "restarting") throw new AppError("UNAVAILABLE", "the gateway is stopping");
  const reply = replyOf(outcome);
  const text = reply.status === "ok" ? reply.reply : "";
  return text.trim() === "" || text.trim() === skip ? undefined : text;
}

function partyOf(value: unknown): Party | undefined {
  if (!isRecord(value) || typeof value["key"] !== "string" || typeof value["agentId"] !== "string") return undefined;
  const { key, agentId, channel } = value;
  return { key, agentId, channel: typeof channel === "string" ? channel : undefined };
}

/** An exchange as its record has it; undefined when it cannot be read. */
function exchangeOf(runId: string, about: unknown): Exchange | undefined {
  if (!isRecord(about)) return undefined;
  const [from, to] = [partyOf(about["from"]), partyOf(about["to"])];
  const turns = about["turns"];
  return from && to && typeof turns === "number" ? { runId, from, to, turns: Math.min(MAX_TURNS, turns) } : undefined;
}

async function requestFor({ store }: Deps, to: Party, runId: string, message: string, about: string, from: Party): Promise<RunRequest> {
  const entry = (await store.read("sessions.get", { key: to.key }))?.entry;
  const provenance = { kind: "inter_session", sourceSessionKey: from.key, sourceChannel: from.channel, sourceTool: "sessions_send" } as const;
  // The channel that a session's turns are shown as coming from: what it is set to stays.
  return { runId, kind: "session", sessionKey: to.key, message, channel: entry?.lastChannel ?? "webchat", systemPrompt: about, provenance };
}

async function ask(deps: Deps, to: Party, runId: string, message: string, about: string, from: Party): Promise<RunOutcome | undefined> {
  const { ended } = await deps.conversation().accept(await requestFor(deps, to, runId, message, about, from));
  failpoint("exchange.asked");
  const outcome = ended ?? (await deps.conversation().outcome(runId));
  failpoint("exchange.answered");
  return outcome;
}

/** What two sessions still have to say to each other, and what the other's chat gets of it in the end. */
async function afterwards(deps: Deps, exchange: Exchange, first: string): Promise<readonly Write[]> {
  const { runId, from, to, turns } = exchange;
  let said = first;
  for (let turn = 0; turn < turns; turn += 1) {
    const [speaker, other] = turn % 2 === 0 ? [from, to] : [to, from];
    const about = `Session ${other.key} answered you. Reply ${REPLY_SKIP} when there is nothing more to say.`;
    const answer = saidIn(await ask(deps, speaker, `${runId}-${turn}`, said, about, other), REPLY_SKIP);
    if (answer === undefined) break;
    said = answer;
  }
  return announce(deps, exchange);
}

/** Lets the session say in its own chat what came of it. Gives the writes that send it. */
async function announce(deps: Deps, { runId, from, to }: Exchange): Promise<readonly Write[]> {
  const entry = (await deps.store.read("sessions.get", { key: to.key }))?.entry;
  const { channel, to: target, accountId = "default", threadId } = deliveryOf(entry) ?? {};
  if (channel === undefined || target === undefined || channel === "webchat") return [];
  if (!sendPolicy(deps.config.current, to.key, entry, channel).allowed) return [];
  const about = `Report in this chat the outcome of the exchange with the other session, if people there should know. Reply ${ANNOUNCE_SKIP} to stay silent.`;
  const text = saidIn(await ask(deps, to, `${runId}-announce`, "The exchange with the other session is over.", about, from), ANNOUNCE_SKIP);
  if (text === undefined) return [];
  const chatType = entry?.chatType === "group" || entry?.chatType === "channel" ? entry.chatType : "direct";
  const address = { channel, accountId, to: target, chatType, ...(threadId === undefined ? {} : { threadId }) } as const;
  const facts = { kind: "send", sessionKey: to.key, agentId: to.agentId, idempotencyKey: `${runId}-announce` } as const;
  return (await deps.delivery().prepare(address, [{ text }], facts)).writes;
}

/** Ends an exchange, with what is sent in the end, in one commit. */
async function end({ store, delivery }: Deps, runId: string, writes: readonly Write[]): Promise<void> {
  await store.commit([["idempotency.complete", { scope: EXCHANGES, key: runId, result: null }], ...writes]);
  failpoint("exchange.ended");
  if (writes.length > 0) delivery().kick();
}

async function toEnd(deps: Deps, exchange: Exchange): Promise<void> {
  const { runId } = exchange;
  const known = await deps.store.read("idempotency.get", { scope: EXCHANGES, key: runId });
  if (known?.state !== "running") return;
  const first = saidIn(await deps.conversation().outcome(runId), REPLY_SKIP);
  await end(deps, runId, first === undefined ? [] : await afterwards(deps, exchange, first));
}

export function sessionPost(deps: Deps): ResumablePost {
  const { store, log } = deps;
  /** Exchanges that this process follows. */
  const followed = new Set<string>();

  /** Follows an exchange to its end, once. */
  function follow(exchange: Exchange): void {
    const { runId, from, to } = exchange;
    if (followed.has(runId)) return;
    followed.add(runId);
    toEnd(deps, exchange)
      .catch(async (error: unknown) => {
        // The next process goes on with it.
        if (!(error instanceof AppError) || error.code === "UNAVAILABLE") return;
        log.warn(`an exchange between sessions ended early: ${messageOf(error)}`, { from: from.key, to: to.key });
        if (error.code !== "INTERNAL") await end(deps, runId, []);
      })
      .catch((error: unknown) => log.warn(`the end of an exchange between sessions could not be recorded: ${messageOf(error)}`, { runId }))
      .finally(() => followed.delete(runId));
  }

  return {
    async send({ runId, to, from, text, timeoutMs, signal }) {
      const about = `The message comes from session ${from.key} of agent ${from.agentId}, not from a person.`;
      const turns = Math.min(MAX_TURNS, deps.config.current.session?.agentToAgent?.maxPingPongTurns ?? MAX_TURNS);
      const record: Write = ["idempotency.begin", { scope: EXCHANGES, key: runId, payloadHash: runId, about: { from, to, turns } }];
      try {
        await deps.conversation().accept(await requestFor(deps, to, runId, text, about, from), [record]);
      } catch (error) {
        return { status: "error", error: messageOf(error) };
      }
      failpoint("exchange.accepted");
      follow({ runId, from, to, turns });
      if (timeoutMs === 0) return { status: "accepted" };
      const { promise: late, resolve } = Promise.withResolvers<SessionReply>();
      using _timer = deps.clock.after(timeoutMs, () => resolve({ status: "timeout" }));
      signal.addEventListener("abort", () => resolve({ status: "timeout" }), { once: true });
      if (signal.aborted) resolve({ status: "timeout" });
      const answer = deps.conversation().outcome(runId).then(replyOf);
      // Awaited here: the timer ends with this function.
      return await Promise.race([answer, late]).catch((error: unknown) => ({ status: "error", error: messageOf(error) }));
    },
    async resume() {
      for (const { key, about } of await store.read("idempotency.running", { scope: EXCHANGES })) {
        const exchange = exchangeOf(key, about);
        if (exchange) follow(exchange);
        else await end(deps, key, []);
      }
    },
  };
}
