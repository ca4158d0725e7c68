import { advanced, amount, choice, count, flag, group, number, secret, text } from "../pieces.ts";

const cacheTtlMinutes = number("How long an answer is kept.", { minimum: 0, ...advanced });

export const web = group("The web tools.", {
  search: group("The web_search tool.", {
    enabled: flag("Offer it; on when a key is there."),
    provider: choice("Search service.", ["brave", "perplexity", "grok"]),
    apiKey: secret("Key of the Brave service."),
    maxResults: count("Results per search, at most 10."),
    timeoutSeconds: count("How long a search may take."),
    cacheTtlMinutes,
    perplexity: group("Perplexity.", { apiKey: secret("Its key."), baseUrl: text("Its address."), model: text("Its model.") }),
    grok: group("Grok.", { apiKey: secret("Its key."), model: text("Its model."), inlineCitations: flag("Keep citations in the text.") }),
  }),
  fetch: group("The web_fetch tool.", {
    enabled: flag("Offer it."),
    maxChars: count("Longest text returned."),
    maxCharsCap: count("Longest text the agent may ask for.", advanced),
    timeoutSeconds: count("How long a request may take."),
    cacheTtlMinutes,
    maxRedirects: amount("Redirects followed.", advanced),
    userAgent: text("Browser it appears as.", advanced),
    readability: flag("Take the main text out of pages.", advanced),
    maxResponseBytes: count("Largest answer read.", advanced),
    firecrawl: group("Firecrawl, for pages that show nothing without a browser.", {
      enabled: flag("Use it when there is a key."),
      apiKey: secret("Its key."),
      baseUrl: text("Its address."),
      onlyMainContent: flag("Leave menus and the like out."),
      maxAgeMs: amount("How old its copy of a page may be.", advanced),
      timeoutSeconds: count("How long it may take.", advanced),
    }),
  }),
});
