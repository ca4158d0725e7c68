export {
  bindIngressLifecycleToReplyOptions,
  createChannelIngressError,
  createChannelIngressMonitor,
  createChannelMessageReplyPipeline,
  DEFAULT_INGRESS_ADOPTION_STALL_MS,
  DEFAULT_INGRESS_RETRY_MAX_ATTEMPTS,
} from "../access/ingress.ts";
export { createChannelMessageAdapterFromOutbound, createMessageReceiptFromOutboundResults, defineChannelMessageAdapter } from "../messages/send-results.ts";
export { createAccountStatusSink, runPassiveAccountLifecycle } from "../messages/status-adapters.ts";
export { keepHttpServerTaskAlive } from "../values/small.ts";
export { logTypingFailure } from "../text.ts";
export {
  createRuntimeOutboundDelegates,
  resolveChannelPreviewStreamMode,
  resolveChannelStreamingBlockEnabled,
  resolveOutboundSendDep,
} from "../messages/outbound-parts.ts";
