import { checkVectors, rowsOf } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import { runFileBatch } from "../batch/file-batch.ts";
import type { ProviderClient } from "../request.ts";
import type { Embedder } from "../types.ts";

/** Voyage: OpenAI's form, with the kind of the text. */
export function voyageEmbedder(client: ProviderClient): Embedder {
  const { model } = client.access;
  return {
    id: "voyage",
    model,
    maxInputTokens: 8192,
    maxTexts: 1000,
    async embed(texts, { kind, timeoutMs, signal }) {
      const { vectors, tokens } = rowsOf(await client.ask({ path: "/embeddings", body: { model, input: texts, input_type: kind }, timeoutMs, signal }));
      return { vectors: checkVectors("voyage", vectors, texts.length), tokens: tokens ?? estimateAll(texts) };
    },
    batch: (texts, options) =>
      runFileBatch(client, texts, {
        ...options,
        maxRequests: 50_000,
        line: (text, name) => ({ custom_id: name, body: { input: [text] } }),
        job: (file) => ({ input_file_id: file, endpoint: "/v1/embeddings", completion_window: "12h", request_params: { model, input_type: "document" } }),
      }),
    [Symbol.asyncDispose]: async () => undefined,
  };
}
