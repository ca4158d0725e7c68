export { logAckFailure, logTypingFailure, missingTargetError } from "../text.ts";
export {
  removeAckReactionAfterReply,
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionGateParams,
  type AckReactionScope,
} from "../access/gating.ts";
export { resolveAckReaction } from "../messages/replies.ts";
