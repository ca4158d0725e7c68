export { coerceErrorMessage, extractErrorCode, formatUncaughtError, readErrorName, toErrorObject } from "../values/errors.ts";
export { formatErrorMessage } from "../text.ts";
export { PlatformMessageNotDispatchedError } from "../messages/send-results.ts";
