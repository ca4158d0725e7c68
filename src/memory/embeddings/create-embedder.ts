import { createHash } from "node:crypto";
import { sleep } from "./batch/poll.ts";
import { geminiEmbedder } from "./providers/gemini.ts";
import { localEmbedder } from "./providers/local.ts";
import { ollamaEmbedder } from "./providers/ollama.ts";
import { openaiEmbedder } from "./providers/openai.ts";
import { voyageEmbedder } from "./providers/voyage.ts";
import { createClient, type ClientDeps } from "./request.ts";
import type { Embedder, ProviderAccess } from "./types.ts";

export type EmbedderDeps = Partial<Pick<ClientDeps, "sleep">> & { readonly version: string };

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

export function createEmbedder(access: ProviderAccess, deps: EmbedderDeps): Embedder {
  const client = (keyHeader: ClientDeps["keyHeader"]) => createClient(access, { sleep, ...deps, keyHeader });
  switch (access.id) {
    case "gemini":
      return geminiEmbedder(client((key) => ({ "x-goog-api-key": key })));
    case "voyage":
      return voyageEmbedder(client(bearer));
    case "ollama":
      return ollamaEmbedder(client(bearer));
    case "local":
      return localEmbedder(access);
    case "openai":
    case "mistral":
      return openaiEmbedder(client(bearer));
  }
}

/**
 * What decides which vectors fit together: provider, model, endpoint and the names of the headers. Keys are not part of it, so that a new key keeps the
 * cache, and none can be guessed from it.
 */
export function providerKey({ id, model, baseUrl, headers, local }: ProviderAccess): string {
  const names = Object.keys(headers)
    .map((name) => name.toLowerCase())
    .sort();
  return createHash("sha256")
    .update(JSON.stringify({ provider: id, baseUrl, model, headers: names, ...(local ? { modelPath: local.modelPath } : {}) }))
    .digest("hex");
}
