import { isRecord } from "../../../base/records.ts";
import { keyOf, type WebToolsDeps } from "./deps.ts";
import { freshnessText, recencyOf, type Freshness } from "./freshness.ts";
import { callService, type ServiceCall } from "./service.ts";
import type { SearchProvider, SearchSettings } from "./settings.ts";

export interface Search {
  readonly query: string;
  readonly count: number;
  readonly country: string | undefined;
  readonly search_lang: string | undefined;
  readonly ui_lang: string | undefined;
  readonly freshness: Freshness | undefined;
  readonly signal: AbortSignal;
}

/** What a service found. Every text of it comes from outside. */
export interface SearchAnswer {
  readonly results?: readonly SearchResult[];
  readonly model?: string;
  readonly content?: string;
  readonly citations?: readonly string[];
  readonly inlineCitations?: unknown;
}

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly description: string;
  readonly published: string | undefined;
  readonly siteName: string | undefined;
}

/** A key is missing: the text for the model. */
export interface MissingKey {
  readonly error: string;
  readonly message: string;
}

interface Service {
  /** Undefined where it takes no `freshness`. */
  readonly freshness: boolean;
  search(deps: WebToolsDeps, settings: SearchSettings, search: Search): Promise<SearchAnswer | MissingKey>;
}

const MAX_BYTES = 4_000_000;
type Json = Readonly<Record<string, unknown>>;

function call(
  deps: WebToolsDeps,
  { timeoutMs }: SearchSettings,
  { signal }: Search,
  rest: Omit<ServiceCall, "timeoutMs" | "maxBytes" | "signal">,
): Promise<Json> {
  return callService(deps, { ...rest, timeoutMs, maxBytes: MAX_BYTES, signal });
}

const brave: Service = {
  freshness: true,
  async search(deps, settings, search) {
    const found = await keyOf(deps, { input: settings.apiKey, path: "tools.web.search.apiKey" }, ["BRAVE_API_KEY"]);
    if (!found) return missing("missing_brave_api_key", "a Brave Search key", "BRAVE_API_KEY or tools.web.search.apiKey");
    const url = new URL("/res/v1/web/search", deps.services?.brave ?? "https://api.search.brave.com");
    const { query, count, country, search_lang, ui_lang, freshness } = search;
    const wanted = { q: query, count: String(count), country, search_lang, ui_lang, freshness: freshness && freshnessText(freshness) };
    for (const [name, value] of Object.entries(wanted)) if (value !== undefined) url.searchParams.set(name, value);
    const answer = await call(deps, settings, search, { name: "Brave Search", url: url.href, key: found.key, headers: { "x-subscription-token": found.key } });
    return {
      results: list(record(answer["web"])["results"])
        .flatMap((entry) => result(record(entry)))
        .slice(0, count),
    };
  },
};

/** A result without an address of the web is none. */
function result(entry: Json): SearchResult[] {
  const url = webUrl(entry["url"]);
  if (url === undefined) return [];
  return [
    { title: text(entry["title"]) ?? "", url, description: text(entry["description"]) ?? "", published: text(entry["age"]), siteName: new URL(url).hostname },
  ];
}

const PERPLEXITY = "https://api.perplexity.ai";
const OPENROUTER = "https://openrouter.ai/api/v1";

const perplexity: Service = {
  freshness: true,
  async search(deps, settings, search) {
    const own = settings.perplexity;
    const found = await keyOf(deps, { input: own.apiKey, path: "tools.web.search.perplexity.apiKey" }, ["PERPLEXITY_API_KEY", "OPENROUTER_API_KEY"]);
    if (!found)
      return missing(
        "missing_perplexity_api_key",
        "a Perplexity or OpenRouter key",
        "PERPLEXITY_API_KEY, OPENROUTER_API_KEY or tools.web.search.perplexity.apiKey",
      );
    const isDirect = found.from === "PERPLEXITY_API_KEY" || (found.from !== "OPENROUTER_API_KEY" && found.key.startsWith("pplx-"));
    const chosen = isDirect ? (deps.services?.perplexity ?? PERPLEXITY) : (deps.services?.openrouter ?? OPENROUTER);
    const base = (own.baseUrl?.trim() || chosen).replace(/\/+$/, "");
    const model = own.model?.trim() || "perplexity/sonar-pro";
    const atHome = own.baseUrl?.trim() ? URL.canParse(base) && new URL(base).hostname === new URL(PERPLEXITY).hostname : isDirect;
    const recency = recencyOf(search.freshness);
    const answer = await call(deps, settings, search, {
      name: "Perplexity",
      url: `${base}/chat/completions`,
      key: found.key,
      headers: { authorization: `Bearer ${found.key}`, "http-referer": "https://openclaw.ai", "x-title": "OpenClaw Web Search" },
      body: {
        model: atHome && model.startsWith("perplexity/") ? model.slice("perplexity/".length) : model,
        messages: [{ role: "user", content: search.query }],
        ...(recency === undefined ? {} : { search_recency_filter: recency }),
      },
    });
    const content = text(record(record(list(answer["choices"])[0])["message"])["content"]) ?? "No response";
    return { model, content, citations: urls(answer["citations"]) };
  },
};

const grok: Service = {
  freshness: false,
  async search(deps, settings, search) {
    const found = await keyOf(deps, { input: settings.grok.apiKey, path: "tools.web.search.grok.apiKey" }, ["XAI_API_KEY"]);
    if (!found) return missing("missing_xai_api_key", "an xAI key", "XAI_API_KEY or tools.web.search.grok.apiKey");
    const model = settings.grok.model?.trim() || "grok-4-1-fast";
    const answer = await call(deps, settings, search, {
      name: "xAI",
      url: new URL("/v1/responses", deps.services?.xai ?? "https://api.x.ai").href,
      key: found.key,
      headers: { authorization: `Bearer ${found.key}` },
      body: { model, input: [{ role: "user", content: search.query }], tools: [{ type: "web_search" }] },
    });
    const parts = list(answer["output"]).flatMap((entry) => list(record(entry)["content"]).map((part) => record(part)));
    const said = parts.find((part) => part["type"] === "output_text");
    const noted = parts.flatMap((part) => list(part["annotations"]).map((note) => record(note)["url"]));
    const inline = settings.grok.inlineCitations === true ? inlineCitations(answer["inline_citations"]) : undefined;
    return {
      model,
      content: text(said?.["text"]) ?? text(answer["output_text"]) ?? "No response",
      citations: urls([...list(answer["citations"]), ...noted]),
      ...(inline === undefined ? {} : { inlineCitations: inline }),
    };
  },
};

/** Places in the text and the addresses they stand for; nothing else of them is kept. */
function inlineCitations(value: unknown): unknown {
  return list(value)
    .slice(0, 100)
    .map((entry) => record(entry))
    .map((entry) => ({
      start_index: number(entry["start_index"]),
      end_index: number(entry["end_index"]),
      url: webUrl(record(entry["web_citation"])["url"] ?? entry["url"]),
    }));
}

export const SERVICES: Readonly<Record<SearchProvider, Service>> = { brave, perplexity, grok };

function missing(error: string, what: string, where: string): MissingKey {
  return { error, message: `web_search needs ${what}. Set ${where}; \`openclaw configure --section web\` guides you through it.` };
}

function record(value: unknown): Json {
  return isRecord(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** An address of the web, written so that it holds no blanks, lines or brackets. */
function webUrl(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > 4000 || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}

function urls(value: unknown): string[] {
  return [...new Set(list(value).flatMap((entry) => webUrl(typeof entry === "string" ? entry : record(entry)["url"]) ?? []))].slice(0, 100);
}
