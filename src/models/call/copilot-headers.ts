import type { WireRequest } from "../wire/index.ts";

/** What GitHub Copilot wants to know about a request: who caused it, and whether it holds pictures. Nothing about another program's name. */
export function copilotHeaders({ model, messages }: WireRequest): Readonly<Record<string, string>> {
  if (model.provider !== "github-copilot") return {};
  const last = messages.at(-1);
  const pictures = messages.some(({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"));
  return {
    "x-initiator": last === undefined || last.role === "user" ? "user" : "agent",
    "openai-intent": "conversation-edits",
    ...(pictures ? { "copilot-vision-request": "true" } : {}),
  };
}
