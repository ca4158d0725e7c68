import { AppError, messageOf } from "../../../base/errors.ts";
import { guardedFetch } from "../../../base/guarded-fetch.ts";
import { formatBytes } from "../../../base/text.ts";
import { defineTool } from "../../declaration.ts";
import { jsonOutcome } from "../../tool.ts";
import { markWithin } from "../../untrusted/mark.ts";
import { createAnswers } from "./answers.ts";
import type { WebToolsDeps } from "./deps.ts";
import { extract, extractDocument, isDocument, mimeOf, type Extracted, type Fetched } from "./extract.ts";
import { isRefusal, webFailure } from "./failure.ts";
import { fetchSettings, type ExtractMode, type FetchSettings } from "./settings.ts";

const LEAST_CHARS = 100;
const MAX_DETAIL_CHARS = 4000;
const ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.1";

interface Wanted {
  readonly url: string;
  readonly mode: ExtractMode;
  readonly signal: AbortSignal;
}

interface Found extends Extracted {
  readonly finalUrl: string;
  readonly status: number;
  readonly contentType: string;
}

type Payload = Readonly<Record<string, unknown>>;

const NAME = "web_fetch";

/** Fetches a page and gives what can be read of it, marked as coming from outside. */
export const webFetchTool = defineTool<WebToolsDeps>({
  name: NAME,
  groups: ["web", "openclaw"],
  reach: { reads: "untrusted", outbound: true },
  promptLine: "get a web page as readable text",
  icon: "📄",
  absence: ({ config }) => (fetchSettings(config).enabled ? undefined : { why: "tools.web.fetch.enabled is false", path: "tools.web.fetch.enabled" }),
  label: "Web Fetch",
  description: "Fetch a URL and extract its readable content (HTML as markdown or text). For pages that need no browser.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", description: "HTTP or HTTPS URL" },
      extractMode: { type: "string", enum: ["markdown", "text"], default: "markdown", description: "Output format" },
      maxChars: { type: "number", minimum: LEAST_CHARS, description: "Maximum number of characters to return; the rest is cut off" },
    },
    required: ["url"],
  },
  idempotent: true,
  executionMode: "parallel",
  run: (deps) => {
    const answers = createAnswers<Payload>(deps.clock);
    return async ({ params, signal }) => {
      const settings = fetchSettings(deps.config());
      const url = typeof params["url"] === "string" ? params["url"].trim() : "";
      const mode: ExtractMode = params["extractMode"] === "text" ? "text" : "markdown";
      const asked = typeof params["maxChars"] === "number" ? params["maxChars"] : settings.maxChars;
      const maxChars = Math.min(Math.max(LEAST_CHARS, Math.floor(asked)), settings.maxCharsCap);
      const key = JSON.stringify([url, mode, maxChars]);
      const kept = settings.cacheTtlMs > 0 ? answers.get(key) : undefined;
      if (kept) return jsonOutcome({ ...kept, cached: true });
      try {
        const payload = await fetchPage(deps, settings, { url, mode, signal }, maxChars);
        answers.keep(key, payload, settings.cacheTtlMs);
        return jsonOutcome(payload);
      } catch (error) {
        return webFailure(NAME, error);
      }
    };
  },
});

async function fetchPage(deps: WebToolsDeps, settings: FetchSettings, wanted: Wanted, maxChars: number): Promise<Payload> {
  const { clock, mark } = deps;
  const started = clock.monotonic();
  if (!URL.canParse(wanted.url) || !/^https?:$/.test(new URL(wanted.url).protocol)) throw new AppError("INVALID_INPUT", "Invalid URL: must be http or https");
  const found = await request(deps, settings, wanted);
  const source = { source: NAME };
  const { text, kept, truncated } = markWithin(mark, found.text, { ...source, notice: true }, maxChars);
  const warnings = [
    found.warning,
    text === "" ? `maxChars ${maxChars} is too small to show anything; use at least ${mark("", source).length + LEAST_CHARS}` : undefined,
  ].filter((warning) => warning !== undefined);
  return {
    url: new URL(wanted.url).href,
    finalUrl: found.finalUrl,
    status: found.status,
    contentType: found.contentType,
    ...(found.title ? { title: mark(found.title, source) } : {}),
    extractMode: wanted.mode,
    extractor: found.extractor,
    externalContent: { untrusted: true, source: NAME, wrapped: true },
    truncated,
    length: kept,
    rawLength: kept,
    wrappedLength: text.length,
    fetchedAt: new Date(clock.now()).toISOString(),
    tookMs: Math.round(clock.monotonic() - started),
    text,
    ...(warnings.length === 0 ? {} : { warning: warnings.join(" ") }),
  };
}

