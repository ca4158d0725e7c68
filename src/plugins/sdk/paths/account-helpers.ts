export { createAccountListHelpers, describeAccountSnapshot, describeWebhookAccountSnapshot } from "../config/account-lists.ts";
export { resolveChannelMediaMaxBytes } from "../media/media-limits.ts";
