export {
  bindIngressLifecycleToReplyOptions,
  createChannelIngressError,
  createChannelIngressMonitor,
  createChannelMessageReplyPipeline,
  DEFAULT_INGRESS_ADOPTION_STALL_MS,
  DEFAULT_INGRESS_RETRY_MAX_ATTEMPTS,
} from "../newer/ingress.ts";
export { createChannelMessageAdapterFromOutbound, createMessageReceiptFromOutboundResults, defineChannelMessageAdapter } from "../newer/send-results.ts";
export { createAccountStatusSink, runPassiveAccountLifecycle } from "../newer/status-adapters.ts";
export { keepHttpServerTaskAlive } from "../newer/small.ts";
export { logTypingFailure } from "../text.ts";
export {
  createRuntimeOutboundDelegates,
  resolveChannelPreviewStreamMode,
  resolveChannelStreamingBlockEnabled,
  resolveOutboundSendDep,
} from "../newer/outbound-parts.ts";
