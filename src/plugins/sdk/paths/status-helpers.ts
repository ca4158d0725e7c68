export {
  buildBaseAccountStatusSnapshot,
  buildComputedAccountStatusSnapshot,
  buildProbeChannelStatusSummary,
  buildRuntimeAccountStatusSnapshot,
  buildTokenChannelStatusSummary,
  buildWebhookChannelStatusSummary,
  createAsyncComputedAccountStatusAdapter,
  createComputedAccountStatusAdapter,
  standardDmPolicyOpenIssue,
  standardNotConfiguredIssue,
} from "../messages/status-adapters.ts";
export { buildBaseChannelStatusSummary, collectStatusIssuesFromLastError, createDefaultChannelRuntimeState } from "../messages/status.ts";
export { isRecord } from "../values/coerce.ts";
