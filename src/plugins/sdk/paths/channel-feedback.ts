export { logAckFailure, logTypingFailure, missingTargetError } from "../text.ts";
export { removeAckReactionAfterReply, shouldAckReaction, shouldAckReactionForWhatsApp, type AckReactionGateParams, type AckReactionScope } from "../gating.ts";
export { resolveAckReaction } from "../replies.ts";
