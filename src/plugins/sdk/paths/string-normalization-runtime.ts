export { normalizeAtHashSlug, normalizeHyphenSlug, normalizeStringEntries, normalizeStringEntriesLower, uniqueStrings } from "../values/coerce.ts";
