export { createAccountListHelpers, describeAccountSnapshot, describeWebhookAccountSnapshot } from "../newer/account-lists.ts";
export { resolveChannelMediaMaxBytes } from "../media-limits.ts";
