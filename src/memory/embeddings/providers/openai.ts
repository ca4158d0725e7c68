import { checkVectors, rowsOf } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import { runFileBatch } from "../batch/file-batch.ts";
import type { ProviderClient } from "../request.ts";
import type { Embedder } from "../types.ts";

/** OpenAI, Mistral, and every server with their interface: `POST /embeddings`. */
export function openaiEmbedder(client: ProviderClient): Embedder {
  const { id, model } = client.access;
  return {
    id,
    model,
    maxInputTokens: 8192,
    maxTexts: id === "mistral" ? 128 : 2048,
    async embed(texts, { timeoutMs, signal }) {
      const body = { model, input: texts, ...(id === "openai" ? { encoding_format: "float" } : {}) };
      const { vectors, tokens } = rowsOf(await client.ask({ path: "/embeddings", body, timeoutMs, signal }));
      return { vectors: checkVectors(id, vectors, texts.length), tokens: tokens ?? estimateAll(texts) };
    },
    ...(id === "openai"
      ? {
          batch: (texts, options) =>
            runFileBatch(client, texts, {
              ...options,
              maxRequests: 50_000,
              line: (text, name) => ({ custom_id: name, method: "POST", url: "/v1/embeddings", body: { model, input: text } }),
              job: (file) => ({ input_file_id: file, endpoint: "/v1/embeddings", completion_window: "24h", metadata: { source: "openclaw-memory" } }),
            }),
        }
      : {}),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
