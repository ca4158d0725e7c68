export { safeEqualSecret } from "../network/webhook-guards.ts";
export { formatErrorMessage, redactSensitiveText } from "../text.ts";
export { withTimeout } from "../network/http.ts";
export { resolvePinnedHostnameWithPolicy } from "../network/host-names.ts";
export { SsrFBlockedError } from "../network/ssrf.ts";
export { extractErrorCode } from "../values/errors.ts";
