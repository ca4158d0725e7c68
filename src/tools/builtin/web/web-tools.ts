import type { Tool } from "../../tool.ts";
import type { WebToolsDeps } from "./deps.ts";
import { webFetchTool } from "./fetch.ts";
import { webSearchTool } from "./search.ts";
import { fetchSettings, searchSettings } from "./settings.ts";

/** `web_search` and `web_fetch`, as far as the configuration in use offers them. What they remember lives as long as the function. */
export function createWebTools(deps: WebToolsDeps): () => readonly Tool[] {
  const search = webSearchTool(deps);
  const fetch = webFetchTool(deps);
  return () => {
    const config = deps.config();
    return [...(searchSettings(config).enabled ? [search] : []), ...(fetchSettings(config).enabled ? [fetch] : [])];
  };
}
