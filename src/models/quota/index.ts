/** Providers' usage allowances. Entry point of this part of the module. */
export { CHAT_QUOTA_MS, createQuota, QUOTA_PROVIDERS, type ProviderQuota, type Quota, type QuotaDeps, type QuotaOptions, type QuotaReport } from "./quota.ts";
export type { QuotaWindow } from "./window.ts";
