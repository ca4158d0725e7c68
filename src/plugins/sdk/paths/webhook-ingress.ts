export {
  applyBasicWebhookRequestGuards,
  createFixedWindowRateLimiter,
  createWebhookAnomalyTracker,
  isJsonContentType,
  readJsonWebhookBodyOrReject,
  readWebhookBodyOrReject,
  registerWebhookTargetWithPluginRoute,
  resolveWebhookTargetWithAuthOrReject,
  resolveWebhookTargetWithAuthOrRejectSync,
  WEBHOOK_ANOMALY_COUNTER_DEFAULTS,
  WEBHOOK_ANOMALY_STATUS_CODES,
  WEBHOOK_RATE_LIMIT_DEFAULTS,
  withResolvedWebhookRequestPipeline,
} from "../network/webhook-guards.ts";
export {
  normalizePluginHttpPath,
  normalizeWebhookPath,
  registerPluginHttpRoute,
  registerWebhookTarget,
  resolveWebhookPath,
  resolveWebhookTargets,
} from "../network/webhooks.ts";
export { DEFAULT_WEBHOOK_MAX_BODY_BYTES, isRequestBodyLimitError, readRequestBodyWithLimit, requestBodyErrorToText } from "../network/request-body.ts";
export { rawDataToString } from "../text.ts";
