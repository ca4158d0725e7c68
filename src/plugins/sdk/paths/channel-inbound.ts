export { createChannelPartialDeliveryError, isChannelPartialDeliveryError } from "../messages/send-results.ts";
export {
  createChannelInboundEnvelopeBuilder,
  DEFAULT_CHANNEL_FEEDBACK_REFLECTION_COOLDOWN_MS,
  dispatchInboundDirectDm,
  formatInboundMediaUnavailableText,
  formatMediaPlaceholderText,
  hasFinalInboundReplyDispatch,
  recordChannelFeedbackEvent,
  resolveChannelInboundRouteEnvelope,
  resolveInboundReplyDispatchCounts,
  runChannelFeedbackReflection,
} from "../access/ingress.ts";
export { createDirectDmPreCryptoGuardPolicy } from "../messages/pairing.ts";
export {
  buildMentionRegexes,
  formatAgentEnvelope,
  formatInboundEnvelope,
  matchesMentionPatterns,
  matchesMentionWithExplicit,
  normalizeMentionText,
  resolveEnvelopeFormatOptions,
  resolveInboundDebounceMs,
} from "../../../channels/index.ts";
export { formatLocationText, toLocationContext } from "../messages/location.ts";
export { logInboundDrop } from "../text.ts";
