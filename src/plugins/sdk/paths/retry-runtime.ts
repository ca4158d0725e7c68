export { computeBackoff, retryAsync } from "../environment.ts";
export { isTransientNetworkError, parseRetryAfterHeaderSeconds } from "../newer/numbers.ts";