/** From the page itself, or from the scraping service when the page gives nothing. What may not be reached is reached by nobody. */
async function request(deps: WebToolsDeps, settings: FetchSettings, wanted: Wanted): Promise<Found> {
  try {
    return await direct(deps, settings, wanted);
  } catch (error) {
    if (isRefusal(error) || wanted.signal.aborted) throw error;
    return await scraped(deps, settings, wanted, error);
  }
}

async function direct(deps: WebToolsDeps, settings: FetchSettings, wanted: Wanted): Promise<Found> {
  const { clock, network, mark } = deps;
  using answer = await guardedFetch({
    url: wanted.url,
    headers: { accept: ACCEPT, "accept-language": "en-US,en;q=0.9", "user-agent": settings.userAgent },
    maxRedirects: settings.maxRedirects,
    timeoutMs: settings.timeoutMs,
    signal: wanted.signal,
    clock,
    policy: network?.policy,
    lookup: network?.lookup,
  });
  const limit = isDocument(answer.header("content-type")) ? settings.maxDocumentBytes : settings.maxResponseBytes;
  const { bytes, truncated } = await answer.read(limit);
  const fetched = { bytes, contentType: answer.header("content-type"), url: answer.url };
  const contentType = mimeOf(fetched.contentType);
  if (answer.status < 200 || answer.status > 299) {
    const detail = (await extract(fetched, "text"))?.text.trim().slice(0, MAX_DETAIL_CHARS) || answer.statusText;
    throw new AppError("UNAVAILABLE", `Web fetch failed (${answer.status}): ${markWithin(mark, detail, { source: NAME }, MAX_DETAIL_CHARS).text}`);
  }
  const readable = await readableOf(deps, settings, wanted, fetched, truncated);
  if (readable) return { ...readable, finalUrl: answer.url, status: answer.status, contentType };
  const isPage = contentType === "text/html" || contentType === "application/xhtml+xml";
  const found = isPage && !settings.readability ? undefined : await extract(fetched, wanted.mode);
  if (!found)
    throw new AppError("UNAVAILABLE", `Web fetch extraction failed: ${settings.readability ? "the page has no readable text" : "readability is off"}`);
  const warning = truncated ? `Response body truncated after ${limit} bytes.` : undefined;
  return { ...found, finalUrl: answer.url, status: answer.status, contentType, warning };
}

/** What a PDF or office file says; undefined when it is none. */
async function readableOf(
  { documents }: WebToolsDeps,
  { maxCharsCap, maxDocumentBytes }: FetchSettings,
  { signal }: Wanted,
  fetched: Fetched,
  truncated: boolean,
): Promise<Extracted | undefined> {
  if (!documents || !isDocument(fetched.contentType, fetched.bytes)) return undefined;
  if (truncated) throw new AppError("UNAVAILABLE", `Web fetch extraction failed: the document has more than ${formatBytes(maxDocumentBytes)}`);
  try {
    return await extractDocument(fetched, documents, maxCharsCap, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new AppError("UNAVAILABLE", `Web fetch extraction failed: ${messageOf(error)}`, { cause: error });
  }
}

async function scraped(deps: WebToolsDeps, { firecrawl }: FetchSettings, wanted: Wanted, why: unknown): Promise<Found> {
  const { scrape } = await import("./firecrawl.ts");
  try {
    const found = await scrape(deps, firecrawl, wanted);
    if (!found) throw why;
    const finalUrl = found.finalUrl !== undefined && URL.canParse(found.finalUrl) ? new URL(found.finalUrl).href : wanted.url;
    const warning = found.warning === undefined ? undefined : deps.mark(found.warning.slice(0, 500), { source: NAME });
    return { ...found, finalUrl, status: found.status ?? 200, contentType: "text/markdown", warning };
  } catch (error) {
    if (error === why) throw why;
    throw new AppError("UNAVAILABLE", `${messageOf(why)} (and ${messageOf(error)})`, { cause: why });
  }
}
