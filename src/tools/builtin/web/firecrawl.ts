import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { keyOf, type WebToolsDeps } from "./deps.ts";
import { withoutMarkdown, type Extracted } from "./extract.ts";
import { callService } from "./service.ts";
import type { ExtractMode, FirecrawlSettings } from "./settings.ts";

export interface Scraped extends Extracted {
  readonly finalUrl: string | undefined;
  readonly status: number | undefined;
  readonly warning: string | undefined;
}

const DEFAULT_BASE = "https://api.firecrawl.dev";
const MAX_BYTES = 10_000_000;

/** A page through the scraping service, when there is a key for it. */
export async function scrape(
  deps: WebToolsDeps,
  settings: FirecrawlSettings,
  wanted: { readonly url: string; readonly mode: ExtractMode; readonly signal: AbortSignal },
): Promise<Scraped | undefined> {
  if (!settings.enabled) return undefined;
  const found = await keyOf(deps, { input: settings.apiKey, path: "tools.web.fetch.firecrawl.apiKey" }, ["FIRECRAWL_API_KEY"]);
  if (!found) return undefined;
  const { onlyMainContent, timeoutMs: timeout, maxAgeMs: maxAge } = settings;
  const answer = await callService(deps, {
    name: "Firecrawl",
    url: `${(settings.baseUrl ?? deps.services?.firecrawl ?? DEFAULT_BASE).replace(/\/+$/, "")}/v2/scrape`,
    key: found.key,
    headers: { authorization: `Bearer ${found.key}` },
    body: { url: wanted.url, formats: ["markdown"], onlyMainContent, timeout, maxAge, proxy: "auto", storeInCache: true },
    timeoutMs: timeout,
    maxBytes: MAX_BYTES,
    signal: wanted.signal,
  });
  const data = isRecord(answer["data"]) ? answer["data"] : {};
  const markdown = data["markdown"];
  if (answer["success"] === false || typeof markdown !== "string" || markdown.trim() === "") {
    throw new AppError("UNAVAILABLE", "Firecrawl fetch failed: no content was returned");
  }
  const about = isRecord(data["metadata"]) ? data["metadata"] : {};
  return {
    text: wanted.mode === "text" ? withoutMarkdown(markdown) : markdown,
    title: string(about["title"])?.slice(0, 300),
    extractor: "firecrawl",
    finalUrl: string(about["sourceURL"]),
    status: typeof about["statusCode"] === "number" ? about["statusCode"] : undefined,
    warning: string(answer["warning"]),
  };
}

function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
