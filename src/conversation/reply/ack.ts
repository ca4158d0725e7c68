/** The reaction on a message that shows its sender that it was seen. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import {
  channelSections,
  resolveAckReaction,
  sectionOf,
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionScope,
} from "../../channels/index.ts";
import type { ChannelReactionAdapter, HostConfig } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { Inbound } from "../inbound.ts";
import type { ConversationDeps } from "../ports.ts";
import { classifyFailure } from "../send-failure.ts";

/** What decides about the reaction on one message. */
export interface AckFacts {
  readonly cfg: HostConfig;
  readonly agentId: string;
  readonly address: Pick<ReplyAddress, "channel" | "accountId" | "chatType">;
  readonly requireMention: boolean;
  readonly canDetectMention: boolean;
  readonly wasMentioned: boolean;
  /** A command that needed no mention. */
  readonly bypassedMention?: boolean;
  /** The group is answered without a mention. */
  readonly groupActivated?: boolean;
}

/** The emoji that is set on a message; undefined for none. */
export function ackReactionFor(facts: AckFacts): string | undefined {
  const { cfg, agentId, address, wasMentioned } = facts;
  const isDirect = address.chatType === "direct";
  for (const section of channelSections(cfg, address.channel, address.accountId)) {
    const own = sectionOf(section["ackReaction"]);
    if (own) return ownRule(facts, own, isDirect);
  }
  const wanted = shouldAckReaction({
    scope: cfg.messages?.["ackReactionScope"] as AckReactionScope | undefined,
    isDirect,
    isGroup: !isDirect,
    isMentionableGroup: !isDirect,
    requireMention: facts.requireMention,
    canDetectMention: facts.canDetectMention,
    effectiveWasMentioned: wasMentioned,
    shouldBypassMention: facts.bypassedMention,
  });
  return wanted ? resolveAckReaction(cfg, agentId, address) || undefined : undefined;
}

/** WhatsApp's object: an emoji, and where it is set. */
function ownRule({ wasMentioned, groupActivated = false }: AckFacts, own: Readonly<Record<string, unknown>>, isDirect: boolean): string | undefined {
  const emoji = typeof own["emoji"] === "string" ? own["emoji"].trim() : "";
  const group = own["group"];
  const groupMode = group === "always" || group === "never" ? group : "mentions";
  const wanted = shouldAckReactionForWhatsApp({
    emoji,
    isDirect,
    isGroup: !isDirect,
    directEnabled: own["direct"] !== false,
    groupMode,
    wasMentioned,
    groupActivated,
  });
  return wanted ? emoji : undefined;
}

interface AckReaction {
  /** The answer is out: it is taken away, where `messages.removeAckAfterReply` says so. */
  replied(): Promise<void>;
}

interface AckReactionDeps {
  readonly adapter: ChannelReactionAdapter | undefined;
  readonly cfg: HostConfig;
  readonly address: ReplyAddress;
  readonly messageId: string;
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
}

const MAX_TRIES = 4;
const MAX_WAIT_MS = 60_000;

/** One change of the reaction. A platform that asks to wait is asked again when the time has passed, a few times. */
async function change(sign: string, { adapter, cfg, address: { accountId, to, channel }, messageId, clock, log }: AckReactionDeps): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await adapter?.set({ cfg, accountId, to, messageId, emoji: sign });
      return true;
    } catch (error) {
      const { retryAfterMs } = classifyFailure(error);
      if (retryAfterMs === undefined || retryAfterMs > MAX_WAIT_MS || tries === MAX_TRIES) {
        log.debug(`a reaction could not be ${sign === "" ? "removed" : "set"}: ${messageOf(error)}`, { channel, tries });
        return false;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      clock.after(retryAfterMs, resolve);
      await promise;
    }
  }
}

/** A reaction that is there, or about to be. */
function ackReaction(deps: AckReactionDeps, there: Promise<boolean> = Promise.resolve(true)): AckReaction {
  return {
    async replied() {
      if (deps.adapter && deps.cfg.messages?.["removeAckAfterReply"] === true && (await there)) await change("", deps);
    },
  };
}

/** Sets the reaction, not waited for. A failure changes nothing else. */
export function setAckReaction({ emoji, ...deps }: AckReactionDeps & { readonly emoji: string | undefined }): AckReaction {
  if (!deps.adapter || emoji === undefined) return { replied: () => Promise.resolve() };
  return ackReaction(deps, change(emoji, deps));
}

/** Sets the reaction that a message was seen, where the configuration wants that. Not waited for. */
export function markSeen({ channels, config, clock, log }: ConversationDeps, { channel, address, event, access, agentId }: Inbound): AckReaction | undefined {
  const cfg = config.current;
  const emoji = ackReactionFor({
    cfg,
    agentId,
    address,
    requireMention: access.requireMention === true,
    canDetectMention: event.mention?.canDetect !== false,
    wasMentioned: access.wasMentioned,
  });
  if (emoji === undefined) return undefined;
  return setAckReaction({ adapter: channels.get(channel)?.reactions, cfg, address, messageId: event.id, emoji, clock, log });
}

/** Removes the reaction that a previous process set on a message. */
export async function removeEarlierAck({ channels, config, clock, log }: ConversationDeps, { channel, address, event }: Inbound): Promise<void> {
  await ackReaction({ adapter: channels.get(channel)?.reactions, cfg: config.current, address, messageId: event.id, clock, log }).replied();
}
