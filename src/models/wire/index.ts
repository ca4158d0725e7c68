import { AppError } from "../../base/errors.ts";
import type { WireFormat } from "./format.ts";

export { encodeBody, encodePieces, encodeRequest } from "./format.ts";
export { withoutThinkingTags } from "./thinking-tags.ts";
export { errorFacts, retryHint } from "./provider-error.ts";
export type { EncodedConversation, EncodedRequest, ModelEvent, WireFormat, WireRequest } from "./format.ts";

/** Each format is a chunk of its own, loaded when a model that uses it is first called. */
const FORMATS: Readonly<Record<string, () => Promise<WireFormat>>> = {
  "openai-completions": async () => (await import("./openai-completions/index.ts")).openAiCompletions,
  "openai-responses": async () => (await import("./openai-responses/index.ts")).openAiResponses,
  "anthropic-messages": async () => (await import("./anthropic-messages/index.ts")).anthropicMessages,
  "google-generative-ai": async () => (await import("./google-generative-ai/index.ts")).googleGenerativeAi,
  ollama: async () => (await import("./ollama/index.ts")).ollama,
};

/** Formats implemented here. */
export const WIRE_APIS: readonly string[] = Object.keys(FORMATS);

export async function loadWire(api: string): Promise<WireFormat> {
  const load = FORMATS[api];
  if (!load) throw new AppError("UNAVAILABLE", `the wire format ${JSON.stringify(api)} is unknown; known are: ${WIRE_APIS.join(", ")}`);
  return load();
}
