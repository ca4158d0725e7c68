export {
  buildHostnameAllowlistPolicyFromSuffixAllowlist,
  isHttpsUrlAllowedByHostnameSuffixAllowlist,
  normalizeHostnameSuffixAllowlist,
  ssrfPolicyFromAllowPrivateNetwork,
  ssrfPolicyFromHttpBaseUrlAllowedHostname,
} from "../newer/host-names.ts";
export { isPrivateIpAddress } from "../ssrf.ts";
