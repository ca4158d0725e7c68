export { buildPassiveChannelStatusSummary, buildTrafficStatusSummary, coerceStatusIssueAccountId, readStatusIssueFields } from "../newer/status-adapters.ts";
export { createDeferred } from "../newer/small.ts";
