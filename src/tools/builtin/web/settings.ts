import { isRecord } from "../../../base/records.ts";
import type { OpenClawConfig, SecretInput } from "../../../config/index.ts";

export type ExtractMode = "markdown" | "text";
export type SearchProvider = "brave" | "perplexity" | "grok";

/** `tools.web.fetch`, with defaults. */
export interface FetchSettings {
  readonly enabled: boolean;
  readonly maxChars: number;
  readonly maxCharsCap: number;
  readonly timeoutMs: number;
  readonly cacheTtlMs: number;
  readonly maxRedirects: number;
  readonly userAgent: string;
  readonly readability: boolean;
  readonly maxResponseBytes: number;
  /** Of a PDF or office file, which cannot be read in part. */
  readonly maxDocumentBytes: number;
  readonly firecrawl: FirecrawlSettings;
}

export interface FirecrawlSettings {
  readonly enabled: boolean;
  readonly apiKey: SecretInput | undefined;
  readonly baseUrl: string | undefined;
  readonly onlyMainContent: boolean;
  readonly maxAgeMs: number;
  readonly timeoutMs: number;
}

/** `tools.web.search`, with defaults. */
export interface SearchSettings {
  readonly enabled: boolean;
  readonly provider: SearchProvider;
  readonly apiKey: SecretInput | undefined;
  readonly maxResults: number;
  readonly timeoutMs: number;
  readonly cacheTtlMs: number;
  readonly perplexity: { readonly apiKey?: SecretInput; readonly baseUrl?: string; readonly model?: string };
  readonly grok: { readonly apiKey?: SecretInput; readonly model?: string; readonly inlineCitations?: boolean };
}

const DEFAULT_CHARS = 50_000;
const DEFAULT_TIMEOUT_SECONDS = 30;
const DEFAULT_TTL_MINUTES = 15;
const DEFAULT_BYTES = 2_000_000;
const LEAST_BYTES = 32_000;
const MOST_BYTES = 10_000_000;
const DEFAULT_RESULTS = 5;
export const MOST_RESULTS = 10;
const TWO_DAYS_MS = 172_800_000;
/** Many sites answer nothing to what is no browser. */
const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";

type Section = Readonly<Record<string, unknown>>;

export function fetchSettings(config: OpenClawConfig): FetchSettings {
  const given = section(config.tools?.web?.fetch);
  const firecrawl = section(given["firecrawl"]);
  const seconds = positive(given["timeoutSeconds"]) ?? DEFAULT_TIMEOUT_SECONDS;
  return {
    enabled: given["enabled"] !== false,
    maxChars: positive(given["maxChars"]) ?? DEFAULT_CHARS,
    maxCharsCap: positive(given["maxCharsCap"]) ?? DEFAULT_CHARS,
    timeoutMs: seconds * 1000,
    cacheTtlMs: minutes(given["cacheTtlMinutes"]),
    maxRedirects: amount(given["maxRedirects"]) ?? 3,
    userAgent: text(given["userAgent"]) ?? USER_AGENT,
    readability: given["readability"] !== false,
    maxDocumentBytes: Math.max(Math.min(positive(given["maxResponseBytes"]) ?? MOST_BYTES, MOST_BYTES), LEAST_BYTES),
    maxResponseBytes: Math.min(Math.max(positive(given["maxResponseBytes"]) ?? DEFAULT_BYTES, LEAST_BYTES), MOST_BYTES),
    firecrawl: {
      enabled: firecrawl["enabled"] !== false,
      apiKey: firecrawl["apiKey"] as SecretInput | undefined,
      baseUrl: text(firecrawl["baseUrl"]),
      onlyMainContent: firecrawl["onlyMainContent"] !== false,
      maxAgeMs: amount(firecrawl["maxAgeMs"]) ?? TWO_DAYS_MS,
      timeoutMs: (positive(firecrawl["timeoutSeconds"]) ?? seconds) * 1000,
    },
  };
}

export function searchSettings(config: OpenClawConfig): SearchSettings {
  const given = config.tools?.web?.search ?? {};
  return {
    enabled: given.enabled !== false,
    provider: given.provider ?? "brave",
    apiKey: given.apiKey,
    maxResults: Math.min(given.maxResults ?? DEFAULT_RESULTS, MOST_RESULTS),
    timeoutMs: (given.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    cacheTtlMs: minutes(given.cacheTtlMinutes),
    perplexity: given.perplexity ?? {},
    grok: given.grok ?? {},
  };
}

function section(value: unknown): Section {
  return isRecord(value) ? value : {};
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function minutes(value: unknown): number {
  return (amount(value) ?? DEFAULT_TTL_MINUTES) * 60_000;
}
