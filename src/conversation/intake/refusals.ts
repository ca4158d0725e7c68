import { messageOf } from "../../base/errors.ts";
import { pairingReply } from "../../channels/index.ts";
import type { ChannelInboundResult } from "../../protocol/index.ts";
import type { Route } from "../../routing/index.ts";
import type { ConversationDeps } from "../ports.ts";
import { addressOf, pathOf, rowOf, withoutContent, type Offered } from "./inbox-row.ts";
import type { Clock } from "../../base/clock.ts";

/** How much one sender may write: so many at once, and then so many a minute. */
interface SenderBudget {
  /** False: too much. */
  take(sender: string): boolean;
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
      if (buckets.size >= MOST_SENDERS) buckets.delete(buckets.keys().next().value!);
      buckets.set(sender, { tokens: tokens < 1 ? tokens : tokens - 1, at: now });
      return tokens >= 1;
    },
  };
}

const MESSAGES = { burst: 30, perMinute: 60 };
/** Refusals that are written down, for each account. More are only counted: strangers must not fill the disk. */
const WRITTEN = { burst: 200, perMinute: 60 };
const TOLD = { burst: 1, perMinute: 1 };
/** What a stranger may ask to be let in with. */
const ASKS: ReadonlySet<string> = new Set(["message", "command", "button"]);

interface Reason {
  readonly why: string;
  readonly path?: string;
  /** A code is offered. */
  readonly pairing: boolean;
}

/** What becomes of events that are not taken. */
export interface Refusals {
  refuse(offered: Offered, route: Route, reason: Reason): Promise<ChannelInboundResult>;
  /** How many turns one sender may start has its limit. Undefined: it is kept. */
  tooMuch(offered: Offered, route: Route): Promise<ChannelInboundResult> | undefined;
  /** The same for what starts none, such as reactions and edits: refused without a word. */
  tooManyNotes(offered: Offered, route: Route): Promise<ChannelInboundResult> | undefined;
  /** Refusals that were not written down. */
  readonly uncounted: number;
}

export function createRefusals(deps: ConversationDeps): Refusals {
  const { store, clock, hooks } = deps;
  const log = deps.log.subsystem("conversation");
  const messages = createSenderBudget(clock, MESSAGES);
  const noted = createSenderBudget(clock, MESSAGES);
  const written = createSenderBudget(clock, WRITTEN);
  const told = createSenderBudget(clock, TOLD);
  let uncounted = 0;

  /** Sends a text to a sender without a turn. */
  function tell(offered: Offered, text: string): void {
    const { id, sender } = offered.event;
    const facts = { kind: "command", messageId: id, senderId: sender.id } as const;
    deps.delivery
      .send(addressOf(offered), [{ text: deps.runnable?.(text) ?? text }], facts, 0)
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
    tell(offered, pairingReply({ channel, idLine: `Your ${label}: ${event.sender.id}`, code }));
  }

  async function refuse(offered: Offered, route: Route, reason: Reason): Promise<ChannelInboundResult> {
    const { channel, accountId, event } = offered;
    const { why } = reason;
    if (written.take(`${channel}\0${accountId}`)) {
      const access = { owner: false, commandAuthorized: false, wasMentioned: false, why, ...pathOf(reason) };
      const { duplicate } = await store.write("inbox.accept", rowOf(withoutContent(offered), route, { access, settled: { outcome: "refused", why } }));
      if (duplicate) return { outcome: "refused", why };
    } else uncounted += 1;
    if (reason.pairing && ASKS.has(event.kind)) await offerPairing(offered);
    return { outcome: "refused", why };
  }

  const senderOf = ({ channel, accountId, event }: Offered): string => `${channel}\0${accountId}\0${event.sender.id}`;
  const overBudget = (what: string): Reason => ({ why: `more than ${MESSAGES.burst} ${what} at once, or ${MESSAGES.perMinute} a minute`, pairing: false });

  return {
    refuse,
    tooMuch(offered, route) {
      const sender = senderOf(offered);
      if (messages.take(sender)) return undefined;
      if (told.take(sender)) tell(offered, "That was too much at once: please wait a minute.");
      return refuse(offered, route, overBudget("messages"));
    },
    tooManyNotes: (offered, route) => (noted.take(senderOf(offered)) ? undefined : refuse(offered, route, overBudget("edits, reactions or notices"))),
    get uncounted() {
      return uncounted;
    },
  };
}
