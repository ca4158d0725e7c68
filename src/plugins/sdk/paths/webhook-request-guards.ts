export * from "../request-body.ts";
export {
  applyBasicWebhookRequestGuards,
  isJsonContentType,
  readJsonWebhookBodyOrReject,
  readWebhookBodyOrReject,
  runDetachedWebhookWork,
} from "../newer/webhook-guards.ts";
