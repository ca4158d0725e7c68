export {
  asDateTimestampMs,
  asFiniteNumberInRange,
  isFutureDateTimestampMs,
  parseDateStringTimestampMs,
  resolveExpiresAtMsFromDurationMs,
  resolveExpiresAtMsFromDurationSeconds,
  resolveTimerTimeoutMs,
} from "../newer/numbers.ts";
export { asFiniteNumber, parseStrictFiniteNumber, parseStrictInteger, parseStrictNonNegativeInteger, parseStrictPositiveInteger } from "../coerce.ts";
