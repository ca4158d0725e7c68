import type { ConversationDeps } from "../ports.ts";
import type { Inbound } from "../inbound.ts";

/** Puts a sign on a message that it was seen, where the configuration wants that. Not waited for. */
export async function markSeen(deps: ConversationDeps, { channel, address, event, access, agentId }: Inbound): Promise<{ replied(): void } | undefined> {
  const adapter = deps.channels.get(channel)?.reactions;
  if (!adapter || event.kind !== "message") return undefined;
  const { ackReactionFor, setAckReaction } = await import("../reply/index.ts");
  const cfg = deps.config.current;
  const emoji = ackReactionFor({
    cfg,
    agentId,
    address,
    requireMention: access.requireMention === true,
    canDetectMention: event.mention?.canDetect !== false,
    wasMentioned: access.wasMentioned,
  });
  return emoji === undefined ? undefined : setAckReaction({ adapter, cfg, address, messageId: event.id, emoji, clock: deps.clock, log: deps.log });
}

/** The sign that a previous process put on a message. */
export function seenBefore(deps: ConversationDeps, { channel, address, event }: Inbound): { replied(): void } {
  const { clock, log, config, channels } = deps;
  const remove = async (): Promise<void> => {
    const { ackReaction } = await import("../reply/index.ts");
    await ackReaction({ adapter: channels.get(channel)?.reactions, cfg: config.current, address, messageId: event.id, clock, log }).replied();
  };
  return { replied: () => void remove().catch((error: unknown) => log.debug("a reaction could not be removed", { channel, error })) };
}
