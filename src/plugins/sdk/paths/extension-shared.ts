export { buildPassiveChannelStatusSummary, buildTrafficStatusSummary, coerceStatusIssueAccountId, readStatusIssueFields } from "../messages/status-adapters.ts";
export { createDeferred } from "../values/small.ts";
