import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { loadHttp } from "../../base/builtin.ts";
import { manualClock } from "../../base/clock.ts";
import { listFreeModels, paramsOf, rankScanned, type Scanned, type ScanFilter } from "./free-models.ts";

const NOW = 1_800_000_000_000;
const DAY_S = 86_400;
const LIST = [
  {
    id: "meta-llama/llama-3.3-70b-instruct:free",
    name: "Llama 3.3 70B",
    context_length: 131_072,
    created: NOW / 1000 - 400 * DAY_S,
    supported_parameters: ["tools"],
  },
  {
    id: "google/gemma-27b",
    name: "Gemma",
    pricing: { prompt: "0", completion: "0" },
    context_length: 96_000,
    created: NOW / 1000 - 10 * DAY_S,
    architecture: { input_modalities: ["text", "image"] },
  },
  { id: "openai/gpt-5.2", name: "GPT-5.2", pricing: { prompt: "0.1", completion: "0.2" } },
  "nonsense",
];

async function scan(filter: ScanFilter, answer: unknown = { data: LIST }) {
  const server = loadHttp()
    .createServer((_, response) => response.end(JSON.stringify(answer)))
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/`;
    return (await listFreeModels({ baseUrl, timeoutMs: 5000, clock: manualClock(NOW), filter })).map(({ id }) => id);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("only models that cost nothing are listed", async () => {
  expect(await scan({})).toEqual(["meta-llama/llama-3.3-70b-instruct:free", "google/gemma-27b"]);
});

test("size, age and maker filter the list", async () => {
  expect(await scan({ minParams: 30 })).toEqual(["meta-llama/llama-3.3-70b-instruct:free"]);
  expect(await scan({ maxAgeDays: 30 })).toEqual(["google/gemma-27b"]);
  expect(await scan({ maker: "Google" })).toEqual(["google/gemma-27b"]);
});

test("an answer that is not a list of models is an error with the URL", async () => {
  await expect(scan({}, { models: [] })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/^could not get the model list at http:.*\/api\/v1\/models:/),
  });
});

test.each([
  ["meta/llama-3.3-70b-instruct:free", 70],
  ["mixtral-8x7b", 56],
  ["qwen3-235b-a22b", 235],
  ["phi-3.8b", 3.8],
  ["gpt-5.2", undefined],
])("%s has %s billion parameters", (name, size) => {
  expect(paramsOf(name)).toBe(size);
});

test("ranking: images, then quick tools, then window, then size", () => {
  const model = (id: string, over: Partial<Scanned>): Scanned => ({
    id,
    name: id,
    contextLength: 1,
    maxTokens: undefined,
    params: 1,
    createdAt: undefined,
    takesImages: false,
    takesTools: true,
    ...over,
  });
  const ranked = rankScanned([
    model("small", {}),
    model("big", { params: 9 }),
    model("wide", { contextLength: 9 }),
    model("slow", { tool: { ok: true, latencyMs: 900 } }),
    model("quick", { tool: { ok: true, latencyMs: 100 } }),
    model("sees", { image: { ok: true, latencyMs: 5 }, tool: { ok: true, latencyMs: 5000 } }),
    model("claims", { takesImages: true, image: { ok: false, latencyMs: 0 } }),
  ]);
  expect(ranked.map(({ id }) => id)).toEqual(["sees", "quick", "slow", "wide", "big", "claims", "small"]);
});
