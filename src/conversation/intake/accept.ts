import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { judge, pairingReply, type AccessGranted } from "../../channels/index.ts";
import type { ChannelInbound, ChannelInboundEvent, ChannelInboundResult } from "../../protocol/index.ts";
import type { Route } from "../../routing/index.ts";
import type { InboxInput } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { ConversationDeps } from "../ports.ts";
import { boundedEvent } from "./event-bounds.ts";
import { inboundOf, type Inbound, type InboundRecord } from "./inbound-record.ts";
import { noticeText } from "./notices.ts";
import { conversationOf, routePlace } from "./route-place.ts";
import { createSenderBudget } from "./sender-budget.ts";

/** Inputs without an end, over all chats, before channels are told to wait. */
const MAX_OPEN = 5000;
const MESSAGES = { burst: 30, perMinute: 60 };
/** Refusals that are written down, for each account. More are only counted: strangers must not fill the disk. */
const REFUSALS = { burst: 200, perMinute: 60 };
const TOLD = { burst: 1, perMinute: 1 };
/** What is answered; everything else is kept for the session's next turn. */
const ANSWERED: ReadonlySet<string> = new Set(["message", "command", "button"]);

export interface Intake {
  /** What an account of a channel hands its events to. */
  inbound(channel: string, accountId: string): ChannelInbound;
  /** Takes an event whose gate its plugin has passed already. `began` is told of each input that it becomes, on disk and not yet treated. */
  acceptJudged(
    asked: Offered,
    verdict: AccessGranted,
    context: InboundRecord["context"],
    began?: (inboxId: number) => void,
  ): Promise<ChannelInboundResult>;
  /** Nothing is taken any more. */
  close(): void;
  /** Refusals that were not written down. */
  readonly uncounted: number;
}

interface Offered {
  readonly channel: string;
  readonly accountId: string;
  readonly event: ChannelInboundEvent;
}

interface IntakePorts {
  /** An input is on disk. */
  accepted(inbound: Inbound): void;
  /** Inputs that have no end yet. */
  open(): number;
}

