import type { Tool } from "../../tool.ts";
import type { WebToolsDeps } from "./deps.ts";
import { webFetchTool } from "./fetch.ts";
import { webSearchTool } from "./search.ts";
import { fetchSettings, searchSettings, type SearchProvider, type SearchSettings } from "./settings.ts";

/** The names under which the environment may hold the key of a service. */
const KEY_NAMES: Readonly<Record<SearchProvider, readonly string[]>> = {
  brave: ["BRAVE_API_KEY"],
  perplexity: ["PERPLEXITY_API_KEY", "OPENROUTER_API_KEY"],
  grok: ["XAI_API_KEY"],
};

/** A search without a key can only fail. Whether a key that is somewhere works is found out by the search. */
function hasSearchKey({ secret }: WebToolsDeps, settings: SearchSettings): boolean {
  const { provider } = settings;
  const configured = provider === "brave" ? settings.apiKey : settings[provider].apiKey;
  if (configured !== undefined && configured !== "") return true;
  return KEY_NAMES[provider].some((name) => {
    const found = secret(name);
    return typeof found === "string" ? found.trim() !== "" : found !== undefined;
  });
}

/** `web_search` and `web_fetch`, as far as the configuration in use offers them; the first only with a key. What they remember lives as long as the function. */
export function createWebTools(deps: WebToolsDeps): () => readonly Tool[] {
  const search = webSearchTool(deps);
  const fetch = webFetchTool(deps);
  return () => {
    const config = deps.config();
    const settings = searchSettings(config);
    return [...(settings.enabled && hasSearchKey(deps, settings) ? [search] : []), ...(fetchSettings(config).enabled ? [fetch] : [])];
  };
}
