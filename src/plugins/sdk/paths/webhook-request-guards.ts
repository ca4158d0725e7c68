export * from "../network/request-body.ts";
export {
  applyBasicWebhookRequestGuards,
  isJsonContentType,
  readJsonWebhookBodyOrReject,
  readWebhookBodyOrReject,
  runDetachedWebhookWork,
} from "../network/webhook-guards.ts";
