/** Look-ups in maps of rooms and groups, whose keys people write by hand. */

export interface ChannelEntryMatch<T> {
  entry?: T | undefined;
  key?: string | undefined;
  wildcardEntry?: T | undefined;
  wildcardKey?: string | undefined;
  parentEntry?: T | undefined;
  parentKey?: string | undefined;
  matchKey?: string | undefined;
  matchSource?: "direct" | "parent" | "wildcard" | undefined;
}

/** The texts that are there, trimmed, each once. */
export function buildChannelKeyCandidates(...keys: readonly (string | null | undefined)[]): string[] {
  return [...new Set(keys.flatMap((key) => (typeof key === "string" && key.trim() ? [key.trim()] : [])))];
}

/** `#General Chat` → `general-chat`. */
export function normalizeChannelSlug(value: string): string {
  return value
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
}

interface EntryParams<T> {
  entries?: Record<string, T> | undefined;
  keys: readonly string[];
  wildcardKey?: string | undefined;
}

/** The first of `keys` that the map has, and its wildcard beside it. */
export function resolveChannelEntryMatch<T>(params: EntryParams<T>): ChannelEntryMatch<T> {
  const entries = params.entries ?? {};
  const key = params.keys.find((candidate) => Object.hasOwn(entries, candidate));
  const { wildcardKey } = params;
  return {
    ...(key === undefined ? {} : { entry: entries[key], key }),
    ...(wildcardKey !== undefined && Object.hasOwn(entries, wildcardKey) ? { wildcardEntry: entries[wildcardKey], wildcardKey } : {}),
  };
}

/** The same with fallbacks: keys compared after `normalizeKey`, then the parent's keys both ways, then the wildcard. */
export function resolveChannelEntryMatchWithFallback<T>(
  params: EntryParams<T> & { parentKeys?: readonly string[] | undefined; normalizeKey?: ((value: string) => string) | undefined },
): ChannelEntryMatch<T> {
  const { entries = {}, normalizeKey } = params;
  const direct = resolveChannelEntryMatch(params);
  const find = (keys: readonly string[]): string | undefined => {
    const exact = keys.find((key) => Object.hasOwn(entries, key) && entries[key]);
    if (exact !== undefined || !normalizeKey) return exact;
    const wanted = new Set(keys.map((key) => normalizeKey(key)).filter(Boolean));
    return Object.keys(entries).find((key) => wanted.has(normalizeKey(key)));
  };
  const own = find(params.keys);
  if (own !== undefined) return { ...direct, entry: entries[own], key: own, matchKey: own, matchSource: "direct" };
  const parent = find(params.parentKeys ?? []);
  if (parent !== undefined) {
    const entry = entries[parent];
    return { ...direct, entry, key: parent, parentEntry: entry, parentKey: parent, matchKey: parent, matchSource: "parent" };
  }
  const { wildcardEntry, wildcardKey } = direct;
  if (!wildcardEntry || wildcardKey === undefined) return direct;
  return { ...direct, entry: wildcardEntry, key: wildcardKey, matchKey: wildcardKey, matchSource: "wildcard" };
}

/** Two lists, one inside the other: what is not configured lets everything through. */
export function resolveNestedAllowlistDecision(params: {
  outerConfigured: boolean;
  outerMatched: boolean;
  innerConfigured: boolean;
  innerMatched: boolean;
}): boolean {
  return !params.outerConfigured || (params.outerMatched && (!params.innerConfigured || params.innerMatched));
}
