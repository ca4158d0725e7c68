import { advanced, amount, choice, count, flag, group, map, number, secret, text, texts } from "../pieces.ts";
import { sandboxTools } from "./agent-tools.ts";
import { elevated, exec, fs } from "./exec.ts";
import { loopDetection } from "./loop-detection.ts";
import { linkTools, mediaTools } from "./media.ts";
import { profiledPolicy, toolPolicy } from "./policy.ts";

const cacheTtlMinutes = number("How long a response is cached.", { minimum: 0, ...advanced });

const web = group("The web tools.", {
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
    userAgent: text("Browser to identify as.", advanced),
    readability: flag("Take the main text out of pages.", advanced),
    maxResponseBytes: count("Largest response read.", advanced),
    firecrawl: group("Firecrawl, for pages that show nothing without a browser.", {
      enabled: flag("Use it when there is a key."),
      apiKey: secret("Its key."),
      baseUrl: text("Its address."),
      onlyMainContent: flag("Leave out menus and similar parts."),
      maxAgeMs: amount("How old its copy of a page may be.", advanced),
      timeoutSeconds: count("How long it may take.", advanced),
    }),
  }),
});

const message = group("The message tool.", {
  allowCrossContextSend: flag("Older switch for sending anywhere.", advanced),
  crossContext: group("Sending to another chat than the one the agent answers.", {
    allowWithinProvider: flag("To other chats of the same channel."),
    allowAcrossProviders: flag("To other channels."),
    marker: group("Note added to such messages.", { enabled: flag("Add it."), prefix: text("Text before."), suffix: text("Text after.") }),
  }),
  broadcast: group("Sending to many chats at once.", { enabled: flag("Allow it.") }),
});

const reach = group("One tool.", { reads: choice("What it brings in.", ["private", "untrusted", "both"]), outbound: flag("It can carry data out.") });

export const tools = group("What agents may do.", {
  ...profiledPolicy,
  web,
  media: mediaTools,
  links: linkTools,
  sessions: group("The session tools.", { visibility: choice("Which sessions an agent sees.", ["self", "tree", "agent", "all"]) }),
  loopDetection,
  taint: group("Asks before data may leave a session that has seen both private data and text from others.", {
    enabled: flag("Ask."),
    tools: map("What a tool reads and whether it can send, by name; * for unknown tools.", reach),
  }),
  message,
  agentToAgent: group("Messages between agents.", { enabled: flag("Allow them."), allow: texts("Agents that take part.") }),
  elevated,
  exec,
  fs,
  subagents: group("Tools of subagents.", { tools: toolPolicy("Which tools a subagent has.") }),
  sandbox: sandboxTools,
});
