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
  const makers: Readonly<Record<ProviderAccess["id"], () => Embedder>> = {
    openai: () => openaiEmbedder(client(bearer)),
    mistral: () => openaiEmbedder(client(bearer)),
    voyage: () => voyageEmbedder(client(bearer)),
    gemini: () => geminiEmbedder(client((key) => ({ "x-goog-api-key": key }))),
    ollama: () => ollamaEmbedder(client(bearer)),
    local: () => localEmbedder(access),
  };
  return makers[access.id]();
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
