/** Values of unknown kind as texts, numbers and records. */
import { normalizeChannelSlug } from "./channel-entries.ts";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const asRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
export const asOptionalRecord = (value: unknown): Record<string, unknown> | undefined => (isRecord(value) ? value : undefined);
export const asNullableRecord = (value: unknown): Record<string, unknown> | null => (isRecord(value) ? value : null);
export const asBoolean = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);
export const asFiniteNumber = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

/** Trimmed; nothing where it is no text or empty. */
export const normalizeOptionalString = (value: unknown): string | undefined => (typeof value === "string" ? value.trim() || undefined : undefined);
export const normalizeNullableString = (value: unknown): string | null => normalizeOptionalString(value) ?? null;
export const normalizeOptionalLowercaseString = (value: unknown): string | undefined => normalizeOptionalString(value)?.toLowerCase();
export const normalizeLowercaseStringOrEmpty = (value: unknown): string => normalizeOptionalLowercaseString(value) ?? "";
/** Numbers count as texts. */
export const normalizeStringifiedOptionalString = (value: unknown): string | undefined =>
  normalizeOptionalString(typeof value === "number" || typeof value === "bigint" ? String(value) : value);
export const normalizeOptionalStringifiedId = (value: unknown): string | undefined => normalizeStringifiedOptionalString(value);
export const readStringValue = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const hasNonEmptyString = (value: unknown): value is string => normalizeOptionalString(value) !== undefined;

/** Texts and numbers as trimmed texts, everything else left out. */
export const normalizeStringEntries = (list?: readonly unknown[]): string[] => (list ?? []).flatMap((entry) => normalizeStringifiedOptionalString(entry) ?? []);
export const normalizeStringEntriesLower = (list?: readonly unknown[]): string[] => normalizeStringEntries(list).map((entry) => entry.toLowerCase());
export const normalizeUniqueStringEntries = (list?: readonly unknown[]): string[] => [...new Set(normalizeStringEntries(list))];
/** Only what is text. */
export const normalizeTrimmedStringList = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((entry) => normalizeOptionalString(entry) ?? []) : [];
export const uniqueStrings = (list: readonly string[]): string[] => [...new Set(list)];

/** `@Some Name` or `#Some Name` → `some-name`. */
export const normalizeAtHashSlug = (value?: string | null): string => normalizeChannelSlug((value ?? "").trim().replace(/^[@#]+/, ""));
export const normalizeHyphenSlug = (value?: string | null): string => normalizeChannelSlug(value ?? "");

export function parseStrictFiniteNumber(value: unknown): number | undefined {
  if (typeof value === "string" && !/^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(value)) return undefined;
  return asFiniteNumber(typeof value === "string" ? Number(value) : value);
}

export function parseStrictInteger(value: unknown): number | undefined {
  const number = parseStrictFiniteNumber(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

export function parseStrictPositiveInteger(value: unknown): number | undefined {
  const number = parseStrictInteger(value);
  return number !== undefined && number > 0 ? number : undefined;
}

export function parseStrictNonNegativeInteger(value: unknown): number | undefined {
  const number = parseStrictInteger(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

const WORDS: Readonly<Record<string, boolean>> = { true: true, "1": true, yes: true, on: true, false: false, "0": false, no: false, off: false };

/** What a person means by a word, if it means yes or no. */
export function parseBooleanValue(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : typeof value === "string" ? WORDS[value.trim().toLowerCase()] : undefined;
}

/** Cut to `max` characters, never inside one. */
export function truncateUtf16Safe(text: string, max: number): string {
  const cut = text.slice(0, Math.max(0, max));
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
