export { computeBackoff, retryAsync } from "../environment.ts";
export { isTransientNetworkError, parseRetryAfterHeaderSeconds } from "../values/numbers.ts";
