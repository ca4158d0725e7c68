/** Numbers, times and the errors of networks. */
import { asFiniteNumber } from "./coerce.ts";

/** The largest time that a `Date` can hold. */
const MAX_DATE_MS = 8_640_000_000_000_000;
/** The longest delay that a timer takes. */
const MAX_TIMER_MS = 2_147_483_647;

export const asFiniteNumberInRange = (
  value: unknown,
  range: { readonly min?: number; readonly max?: number; readonly minExclusive?: boolean } = {},
): number | undefined => {
  const number = asFiniteNumber(value);
  const { min = -Infinity, max = Infinity } = range;
  return number !== undefined && number <= max && (range.minExclusive ? number > min : number >= min) ? number : undefined;
};

/** A time that a `Date` can hold. */
export const asDateTimestampMs = (value: unknown): number | undefined => asFiniteNumberInRange(value, { min: -MAX_DATE_MS, max: MAX_DATE_MS });
export const isFutureDateTimestampMs = (value: unknown, options: { readonly nowMs?: number } = {}): boolean =>
  (asDateTimestampMs(value) ?? -Infinity) > (options.nowMs ?? Date.now());
export const parseDateStringTimestampMs = (value: unknown): number | undefined =>
  typeof value === "string" && value.trim() ? asDateTimestampMs(Date.parse(value)) : undefined;

/** A delay that timers can take; the fallback where the value is none. */
export function resolveTimerTimeoutMs(value: unknown, fallbackMs: number, minMs = 1): number {
  const wanted = asFiniteNumber(value) ?? fallbackMs;
  return Math.min(MAX_TIMER_MS, Math.max(minMs, Math.floor(wanted)));
}

interface ExpiryOptions {
  readonly nowMs?: number | undefined;
  readonly bufferMs?: number | undefined;
  readonly minRemainingMs?: number | undefined;
}

/** When something that lasts so long ends. */
export function resolveExpiresAtMsFromDurationMs(
  durationMs: unknown,
  { nowMs = Date.now(), bufferMs = 0, minRemainingMs = 0 }: ExpiryOptions = {},
): number | undefined {
  const duration = asFiniteNumberInRange(durationMs, { min: 0 });
  return duration === undefined ? undefined : asDateTimestampMs(nowMs + Math.max(minRemainingMs, duration - bufferMs));
}

export function resolveExpiresAtMsFromDurationSeconds(seconds: unknown, options?: ExpiryOptions): number | undefined {
  const number = asFiniteNumber(seconds);
  return number === undefined ? undefined : resolveExpiresAtMsFromDurationMs(number * 1000, options);
}

const TRANSIENT: ReadonlySet<string> = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "ENETDOWN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** Whether the same request may well work later. */
export function isTransientNetworkError(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 5) return false;
  const { code, name, cause, errors }: { code?: unknown; name?: unknown; cause?: unknown; errors?: unknown } = error;
  if (typeof code === "string" && TRANSIENT.has(code)) return true;
  if (name === "TimeoutError") return true;
  return isTransientNetworkError(cause, depth + 1) || (Array.isArray(errors) && errors.some((inner) => isTransientNetworkError(inner, depth + 1)));
}

/** `Retry-After` in seconds: a number, or a date. */
export function parseRetryAfterHeaderSeconds(value: string | null | undefined, nowMs: number = Date.now()): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000);
}
