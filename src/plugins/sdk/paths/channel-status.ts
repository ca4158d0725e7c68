export { PAIRING_APPROVED_MESSAGE } from "../messages/replies.ts";
export { buildProbeChannelStatusSummary, buildTokenChannelStatusSummary, buildWebhookChannelStatusSummary } from "../messages/status-adapters.ts";
export { buildBaseChannelStatusSummary, collectStatusIssuesFromLastError, createDefaultChannelRuntimeState } from "../messages/status.ts";
