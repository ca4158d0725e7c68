export { PAIRING_APPROVED_MESSAGE } from "../replies.ts";
export { buildProbeChannelStatusSummary, buildTokenChannelStatusSummary, buildWebhookChannelStatusSummary } from "../newer/status-adapters.ts";
export { buildBaseChannelStatusSummary, collectStatusIssuesFromLastError, createDefaultChannelRuntimeState } from "../status.ts";
