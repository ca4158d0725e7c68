import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { isStopMessage, decideAccess, type AccessGranted } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { agentOfKey, canonicalSessionKey, type ChannelInbound, type ChannelInboundEvent, type ChannelInboundResult } from "../../protocol/index.ts";
import type { Route, RouteLocation } from "../../routing/index.ts";
import { isLate, type Inbound, type InboundRecord } from "../inbound.ts";
import type { ConversationDeps } from "../ports.ts";
import { boundedEvent } from "./event-bounds.ts";
import { acceptedInput, accessOf, rowOf, type Offered } from "./inbox-row.ts";
import { createRefusals } from "./refusals.ts";

/** Where an event happened, as bindings are compared with it. A direct chat is whom it is with. */
function routePlace(channel: string, accountId: string, { chat, sender }: ChannelInboundEvent): RouteLocation {
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
  if (kind === "member") return `${where}: the members changed (${who}): ${quoted(text)}`;
  return `${where}: ${quoted(text)}`;
}

/** Inputs without an end, over all chats, before channels are told to wait. */
const MAX_OPEN = 5000;
/** What is answered; everything else is kept for the session's next turn. */
const ANSWERED: ReadonlySet<string> = new Set(["message", "command", "button"]);

export interface Intake {
  /** What an account of a channel hands its events to. */
  inbound(channel: string, accountId: string): ChannelInbound;
  /** Takes an event whose gate its plugin has passed already. `began` is called with each input that it becomes, on disk and not yet treated. */
  acceptJudged(asked: Offered, verdict: AccessGranted, context: InboundRecord["context"], began?: (inboxId: number) => void): Promise<ChannelInboundResult>;
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

/** An event that was let in, on its way to the disk. */
interface Admitted extends Offered {
  readonly route: Route;
  readonly verdict: AccessGranted;
  readonly context?: InboundRecord["context"];
  readonly began?: ((inboxId: number) => void) | undefined;
}

/** Puts messages on disk and hands them on. One that several agents answer is an input for each. */
function createTaking({ store, clock }: ConversationDeps, accepted: IntakePorts["accepted"]) {
  return async (admitted: Admitted): Promise<ChannelInboundResult> => {
    const { route, verdict, context, began } = admitted;
    const { why, trigger } = verdict;
    const more = { access: accessOf(verdict), ...(trigger ? {} : { settled: { outcome: "silent", why } as const }), ...(context ? { context } : {}) };
    const rows = (route.broadcast?.agents ?? [route]).map(({ sessionKey, agentId }) => {
      const row = rowOf(admitted, { ...route, sessionKey, agentId }, more);
      return route.broadcast ? { ...row, messageId: `${row.messageId}@${agentId}` } : row;
    });
    const results = await store.commit(rows.map((row) => ["inbox.accept", row] as const));
    failpoint("inbox.committed");
    const receivedAt = clock.now();
    for (const [at, { id, duplicate }] of results.entries()) {
      if (duplicate || !trigger) continue;
      began?.(id);
      accepted(acceptedInput(rows[at]!, id, receivedAt));
    }
    return { outcome: "accepted", duplicate: results.every(({ duplicate }) => duplicate) };
  };
}

/** An event that is no message goes to the session's next turn, once. */
function createNoting({ store, ids }: ConversationDeps) {
  return async (offered: Offered, route: Route): Promise<ChannelInboundResult> => {
    const row = rowOf(offered, route, { settled: { outcome: "silent", why: "kept for the session's next turn" } });
    const idempotencyKey = `${row.channel}:${row.account}:${row.conversation}:${row.messageId}`;
    const text = noticeText(offered.channel, offered.event);
    await store.commit([
      ["inbox.accept", row],
      ["injections.add", { id: ids.uuid(), sessionKey: route.sessionKey, pluginId: "openclaw", placement: "system-event", text, idempotencyKey }],
    ]);
    return { outcome: "noted" };
  };
}

export function createIntake(deps: ConversationDeps, { accepted, open }: IntakePorts): Intake {
  const { store, config } = deps;
  const refusals = createRefusals(deps);
  const { refuse, tooMuch, tooManyNotes } = refusals;
  const take = createTaking(deps, accepted);
  const note = createNoting(deps);
  let closed = false;

  /** Refuses before anything is taken; else gives the event inside its bounds, and who answers it. */
  function begin(channel: string, accountId: string, raw: ChannelInboundEvent): Offered & { readonly route: Route } {
    if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; offer it again after the restart");
    if (open() >= MAX_OPEN) throw new AppError("OVERLOADED", `${open()} messages wait; offer it again in a second`, { details: { retryAfterMs: 1000 } });
    const event = boundedEvent(raw);
    return { channel, accountId, event, route: deps.routing.resolveRoute({ config: config.current, ...routePlace(channel, accountId, event) }) };
  }

  async function activationOf(route: Route, { chat }: ChannelInboundEvent): Promise<{ readonly activation?: "mention" | "always" }> {
    if (chat.type === "direct") return {};
    const activation = (await store.read("sessions.get", { key: route.sessionKey }))?.entry["groupActivation"];
    return activation === "mention" || activation === "always" ? { activation } : {};
  }

  async function accept(channel: string, accountId: string, raw: ChannelInboundEvent): Promise<ChannelInboundResult> {
    const offered = begin(channel, accountId, raw);
    const { route, event } = offered;
    const plugin = deps.channels.get(channel);
    const approved = deps.allowLists.get(channel, accountId);
    const activation = await activationOf(route, event);
    const verdict = decideAccess({ cfg: config.current, plugin, channel, accountId, event, approved, agentId: route.agentId, ...activation });
    if (!verdict.allow) return refuse(offered, route, verdict);
    if (!ANSWERED.has(event.kind)) return tooManyNotes(offered, route) ?? note(offered, route);
    return limited(offered, verdict) ?? take({ ...offered, verdict });
  }

  /** Only what would start a turn counts: not what is said in a group to others, not a back-log, which is merged, and never a stop. */
  function limited(offered: Offered & { readonly route: Route }, { trigger }: AccessGranted): Promise<ChannelInboundResult> | undefined {
    const { event, route } = offered;
    const counts = trigger && !isLate(event, deps.clock.now()) && !isStopMessage(event.text);
    return counts ? tooMuch(offered, route) : undefined;
  }

  return {
    inbound: (channel, accountId) => ({ accept: (event) => accept(channel, accountId, event) }),
    async acceptJudged({ channel, accountId, event }, verdict, context, began) {
      const offered = begin(channel, accountId, event);
      const route = context?.SessionKey ? chosenRoute(offered.route, context.SessionKey, config.current) : offered.route;
      return limited({ ...offered, route }, verdict) ?? take({ ...offered, route, verdict, context, began });
    },
    close() {
      closed = true;
    },
    get uncounted() {
      return refusals.uncounted;
    },
  };
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
