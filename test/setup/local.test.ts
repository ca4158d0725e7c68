import { expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createLocalModels, localPatch } from "../../src/setup/local-models.ts";
import { startModelServer } from "../fakes/model-server/index.ts";

const LIST = { kind: "status", status: 200, body: { data: [{ id: "tiny", owned_by: "vllm", max_model_len: 32_000 }] } } as const;
const CLOSED = { baseUrl: "http://127.0.0.1:1/v1", models: [] };

/** Only vLLM is somewhere; the others' usual ports may be anybody's. */
async function lookAt(url: string) {
  const clock = manualClock();
  const providers = { vllm: { baseUrl: url, models: [] }, ollama: CLOSED, lmstudio: CLOSED, llamacpp: CLOSED };
  return { clock, local: await createLocalModels({ clock, config: () => ({ models: { providers } }) }) };
}

test("a server that answers comes first, with its models", async () => {
  await using server = await startModelServer(LIST);
  const { local } = await lookAt(`${server.url}/v1`);
  const [first, ...others] = await local.look();
  expect(first).toEqual({ id: "vllm", label: "vLLM", url: `${server.url}/v1`, running: true, models: ["tiny"] });
  expect(others.map(({ running }) => running)).toEqual([false, false, false]);
  expect(local.entry("vllm", "tiny")).toMatchObject({ contextWindow: 32_000 });
});

test("one that takes the question and says nothing is not waited for; what it says later is in the next answer", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await startModelServer({ kind: "silent" }, { onHang: () => asked.resolve() });
  const { local, clock } = await lookAt(`${server.url}/v1`);
  const looking = local.look(undefined, 300);
  await asked.promise;
  clock.advance(300);
  expect((await looking).map(({ running }) => running)).toEqual([false, false, false, false]);
});

test("what has to be written for a local model names its address and wire format", async () => {
  expect(await localPatch({ provider: "LMStudio", model: "qwen", url: "http://127.0.0.1:4321/v1/" })).toEqual({
    provider: "lmstudio",
    ref: "lmstudio/qwen",
    patch: {
      models: {
        providers: {
          lmstudio: {
            baseUrl: "http://127.0.0.1:4321/v1",
            api: "openai-completions",
            models: [{ id: "qwen", name: "qwen", contextWindow: 128_000, maxTokens: 8192 }],
          },
        },
      },
    },
  });
  await expect(localPatch({ provider: "openai", model: "x" })).rejects.toThrow("ollama, lmstudio");
  await expect(localPatch({ provider: "ollama", model: "x", url: "file:///etc" })).rejects.toThrow("http://127.0.0.1:11434");
});
