export { safeEqualSecret } from "../newer/webhook-guards.ts";
export { formatErrorMessage, redactSensitiveText } from "../text.ts";
export { withTimeout } from "../newer/http.ts";
export { resolvePinnedHostnameWithPolicy } from "../newer/host-names.ts";
export { SsrFBlockedError } from "../ssrf.ts";
export { extractErrorCode } from "../errors.ts";
