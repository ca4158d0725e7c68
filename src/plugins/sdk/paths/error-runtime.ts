export { coerceErrorMessage, extractErrorCode, formatUncaughtError, readErrorName, toErrorObject } from "../errors.ts";
export { formatErrorMessage } from "../text.ts";
export { PlatformMessageNotDispatchedError } from "../newer/send-results.ts";
