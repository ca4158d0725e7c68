export { fetchWithSsrFGuard, type GuardedFetchOptions, type GuardedFetchResult } from "../guarded-fetch.ts";
export { formatErrorMessage } from "../text.ts";
export { isBlockedHostname, isBlockedHostnameOrIp, isPrivateIpAddress, SsrFBlockedError, type LookupFn, type SsrFPolicy } from "../ssrf.ts";
export {
  isLoopbackHost,
  isPrivateOrLoopbackHost,
  resolvePinnedHostnameWithPolicy,
  ssrfPolicyFromAllowPrivateNetwork,
  ssrfPolicyFromHttpBaseUrlAllowedHostname,
  ssrfPolicyFromHttpBaseUrlAllowedHostname as ssrfPolicyFromHttpBaseUrlAllowedOrigin,
} from "../newer/host-names.ts";
