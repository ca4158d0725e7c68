import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createEmbedder } from "./create-embedder.ts";
import type { Embedder } from "./types.ts";

/** Does what the package does, as far as it is used, with a model that counts letters. */
const PACKAGE = `
export const LlamaLogLevel = { error: 3 };
export const resolveModelFile = async (path, folder) => {
  if (path.includes("missing")) throw new Error("no such file: " + path);
  return folder ? folder + "/" + path.split("/").at(-1) : path;
};
export const getLlama = async ({ logLevel }) => ({
  loadModel: async ({ modelPath }) => ({
    createEmbeddingContext: async () => ({
      getEmbeddingFor: async (text) => ({ vector: [text.length, logLevel, modelPath.length] }),
      dispose: async () => {},
    }),
    dispose: async () => {},
  }),
});
`;

function setup({ isInstalled, modelPath = "/models/small.gguf" }: { readonly isInstalled: boolean; readonly modelPath?: string }): {
  readonly folder: string;
  readonly embedder: Embedder;
} {
  const folder = mkdtempSync(join(tmpdir(), "embedding-local-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (isInstalled) {
    const at = join(folder, "node_modules", "node-llama-cpp");
    mkdirSync(at, { recursive: true });
    writeFileSync(
      join(at, "package.json"),
      JSON.stringify({ name: "node-llama-cpp", version: "3.0.0", type: "module", exports: { ".": { import: "./index.js" } } }),
    );
    writeFileSync(join(at, "index.js"), PACKAGE);
  }
  const local = { modelPath, packagesFrom: [folder] };
  return { folder, embedder: createEmbedder({ id: "local", model: modelPath, baseUrl: "", headers: {}, keys: [], cost: 0, local }, { version: "1" }) };
}

const options = { kind: "document", timeoutMs: 10_000, signal: new AbortController().signal } as const;

test("embeds with a package that is installed beside the user's state", async () => {
  await using embedder = setup({ isInstalled: true }).embedder;
  const { vectors } = await embedder.embed(["one", "three"], options);
  expect(vectors).toHaveLength(2);
  expect(vectors[0]?.length).toBe(3);
});

test("says which package to install, and where", async () => {
  const { embedder, folder } = setup({ isInstalled: false });
  await expect(embedder.embed(["one"], options)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: `embeddings on this machine need a package that is not installed: npm install node-llama-cpp --prefix ${folder}`,
    details: { package: "node-llama-cpp" },
  });
});

test("a model that cannot be loaded is named", async () => {
  await using embedder = setup({ isInstalled: true, modelPath: "/models/missing.gguf" }).embedder;
  await expect(embedder.embed(["one"], options)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("no such file: /models/missing.gguf") as string,
  });
});
