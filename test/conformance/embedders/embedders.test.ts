import { expect, test } from "vitest";
import type { ProviderAccess, ProviderId } from "../../../src/memory/embeddings/types.ts";
import { startEmbeddingServer } from "../../fakes/embedding-server/index.ts";
import { createEmbedder } from "../../../src/memory/embeddings/create-embedder.ts";
import { embedderSuite } from "./suite.ts";

const accessTo =
  (id: ProviderId, path: string) =>
  (origin: string): ProviderAccess => ({ id, model: `${id}-test`, baseUrl: `${origin}${path}`, headers: {}, keys: ["a-key-for-tests"], cost: 1 });

embedderSuite({ name: "openai", access: accessTo("openai", "/v1"), keyHeader: "authorization", hasBatch: true });
embedderSuite({ name: "voyage", access: accessTo("voyage", "/v1"), keyHeader: "authorization", hasBatch: true });
embedderSuite({ name: "gemini", access: accessTo("gemini", "/v1beta"), keyHeader: "x-goog-api-key", hasBatch: true });
embedderSuite({ name: "mistral", access: accessTo("mistral", "/v1"), keyHeader: "authorization", hasBatch: false });
embedderSuite({ name: "ollama", access: accessTo("ollama", ""), keyHeader: "authorization", hasBatch: false });

test("voyage and gemini are given the kind of the text", async () => {
  await using server = await startEmbeddingServer();
  const signal = new AbortController().signal;
  for (const kind of ["query", "document"] as const) {
    await createEmbedder(accessTo("voyage", "/v1")(server.origin), { version: "1" }).embed(["one"], { kind, timeoutMs: 10_000, signal });
    await createEmbedder(accessTo("gemini", "/v1beta")(server.origin), { version: "1" }).embed(["one"], { kind, timeoutMs: 10_000, signal });
  }
  const kinds = server.requests.map(({ body }) => {
    const { input_type, taskType } = body as { input_type?: string; taskType?: string };
    return input_type ?? taskType;
  });
  expect(kinds).toEqual(["query", "RETRIEVAL_QUERY", "document", "RETRIEVAL_DOCUMENT"]);
});
