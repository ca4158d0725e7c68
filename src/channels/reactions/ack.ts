/** The acknowledgement reaction: which one, and on which messages. */
import type { HostConfig } from "../../protocol/index.ts";
import { agentIdentity, messageSetting, type MessageScope } from "../sections.ts";

export type AckReactionScope = "all" | "direct" | "group-all" | "group-mentions" | "off" | "none";
export type WhatsAppAckReactionMode = "always" | "mentions" | "never";

export interface AckReactionGateParams {
  /** Default `group-mentions`. */
  scope?: AckReactionScope | undefined;
  isDirect: boolean;
  isGroup: boolean;
  isMentionableGroup: boolean;
  requireMention: boolean;
  canDetectMention: boolean;
  effectiveWasMentioned: boolean;
  shouldBypassMention?: boolean | undefined;
}

/** Whether a message is acknowledged with a reaction. */
export function shouldAckReaction(params: AckReactionGateParams): boolean {
  switch (params.scope ?? "group-mentions") {
    case "all":
      return true;
    case "direct":
      return params.isDirect;
    case "group-all":
      return params.isGroup;
    case "group-mentions":
      return (
        params.isMentionableGroup && params.requireMention && params.canDetectMention && (params.effectiveWasMentioned || params.shouldBypassMention === true)
      );
    default:
      return false;
  }
}

/** The same by WhatsApp's own settings. */
export function shouldAckReactionForWhatsApp(params: {
  emoji: string;
  isDirect: boolean;
  isGroup: boolean;
  directEnabled: boolean;
  groupMode: WhatsAppAckReactionMode;
  wasMentioned: boolean;
  groupActivated: boolean;
}): boolean {
  if (!params.emoji) return false;
  if (params.isDirect) return params.directEnabled;
  if (!params.isGroup || params.groupMode === "never") return false;
  return params.groupMode === "always" || params.wasMentioned || params.groupActivated;
}

const DEFAULT_ACK_REACTION = "👀";

/** Which reaction: account, channel, `messages`, the agent's emoji, 👀. An empty one disables it. */
export function resolveAckReaction(cfg: HostConfig, agentId: string, place: MessageScope = {}): string {
  return messageSetting(cfg, "ackReaction", place)?.trim() ?? (agentIdentity(cfg, agentId).emoji?.trim() || DEFAULT_ACK_REACTION);
}
