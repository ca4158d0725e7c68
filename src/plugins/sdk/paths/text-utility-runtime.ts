export { truncateUtf16Safe } from "../coerce.ts";
export { sliceUtf16Safe } from "../newer/small.ts";
export { fetchWithTimeout, runChannelProbe, withTimeout } from "../newer/http.ts";
export { escapeRegExp, normalizeE164 } from "../text.ts";
