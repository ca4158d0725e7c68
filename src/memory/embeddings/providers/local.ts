import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError, messageOf } from "../../../base/errors.ts";
import { checkVectors } from "../answers.ts";
import { estimateAll } from "../estimate.ts";
import type { Embedder, LocalModel, ProviderAccess } from "../types.ts";

export const LOCAL_PACKAGE = "node-llama-cpp";
const LOCAL_TOKENS = 2048;

/** The part of the package that is used. */
interface Library {
  getLlama(options: { readonly logLevel?: unknown }): Promise<{ loadModel(options: { readonly modelPath: string }): Promise<Model> }>;
  resolveModelFile(path: string, folder?: string): Promise<string>;
  readonly LlamaLogLevel?: { readonly error?: unknown };
}

interface Model {
  createEmbeddingContext(): Promise<Context>;
  dispose?(): Promise<void>;
}

interface Context {
  getEmbeddingFor(text: string): Promise<{ readonly vector: readonly number[] }>;
  dispose?(): Promise<void>;
}

const isLibrary = (value: unknown): value is Library => typeof (value as Partial<Library> | undefined)?.getLlama === "function";

function entryOf(folder: string): string | undefined {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(LOCAL_PACKAGE, pathToFileURL(`${folder}/`));
  } catch {
    return undefined;
  }
  if (manifest === undefined) return undefined;
  type Entry = { readonly import?: string; readonly default?: string } | string | undefined;
  const { exports, main } = JSON.parse(readFileSync(manifest, "utf8")) as { exports?: { "."?: Entry }; main?: string };
  const entry = exports?.["."];
  const file = typeof entry === "string" ? entry : (entry?.import ?? entry?.default ?? main);
  return file === undefined ? undefined : join(dirname(manifest), file);
}

async function loadLibrary(from: readonly string[]): Promise<Library> {
  for (const folder of from) {
    const file = entryOf(folder);
    if (file === undefined) continue;
    const loaded: unknown = await import(pathToFileURL(file).href);
    if (isLibrary(loaded)) return loaded;
  }
  throw new AppError(
    "UNAVAILABLE",
    `embeddings on this machine need a package that is not installed: npm install ${LOCAL_PACKAGE} --prefix ${from[0] ?? "."}`,
    {
      details: { package: LOCAL_PACKAGE },
    },
  );
}

/** A GGUF model in this thread, with a package that the user installs. Loaded with the first text. */
export function localEmbedder({ model, local }: ProviderAccess): Embedder {
  let opened: Promise<{ readonly model: Model; readonly context: Context }> | undefined;
  // One text at a time: the context is one.
  let last: Promise<unknown> = Promise.resolve();

  async function open({ modelPath, cacheDir, packagesFrom }: LocalModel): Promise<{ readonly model: Model; readonly context: Context }> {
    const library = await loadLibrary(packagesFrom);
    try {
      const llama = await library.getLlama({ logLevel: library.LlamaLogLevel?.error });
      const file = await library.resolveModelFile(modelPath, cacheDir);
      const loaded = await llama.loadModel({ modelPath: file });
      return { model: loaded, context: await loaded.createEmbeddingContext() };
    } catch (error) {
      throw new AppError("UNAVAILABLE", `the embedding model ${modelPath} could not be loaded: ${messageOf(error)}`, { cause: error });
    }
  }

  return {
    id: "local",
    model,
    maxInputTokens: LOCAL_TOKENS,
    maxTexts: 32,
    embed(texts, { signal }) {
      const work = async () => {
        if (!local) throw new AppError("INVALID_INPUT", "no local model is set up: set memorySearch.local.modelPath");
        opened ??= open(local);
        const { context } = await opened.catch((error: unknown) => {
          opened = undefined; // A package or a file may be there at the next try.
          throw error;
        });
        const vectors: unknown[] = [];
        for (const text of texts) {
          signal.throwIfAborted();
          vectors.push([...(await context.getEmbeddingFor(text)).vector]);
        }
        return { vectors: checkVectors("the local model", vectors, texts.length), tokens: estimateAll(texts) };
      };
      const result = last.then(work, work);
      last = result.catch(() => undefined);
      return result;
    },
    async [Symbol.asyncDispose]() {
      const { model: loaded, context } = (await opened?.catch(() => undefined)) ?? {};
      await context?.dispose?.();
      await loaded?.dispose?.();
    },
  };
}
