export { fetchWithSsrFGuard, type GuardedFetchOptions, type GuardedFetchResult } from "../network/guarded-fetch.ts";
export { formatErrorMessage } from "../text.ts";
export { isBlockedHostname, isBlockedHostnameOrIp, isPrivateIpAddress, SsrFBlockedError, type LookupFn, type SsrFPolicy } from "../network/ssrf.ts";
export {
  isLoopbackHost,
  isPrivateOrLoopbackHost,
  resolvePinnedHostnameWithPolicy,
  ssrfPolicyFromAllowPrivateNetwork,
  ssrfPolicyFromHttpBaseUrlAllowedHostname,
  ssrfPolicyFromHttpBaseUrlAllowedHostname as ssrfPolicyFromHttpBaseUrlAllowedOrigin,
} from "../network/host-names.ts";
