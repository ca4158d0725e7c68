import { isRecord } from "../../../base/records.ts";
import { checkVectors } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import type { ProviderClient } from "../request.ts";
import type { Embedder } from "../types.ts";

/** Ollama's own interface: `POST /api/embed`. Its server cuts texts that are too long for the model. */
export function ollamaEmbedder(client: ProviderClient): Embedder {
  const { model } = client.access;
  return {
    id: "ollama",
    model,
    maxInputTokens: 8192,
    maxTexts: 256,
    async embed(texts, { timeoutMs, signal }) {
      const value = await client.ask({ path: "/api/embed", body: { model, input: texts, truncate: true }, timeoutMs, signal });
      const rows = isRecord(value) && Array.isArray(value["embeddings"]) ? value["embeddings"] : [];
      const counted = isRecord(value) ? value["prompt_eval_count"] : undefined;
      return { vectors: checkVectors("ollama", rows, texts.length), tokens: typeof counted === "number" ? counted : estimateAll(texts) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}
