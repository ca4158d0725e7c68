export { truncateUtf16Safe } from "../values/coerce.ts";
export { sliceUtf16Safe } from "../values/small.ts";
export { fetchWithTimeout, runChannelProbe, withTimeout } from "../network/http.ts";
export { escapeRegExp, normalizeE164 } from "../text.ts";
