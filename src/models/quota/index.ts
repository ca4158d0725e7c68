/** Allowances, as providers tell them. The door of this part of the room. */
export { CHAT_QUOTA_MS, createQuota, QUOTA_PROVIDERS, type ProviderQuota, type Quota, type QuotaDeps, type QuotaOptions, type QuotaReport } from "./quota.ts";
export type { QuotaWindow } from "./window.ts";
