/** Our reactions to messages. */
export {
  resolveAckReaction,
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionGateParams,
  type AckReactionScope,
  type WhatsAppAckReactionMode,
} from "./ack.ts";
