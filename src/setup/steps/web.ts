import type { Setup } from "../context.ts";

type SearchService = "brave" | "perplexity" | "grok";

const SERVICES: readonly { readonly value: SearchService; readonly label: string; readonly hint: string }[] = [
  { value: "brave", label: "Brave Search", hint: "BRAVE_API_KEY" },
  { value: "perplexity", label: "Perplexity", hint: "PERPLEXITY_API_KEY or OPENROUTER_API_KEY" },
  { value: "grok", label: "Grok", hint: "XAI_API_KEY" },
];

/** Whether agents may look into the web, and with whose search. */
export async function setUpWeb({ ask, draft, host }: Setup): Promise<void> {
  if (!ask) return;
  const known = draft.config.tools?.web;
  const search = await ask.confirm({ message: "Allow agents to search the web?", initialValue: known?.search?.enabled ?? true });
  draft.merge({ tools: { web: { search: { enabled: search } } } });
  if (search) {
    const provider = await ask.select<SearchService>({
      message: "Search service",
      options: [...SERVICES],
      initialValue: known?.search?.provider ?? "brave",
    });
    const key = (await ask.password({ message: "API key (empty to use the existing one or the environment variable)" })).trim();
    if (key !== "") host.redactor.register(key);
    const apiKey = key === "" ? {} : { apiKey: key };
    draft.merge({ tools: { web: { search: { provider, ...(provider === "brave" ? apiKey : { [provider]: apiKey }) } } } });
  }
  const fetch = await ask.confirm({ message: "Allow agents to open web pages?", initialValue: known?.fetch?.enabled ?? true });
  draft.merge({ tools: { web: { fetch: { enabled: fetch } } } });
}
