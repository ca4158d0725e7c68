import { defineTool } from "../../declaration.ts";
import { jsonOutcome } from "../../tool.ts";
import type { MarkUntrusted } from "../../untrusted/mark.ts";
import { createAnswers } from "./answers.ts";
import type { WebToolsDeps } from "./deps.ts";
import { webFailure } from "./failure.ts";
import { freshnessText, parseFreshness } from "./freshness.ts";
import type { Search, SearchAnswer } from "./providers.ts";
import { MOST_RESULTS, searchSettings, type SearchProvider, type SearchSettings } from "./settings.ts";

const DOCS = "https://docs.openclaw.ai/tools/web";
const MAX_TEXT_CHARS = 50_000;

const DESCRIPTIONS: Readonly<Record<SearchProvider, string>> = {
  brave: "Search the web with Brave Search. Gives titles, addresses and snippets; results can be limited by country, language and age.",
  perplexity: "Search the web with Perplexity Sonar. Gives a written answer with its sources.",
  grok: "Search the web with xAI Grok. Gives a written answer with its sources.",
};

type Payload = Readonly<Record<string, unknown>>;

const NAME = "web_search";

/** The names under which the environment may hold the key of a service. */
const KEY_NAMES: Readonly<Record<SearchProvider, readonly string[]>> = {
  brave: ["BRAVE_API_KEY"],
  perplexity: ["PERPLEXITY_API_KEY", "OPENROUTER_API_KEY"],
  grok: ["XAI_API_KEY"],
};

/** A search without a key can only fail. Whether a key that is somewhere works is found out by the search. */
function hasSearchKey({ secret, config }: WebToolsDeps): boolean {
  const settings = searchSettings(config());
  const { provider } = settings;
  const configured = provider === "brave" ? settings.apiKey : settings[provider].apiKey;
  if (configured !== undefined && configured !== "") return true;
  return KEY_NAMES[provider].some((name) => {
    const found = secret(name);
    return typeof found === "string" ? found.trim() !== "" : found !== undefined;
  });
}

/** Searches with the service that the configuration names. */
export const webSearchTool = defineTool<WebToolsDeps>({
  name: NAME,
  groups: ["web", "openclaw"],
  reach: { reads: "untrusted", outbound: true },
  promptLine: "search the web",
  icon: "🔎",
  absence: ({ config }) => (searchSettings(config).enabled ? undefined : { why: "tools.web.search.enabled is false", path: "tools.web.search.enabled" }),
  isOffered: hasSearchKey,
  label: "Web Search",
  description: ({ config }) => DESCRIPTIONS[searchSettings(config()).provider],
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to search for" },
      count: { type: "number", minimum: 1, maximum: MOST_RESULTS, description: `Number of results, 1 to ${MOST_RESULTS}` },
      country: { type: "string", description: "Two letters of a country, such as DE or US" },
      search_lang: { type: "string", description: "Language of the results, such as de or en" },
      ui_lang: { type: "string", description: "Language of what the service says itself" },
      freshness: { type: "string", description: "Age: pd, pw, pm, py (day, week, month, year) or YYYY-MM-DDtoYYYY-MM-DD" },
    },
    required: ["query"],
  },
  idempotent: true,
  executionMode: "parallel",
  run: (deps) => {
    const answers = createAnswers<Payload>(deps.clock);
    return async ({ params, signal }) => {
      const settings = searchSettings(deps.config());
      const { SERVICES } = await import("./providers.ts");
      const search = searchOf(params, settings, signal);
      const refusal = refusalOf(params, search, settings.provider, SERVICES[settings.provider].freshness);
      if (refusal) return jsonOutcome({ ...refusal, docs: DOCS });
      const key = keyOf(settings.provider, search);
      const kept = settings.cacheTtlMs > 0 ? answers.get(key) : undefined;
      if (kept) return jsonOutcome({ ...kept, cached: true });
      try {
        const started = deps.clock.monotonic();
        const answer = await SERVICES[settings.provider].search(deps, settings, search);
        if ("error" in answer) return jsonOutcome({ ...answer, docs: DOCS });
        const payload = payloadOf(settings.provider, search, answer, { tookMs: Math.round(deps.clock.monotonic() - started), mark: deps.mark });
        answers.keep(key, payload, settings.cacheTtlMs);
        return jsonOutcome(payload);
      } catch (error) {
        return webFailure(NAME, error);
      }
    };
  },
});

function searchOf(params: Payload, { maxResults }: SearchSettings, signal: AbortSignal): Search {
  const text = (name: string): string | undefined => (typeof params[name] === "string" ? params[name].trim() : "") || undefined;
  const count = typeof params["count"] === "number" ? params["count"] : maxResults;
  const freshness = text("freshness");
  return {
    query: text("query") ?? "",
    count: Math.min(Math.max(Math.floor(count), 1), MOST_RESULTS),
    country: text("country"),
    search_lang: text("search_lang"),
    ui_lang: text("ui_lang"),
    freshness: freshness === undefined ? undefined : parseFreshness(freshness),
    signal,
  };
}

/** What cannot be asked for, as data: the model can ask better. */
function refusalOf(params: Payload, search: Search, provider: SearchProvider, takesFreshness: boolean): { error: string; message: string } | undefined {
  if (search.query === "") return { error: "missing_query", message: "query is empty; enter what to search for." };
  if (typeof params["freshness"] !== "string" || params["freshness"].trim() === "") return undefined;
  if (!takesFreshness) return { error: "unsupported_freshness", message: `freshness works with brave and perplexity, not with ${provider}; leave it out.` };
  return search.freshness
    ? undefined
    : { error: "invalid_freshness", message: "freshness must be pd, pw, pm, py or YYYY-MM-DDtoYYYY-MM-DD with the earlier day first." };
}

function keyOf(provider: string, { query, count, country, search_lang, ui_lang, freshness }: Search): string {
  return JSON.stringify([provider, query, count, country, search_lang, ui_lang, freshness && freshnessText(freshness)]).toLowerCase();
}

function payloadOf(
  provider: SearchProvider,
  { query, count }: Search,
  answer: SearchAnswer,
  { tookMs, mark }: { readonly tookMs: number; readonly mark: MarkUntrusted },
): Payload {
  const safe = (text: string): string => mark(text.slice(0, MAX_TEXT_CHARS), { source: NAME });
  const head = { query, provider };
  const externalContent = { untrusted: true, source: NAME, provider, wrapped: true };
  if (answer.results) {
    const results = answer.results.map(({ title, url, description, published, siteName }) => ({
      title: title && safe(title),
      url,
      description: description && safe(description),
      ...(published === undefined ? {} : { published: safe(published.slice(0, 100)) }),
      ...(siteName === undefined ? {} : { siteName }),
    }));
    return { ...head, count: results.length, tookMs, externalContent, results };
  }
  const { model, content = "", citations = [], inlineCitations } = answer;
  return { ...head, count, model, tookMs, externalContent, content: safe(content), citations, ...(inlineCitations === undefined ? {} : { inlineCitations }) };
}