export function createIntake(deps: ConversationDeps, { accepted, open }: IntakePorts): Intake {
  const { store, config, clock } = deps;
  const log = deps.log.room("conversation");
  const messages = createSenderBudget(clock, MESSAGES);
  const refusals = createSenderBudget(clock, REFUSALS);
  const told = createSenderBudget(clock, TOLD);
  let closed = false;
  let uncounted = 0;

  function checkRoom(): void {
    if (closed) throw new AppError("UNAVAILABLE", "the gateway is stopping; offer it again after the restart");
    if (open() >= MAX_OPEN) throw new AppError("OVERLOADED", `${open()} messages wait; offer it again in a second`, { details: { retryAfterMs: 1000 } });
  }

  async function refuse(offered: Offered, route: Route, reason: { readonly why: string; readonly path?: string; readonly pairing: boolean }): Promise<ChannelInboundResult> {
    const { channel, accountId, event } = offered;
    if (refusals.take(`${channel}\0${accountId}`)) {
      // Of a stranger's message nothing is kept but that it came.
      const access = { owner: false, commandAuthorized: false, wasMentioned: false, why: reason.why, ...pathOf(reason) };
      const row = rowOf({ ...offered, event: { ...event, text: "" } }, route, { access, settled: { outcome: "refused", why: reason.why } });
      const { duplicate } = await store.write("inbox.accept", row);
      if (duplicate) return { outcome: "refused", why: reason.why };
    } else uncounted += 1;
    if (reason.pairing && ANSWERED.has(event.kind)) await offerPairing(offered);
    return { outcome: "refused", why: reason.why };
  }

  async function offerPairing(offered: Offered): Promise<void> {
    const { channel, accountId, event } = offered;
    const { name, username } = event.sender;
    const meta = { ...(name === undefined ? {} : { name }), ...(username === undefined ? {} : { username }) };
    const { code, created } = await deps.pairing.request({ channel, accountId, senderId: event.sender.id, meta });
    if (!created || code === "") return;
    if (deps.hooks.has("channel_pairing_requested")) {
      const asked = { channel, accountId, senderId: event.sender.id, code, metadata: { ...meta } };
      void deps.hooks.run("channel_pairing_requested", asked, { channelId: channel, accountId });
    }
    const label = deps.channels.get(channel)?.pairing?.idLabel ?? "id";
    tell(offered, pairingReply({ channel, idLine: `Your ${label}: ${event.sender.id}`, code }));
  }

  /** Says something to somebody without a turn. */
  function tell(offered: Offered, text: string): void {
    const { id, sender } = offered.event;
    const facts = { kind: "command", messageId: id, senderId: sender.id } as const;
    deps.delivery.send(addressOf(offered), [{ text }], facts, 0).catch((error: unknown) => log.warn(`a sender could not be told: ${messageOf(error)}`));
  }

  /** What is no message is told to the session's next turn, once. */
  async function note(offered: Offered, route: Route): Promise<ChannelInboundResult> {
    const row = rowOf(offered, route, { settled: { outcome: "silent", why: "kept for the session's next turn" } });
    const idempotencyKey = `${row.channel}:${row.account}:${row.conversation}:${row.messageId}`;
    const text = noticeText(offered.channel, offered.event);
    await store.commit([
      ["inbox.accept", row],
      [
        "injections.add",
        { id: deps.ids.uuid(), sessionKey: route.sessionKey, pluginId: "openclaw", placement: "system-event", text, idempotencyKey },
      ],
    ]);
    return { outcome: "noted" };
  }

  async function take(offered: Offered, route: Route, verdict: Parameters<Intake["acceptJudged"]>[1], context?: InboundRecord["context"], began?: (inboxId: number) => void) {
    const { owner, commandAuthorized, wasMentioned, requireMention, why, trigger } = verdict;
    const settled = trigger ? {} : { settled: { outcome: "silent", why } as const };
    const access = { owner, commandAuthorized, wasMentioned, requireMention, why, ...pathOf(verdict) };
    const targets = route.broadcast?.agents ?? [route];
    const rows = targets.map(({ sessionKey, agentId }) => {
      const own = { ...route, sessionKey, agentId };
      const row = rowOf(offered, own, { access, ...settled, ...(context ? { context } : {}) });
      return route.broadcast ? { ...row, messageId: `${row.messageId}@${agentId}` } : row;
    });
    const results = await store.commit(rows.map((row) => ["inbox.accept", row] as const));
    failpoint("inbox.committed");
    const receivedAt = clock.now();
    for (const [at, result] of results.entries()) {
      if (result.duplicate || !trigger) continue;
      began?.(result.id);
      accepted(inboundOf({ ...EMPTY_ROW, ...rows[at]!, id: result.id, receivedAt } as never)!);
    }
    return { outcome: "accepted", duplicate: results.every(({ duplicate }) => duplicate) } as const;
  }

  async function activationOf(route: Route, { chat }: ChannelInboundEvent): Promise<"mention" | "always" | undefined> {
    if (chat.type === "direct") return undefined;
    const mode = (await store.read("sessions.get", { key: route.sessionKey }))?.entry["groupActivation"];
    return mode === "mention" || mode === "always" ? mode : undefined;
  }

  async function accept(channel: string, accountId: string, raw: ChannelInboundEvent): Promise<ChannelInboundResult> {
    checkRoom();
    const event = boundedEvent(raw);
    const offered: Offered = { channel, accountId, event };
    const cfg = config.current;
    const route = deps.routing.resolveRoute({ config: cfg, ...routePlace(channel, accountId, event) });
    const activation = await activationOf(route, event);
    const plugin = deps.channels.get(channel);
    const approved = deps.allowLists.get(channel, accountId);
    const verdict = judge({ cfg, plugin, channel, accountId, event, approved, agentId: route.agentId, ...(activation ? { activation } : {}) });
    if (!verdict.allow) return refuse(offered, route, verdict);
    if (!messages.take(`${channel}\0${accountId}\0${event.sender.id}`)) {
      const why = `more than ${MESSAGES.burst} messages at once, or ${MESSAGES.perMinute} a minute`;
      if (told.take(`${channel}\0${accountId}\0${event.sender.id}`)) tell(offered, "That was too much at once: please wait a minute.");
      return refuse(offered, route, { why, pairing: false });
    }
    return ANSWERED.has(event.kind) ? take(offered, route, verdict) : note(offered, route);
  }

  return {
    inbound: (channel, accountId) => ({ accept: (event) => accept(channel, accountId, event) }),
    async acceptJudged({ channel, accountId, event: raw }, verdict, context, began) {
      checkRoom();
      const event = boundedEvent(raw);
      const route = deps.routing.resolveRoute({ config: config.current, ...routePlace(channel, accountId, event) });
      if (!context?.SessionKey) return take({ channel, accountId, event }, route, verdict, context, began);
      // Whoever chose the session chose the one who answers.
      const { broadcast: _, ...single } = route;
      const own: Route = { ...single, sessionKey: context.SessionKey, agentId: agentOf(context.SessionKey) ?? route.agentId };
      return take({ channel, accountId, event }, own, verdict, context, began);
    },
    close() {
      closed = true;
    },
    get uncounted() {
      return uncounted;
    },
  };
}

const pathOf = ({ path }: { readonly path?: string }): { readonly path?: string } => (path === undefined ? {} : { path });

const agentOf = (key: string): string | undefined => /^agent:([^:]+):/.exec(key)?.[1];

const EMPTY_ROW = { state: "pending", outcome: null, why: null, turnId: null, claimedAt: null, settledAt: null } as const;

function addressOf({ channel, accountId, event }: Offered): ReplyAddress {
  const { chat, to, id, kind } = event;
  return {
    channel,
    accountId,
    to,
    chatType: chat.type,
    ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }),
    ...(kind === "message" ? { replyToId: id } : {}),
  };
}

function rowOf(
  offered: Offered,
  route: Pick<Route, "sessionKey" | "agentId" | "matchedBy" | "binding">,
  more: Pick<InboxInput, "settled"> & Partial<Pick<InboundRecord, "access" | "context">>,
): InboxInput {
  const { channel, accountId, event } = offered;
  const { text, ...rest } = event;
  const access = more.access ?? { owner: false, commandAuthorized: false, wasMentioned: false, why: more.settled?.why ?? "" };
  const record: InboundRecord = {
    kind: "channel",
    event: rest,
    access,
    address: addressOf(offered),
    route: { matchedBy: route.matchedBy, ...(route.binding ? { path: route.binding.path } : {}) },
    ...(more.context ? { context: more.context } : {}),
  };
  return {
    channel,
    account: accountId,
    conversation: conversationOf(event),
    messageId: event.kind === "message" ? event.id : `${event.kind}:${event.id}`,
    kind: event.kind,
    text,
    payload: record,
    sender: event.sender.id,
    sessionKey: route.sessionKey,
    agentId: route.agentId,
    settled: more.settled,
  };
}
