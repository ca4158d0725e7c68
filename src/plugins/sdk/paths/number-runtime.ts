export {
  asDateTimestampMs,
  asFiniteNumberInRange,
  isFutureDateTimestampMs,
  parseDateStringTimestampMs,
  resolveExpiresAtMsFromDurationMs,
  resolveExpiresAtMsFromDurationSeconds,
  resolveTimerTimeoutMs,
} from "../values/numbers.ts";
export { asFiniteNumber, parseStrictFiniteNumber, parseStrictInteger, parseStrictNonNegativeInteger, parseStrictPositiveInteger } from "../values/coerce.ts";
