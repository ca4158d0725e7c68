/** From a channel's event to the inbox: who may write, which agent answers, how much one sender may write. */
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { messageOf, AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { pairingReply, isStopMessage, decideAccess, type AccessGranted } from "../../channels/index.ts";
import { knownChannel, type OpenClawConfig } from "../../config/index.ts";
import {
  type ChannelInboundResult,
  agentOfKey,
  canonicalSessionKey,
  type ChannelInbound,
  type ChannelInboundEvent,
  type SessionEntry,
} from "../../protocol/index.ts";
import type { Route, RouteLocation } from "../../routing/index.ts";
import { deliveryOf } from "../../sessions/index.ts";
import { createButtonSeal } from "../button-seal.ts";
import { addressOf, boundedEvent, channelMessage, isLate, rowOf, withoutContent, type Inbound, type InboundRecord, type Offered } from "../inbound.ts";
import type { ConversationDeps } from "../ports.ts";

/** How much one sender may write: so many at once, and then so many a minute. */
interface SenderBudget {
  /** False: too much. */
  take(sender: string): boolean;
  /** What was taken counts no longer. */
  giveBack(sender: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

const MOST_SENDERS = 10_000;

/** Buckets that are full again are forgotten; of more than ten thousand that are not, the oldest go. */
function createSenderBudget(clock: Pick<Clock, "monotonic">, { burst, perMinute }: { readonly burst: number; readonly perMinute: number }): SenderBudget {
  const buckets = new Map<string, Bucket>();
  return {
    take(sender) {
      const now = clock.monotonic();
      const known = buckets.get(sender);
      const tokens = known ? Math.min(burst, known.tokens + ((now - known.at) * perMinute) / 60_000) : burst;
      buckets.delete(sender);
      const [oldest] = buckets.size >= MOST_SENDERS ? buckets.keys() : [];
      if (oldest !== undefined) buckets.delete(oldest);
      buckets.set(sender, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
      return tokens >= 1;
    },
    giveBack(sender) {
      const known = buckets.get(sender);
      if (known) known.tokens = Math.min(burst, known.tokens + 1);
    },
  };
}

const MESSAGES = { burst: 30, perMinute: 60 };
/** Refusals that are written down, for each account. More are only counted: strangers must not fill the disk. */
const WRITTEN = { burst: 200, perMinute: 60 };
const NOTIFIED = { burst: 1, perMinute: 1 };
/** What a stranger may ask to be let in with. */
const ASKS: ReadonlySet<string> = new Set(["message", "command", "button"]);

interface Reason {
  readonly why: string;
  readonly path?: string;
  /** A code is offered. */
  readonly pairing: boolean;
  /** What the sender is sent, once in a while. */
  readonly notice?: string;
}

/** What becomes of events that are not taken. */
interface Refusals {
  refuse(offered: Offered, route: Route, reason: Reason): Promise<ChannelInboundResult>;
  /** How many turns one sender may start has its limit. Undefined: it is kept. */
  tooMuch(offered: Offered, route: Route): Promise<ChannelInboundResult> | undefined;
  /** A message that a platform delivered again does not count as another one. */
  delivered(offered: Offered, result: ChannelInboundResult): ChannelInboundResult;
  /** The same for what starts none, such as reactions and edits: refused without a word. */
  tooManyNotes(offered: Offered, route: Route): Promise<ChannelInboundResult> | undefined;
  /** Refusals that were not written down. */
  readonly uncounted: number;
}

const senderOf = ({ channel, accountId, event }: Offered): string => `${channel}\0${accountId}\0${event.sender.id}`;

function createRefusals(deps: ConversationDeps): Refusals {
  const { store, clock, hooks } = deps;
  const log = deps.log.subsystem("conversation");
  const messages = createSenderBudget(clock, MESSAGES);
  const noted = createSenderBudget(clock, MESSAGES);
  const written = createSenderBudget(clock, WRITTEN);
  const notified = createSenderBudget(clock, NOTIFIED);
  let uncounted = 0;

  /** Sends a text to a sender without a turn. */
  function notify(offered: Offered, text: string, isForStranger = false): void {
    const { id, sender } = offered.event;
    const facts = { kind: "command", messageId: id, senderId: sender.id } as const;
    deps.delivery
      .send(addressOf(offered), [{ text: isForStranger ? text : (deps.runnable?.(text) ?? text) }], facts, 0)
      .catch((error: unknown) => log.warn(`a sender could not be notified: ${messageOf(error)}`));
  }

  async function offerPairing(offered: Offered): Promise<void> {
    const { channel, accountId, event } = offered;
    const { name, username } = event.sender;
    const meta = { ...(name === undefined ? {} : { name }), ...(username === undefined ? {} : { username }) };
    const { code, created } = await deps.pairing.request({ channel, accountId, senderId: event.sender.id, meta });
    if (!created || code === "") return;
    if (hooks.has("channel_pairing_requested")) {
      const asked = { channel, accountId, senderId: event.sender.id, code, metadata: { ...meta } };
      void hooks.run("channel_pairing_requested", asked, { channelId: channel, accountId });
    }
    const label = deps.channels.get(channel)?.pairing?.idLabel ?? "id";
    // How this gateway was installed is nothing that strangers need to know.
    notify(offered, pairingReply({ channel, idLine: `Your ${label}: ${event.sender.id}`, code }), true);
  }

  async function refuse(offered: Offered, route: Route, reason: Reason): Promise<ChannelInboundResult> {
    const { channel, accountId, event } = offered;
    const { why } = reason;
    const refused = { outcome: "refused", why } as const;
    if (written.take(`${channel}\0${accountId}`)) {
      const path = reason.path === undefined ? {} : { path: reason.path };
      const access = { owner: false, commandAuthorized: false, wasMentioned: false, why, ...path };
      const { duplicate } = await store.write("inbox.accept", rowOf(withoutContent(offered), route, { access, settled: { outcome: "refused", why } }));
      if (duplicate) return refused;
    } else uncounted += 1;
    if (reason.pairing && ASKS.has(event.kind)) await offerPairing(offered);
    if (reason.notice !== undefined && notified.take(senderOf(offered))) notify(offered, reason.notice);
    return refused;
  }

  const overBudget = (what: string): Reason => ({ why: `more than ${MESSAGES.burst} ${what} at once, or ${MESSAGES.perMinute} a minute`, pairing: false });

  return {
    refuse,
    tooMuch(offered, route) {
      if (messages.take(senderOf(offered))) return undefined;
      return refuse(offered, route, { ...overBudget("messages"), notice: "Too many messages at once: please wait a minute." });
    },
    delivered(offered, result) {
      if (result.outcome === "accepted" && result.duplicate) messages.giveBack(senderOf(offered));
      return result;
    },
    tooManyNotes(offered, route) {
      return noted.take(senderOf(offered)) ? undefined : refuse(offered, route, overBudget("edits, reactions or notices"));
    },
    get uncounted() {
      return uncounted;
    },
  };
}

/** Where an event happened, as bindings are compared with it. A direct chat is identified by its sender. */
function routeLocation(channel: string, accountId: string, { chat, sender }: ChannelInboundEvent): RouteLocation {
  const { type, id, threadId, parentId, guildId, teamId } = chat;
  return {
    channel,
    accountId,
    peer: { kind: type, id: type === "direct" ? sender.id : id },
    ...(threadId === undefined ? {} : { threadId }),
    ...(parentId === undefined ? {} : { parentPeer: { kind: type, id: parentId } }),
    ...(guildId === undefined ? {} : { guildId }),
    ...(teamId === undefined ? {} : { teamId }),
    ...(sender.roles === undefined ? {} : { roles: sender.roles }),
  };
}

const MAX_SAID = 500;

/** Other people's words inside of one of our lines: quoted, on one line, and short. */
const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_SAID).toWellFormed());

/** The note for the session's next turn about an event that was no message. */
function noticeText(channel: string, { kind, id, chat, sender, text, replyTo }: ChannelInboundEvent): string {
  const where = `${channel} ${chat.type} ${quoted(chat.id)}`;
  const who = `sender ${quoted(sender.id)}`;
  const what = replyTo?.id ?? id;
  if (kind === "edit") return `${where}: ${who} edited message ${quoted(what)}; it now says (untrusted) ${quoted(text)}`;
  if (kind === "reaction") return `${where}: ${who} reacted to message ${quoted(what)} with ${quoted(text)}`;
  if (kind === "member") return `${where}: members changed (${who}): ${quoted(text)}`;
  return `${where}: ${quoted(text)}`;
}

/** A recording without words beside it. */
const isVoiceNote = ({ kind, text, media }: ChannelInboundEvent): boolean =>
  kind === "message" && text.trim() === "" && media?.some((file) => file.kind === "audio" || file.mimeType?.startsWith("audio/")) === true;

/** Inputs without an end, over all chats, before channels have to wait. */
const MAX_OPEN = 5000;
/** What is answered; everything else is kept for the session's next turn. */
const ANSWERED: ReadonlySet<string> = new Set(["message", "command", "button"]);

export interface Intake {
  /** What an account of a channel hands its events to. */
  inbound(channel: string, accountId: string): ChannelInbound;
  /** Takes an event whose gate its plugin has passed already. `live` waits for the replies to each input that it becomes. */
  acceptJudged(asked: Offered, verdict: AccessGranted, context: InboundRecord["context"], live?: Inbound["live"]): Promise<ChannelInboundResult>;
  /** Nothing is taken any more. */
  close(): void;
  /** Refusals that were not written down. */
  readonly uncounted: number;
}

interface IntakePorts {
  /** An input is on disk. */
  accepted(inbound: Inbound): void;
  /** Inputs that have no end yet. */
  open(): number;
}

/** An event and who answers it. */
interface Routed extends Offered {
  readonly route: Route;
}

/** An event that was let in, on its way to the disk. */
interface Admitted extends Routed {
  readonly verdict: AccessGranted;
  /** Whether it starts a turn is decided when its recording has been heard. */
  readonly unlessUnnamed?: boolean;
  readonly context?: InboundRecord["context"];
  readonly live?: Inbound["live"];
}

/** Puts messages on disk and hands them on. One that several agents answer is an input for each. */
function createTaking({ store, clock }: ConversationDeps, accepted: IntakePorts["accepted"]) {
  return async (admitted: Admitted): Promise<ChannelInboundResult> => {
    const { route, verdict, context, live } = admitted;
    const { owner, commandAuthorized, wasMentioned, requireMention, why, path, trigger } = verdict;
    const heard = admitted.unlessUnnamed ? ({ wasMentioned: true, unlessUnnamed: true } as const) : { wasMentioned };
    const access = { owner, commandAuthorized, ...heard, requireMention, why, ...(path === undefined ? {} : { path }) };
    const more = { access, ...(trigger ? {} : { settled: { outcome: "silent", why } as const }), ...(context ? { context } : {}) };
    const rows = (route.broadcast?.agents ?? [route]).map(({ sessionKey, agentId }) => {
      const row = rowOf(admitted, { ...route, sessionKey, agentId }, more);
      return route.broadcast ? { ...row, messageId: `${row.messageId}@${agentId}` } : row;
    });
    const results = await store.commit(rows.map((row) => ["inbox.accept", row] as const));
    failpoint("inbox.committed");
    const receivedAt = clock.now();
    for (const [at, row] of rows.entries()) {
      const { id, duplicate } = results[at] ?? { id: 0, duplicate: true };
      if (duplicate || !trigger) continue;
      live?.begun(id);
      accepted({ ...channelMessage(row, id, receivedAt), live });
    }
    return { outcome: "accepted", duplicate: results.every(({ duplicate }) => duplicate) };
  };
}

/** Events that wait in one session; of more the oldest go. */
const MAX_NOTES = 20;

/** An event that is no message goes to the session's next turn, once. */
function createNoting({ store, ids }: ConversationDeps) {
  return async (offered: Offered, route: Route): Promise<ChannelInboundResult> => {
    const row = rowOf(offered, route, { settled: { outcome: "silent", why: "added to the session's next turn" } });
    const idempotencyKey = `${row.channel}:${row.account}:${row.conversation}:${row.messageId}`;
    const text = noticeText(offered.channel, offered.event);
    await store.commit([
      ["inbox.accept", row],
      [
        "injections.add",
        { id: ids.uuid(), sessionKey: route.sessionKey, pluginId: "openclaw", placement: "system-event", text, idempotencyKey, most: MAX_NOTES },
      ],
    ]);
    return { outcome: "noted" };
  };
}

export function createIntake(deps: ConversationDeps, { accepted, open }: IntakePorts): Intake {
  const { store, config } = deps;
  const refusals = createRefusals(deps);
  const { refuse, tooMuch, tooManyNotes, delivered } = refusals;
  const take = createTaking(deps, accepted);
  const note = createNoting(deps);
  const seal = createButtonSeal(deps);
  let closed = false;

  /** Refuses before anything is taken; else gives the event inside its bounds, and who answers it. */
  function begin(channel: string, accountId: string, raw: ChannelInboundEvent): Routed {
    if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; deliver it again after the restart");
    if (open() >= MAX_OPEN)
      throw new AppError("OVERLOADED", `${open()} messages are waiting; deliver it again in a second`, { details: { retryAfterMs: 1000 } });
    const event = boundedEvent(raw);
    return { channel, accountId, event, route: deps.routing.resolveRoute({ config: config.current, ...routeLocation(channel, accountId, event) }) };
  }

  /** The event in its session, with what a group's members chose with `/activation`. */
  async function inSession(offered: Routed): Promise<{ readonly offered: Routed; readonly activation?: "mention" | "always" }> {
    if (offered.event.chat.type === "direct") return { offered };
    const found = await store.read("sessions.get", { key: offered.route.sessionKey });
    const own = apart(offered, found?.entry);
    const session = own === offered ? found : await store.read("sessions.get", { key: own.route.sessionKey });
    const activation = session?.entry["groupActivation"];
    return { offered: own, ...(activation === "mention" || activation === "always" ? { activation } : {}) };
  }

  /** A button that the gateway made gives its command; what any other says is text. */
  async function pressed(event: ChannelInboundEvent): Promise<ChannelInboundEvent> {
    const command = event.kind === "button" && typeof event.text === "string" ? await seal.open(event.text) : undefined;
    return command === undefined ? event : { ...event, kind: "command", text: command };
  }

  /** Only what would start a turn counts: not what is said in a group to others, not a back-log, which is merged, and never a stop. */
  function limited(offered: Routed, { trigger }: AccessGranted): Promise<ChannelInboundResult> | undefined {
    const { event, route } = offered;
    const isStop = event.kind !== "button" && isStopMessage(event.text);
    const counts = trigger && !isLate(event, deps.clock.now()) && !isStop;
    return counts ? tooMuch(offered, route) : undefined;
  }

  return {
    inbound: (channel, accountId) => ({
      async accept(raw) {
        const { offered, ...activation } = await inSession(begin(channel, accountId, await pressed(raw)));
        const { route, event } = offered;
        const plugin = deps.channels.get(channel);
        const approved = deps.allowLists.get(channel, accountId);
        const verdict = decideAccess({ cfg: config.current, plugin, channel, accountId, event, approved, agentId: route.agentId, ...activation });
        if (!verdict.allow) return refuse(offered, route, verdict);
        if (!ANSWERED.has(event.kind)) return tooManyNotes(offered, route) ?? note(offered, route);
        const unlessUnnamed = deps.transcribe !== undefined && verdict.reason === "not-mentioned" && isVoiceNote(event);
        const judged = unlessUnnamed ? { ...verdict, trigger: true } : verdict;
        const admitted = { ...inOwnSession(offered, config.current), verdict: judged, unlessUnnamed };
        return limited(offered, judged) ?? delivered(offered, await take(admitted));
      },
    }),
    async acceptJudged({ channel, accountId, event }, verdict, context, live) {
      const offered = begin(channel, accountId, event);
      const route = context?.SessionKey ? chosenRoute(offered.route, context.SessionKey, config.current) : offered.route;
      return limited({ ...offered, route }, verdict) ?? take({ ...offered, route, verdict, context, live });
    },
    close() {
      closed = true;
    },
    get uncounted() {
      return refusals.uncounted;
    },
  };
}

/** Session keys are lower-cased: of two chats whose ids differ in nothing but case, the one that came later has its own mark in its key. */
function apart(offered: Routed, entry: SessionEntry | undefined): Routed {
  const { channel, event, route } = offered;
  const to = knownChannel(channel).casedChats === true ? deliveryOf(entry)?.to : undefined;
  if (to === undefined || to === event.to || to.toLowerCase() !== event.to.toLowerCase()) return offered;
  return { ...offered, route: { ...route, sessionKey: `${route.sessionKey}%~${createHash("sha256").update(event.chat.id).digest("hex").slice(0, 16)}` } };
}

/** An event may have a session of its own, such as a command whose answer only one person sees. Commands act on that of its chat all the same. */
function inOwnSession<T extends Routed>(offered: T, config: OpenClawConfig): T {
  const { context } = offered.event;
  if (context?.SessionKey === undefined) return offered;
  const route = chosenRoute(offered.route, context.SessionKey, config);
  const own = { ...context, SessionKey: route.sessionKey, CommandTargetSessionKey: offered.route.sessionKey };
  return { ...offered, route, event: { ...offered.event, context: own } };
}

/** Choosing the session is choosing the agent that answers. A key that can mean no session changes nothing. */
function chosenRoute(route: Route, written: string, { session }: OpenClawConfig): Route {
  const { broadcast: _, ...single } = route;
  const naming = { defaultAgentId: route.agentId, mainKey: "main" };
  const own = canonicalSessionKey(written, naming);
  if (own === undefined) return single;
  // Where all main sessions are one, whose it was written as still answers.
  const sessionKey = canonicalSessionKey(written, { ...naming, scope: session?.scope ?? "per-sender" }) ?? own;
  return { ...single, sessionKey, agentId: agentOfKey(own, naming) };
}
