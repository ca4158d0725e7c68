export {
  buildHostnameAllowlistPolicyFromSuffixAllowlist,
  isHttpsUrlAllowedByHostnameSuffixAllowlist,
  normalizeHostnameSuffixAllowlist,
  ssrfPolicyFromAllowPrivateNetwork,
  ssrfPolicyFromHttpBaseUrlAllowedHostname,
} from "../network/host-names.ts";
export { isPrivateIpAddress } from "../network/ssrf.ts";
