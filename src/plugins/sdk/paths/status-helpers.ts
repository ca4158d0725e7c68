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
} from "../newer/status-adapters.ts";
export { buildBaseChannelStatusSummary, collectStatusIssuesFromLastError, createDefaultChannelRuntimeState } from "../status.ts";
export { isRecord } from "../coerce.ts";
