export { normalizeAtHashSlug, normalizeHyphenSlug, normalizeStringEntries, normalizeStringEntriesLower, uniqueStrings } from "../coerce.ts";
