import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { loadHttp } from "../../base/builtin.ts";
import { manualClock, systemClock } from "../../base/clock.ts";
import { providerFacts, type ProviderFacts } from "../providers/index.ts";
import { createDiscovery, type DiscoveryDeps } from "./discovery.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = loadHttp().createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const json =
  (paths: Record<string, unknown>, seen: string[] = []): RequestListener =>
  ({ url = "", headers }, response) => {
    seen.push(`${url} ${headers.authorization ?? "-"}`);
    response.writeHead(url in paths ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(paths[url] ?? {}));
  };
const at = (id: string, baseUrl: string): ProviderFacts => ({ ...providerFacts(id)!, baseUrl });
const discovery = (over: Partial<DiscoveryDeps>) => createDiscovery({ clock: systemClock, ...over });

test("Ollama's models are found, with facts from their names", async () => {
  const url = await serve(json({ "/api/tags": { models: [{ name: "llama3.3:70b" }, { name: "deepseek-r1:8b" }, { broken: true }] } }));
  const { models, servers: asked } = await discovery({ servers: [at("ollama", url)] }).look();
  expect(models.map(({ id, reasoning }) => [id, reasoning])).toEqual([
    ["llama3.3:70b", false],
    ["deepseek-r1:8b", true],
  ]);
  expect(models[0]).toMatchObject({
    provider: "ollama",
    api: "ollama",
    contextWindow: 128_000,
    maxTokens: 8192,
    cost: { input: 0, output: 0 },
    source: "discovery",
  });
  expect(asked).toEqual([{ provider: "ollama", baseUrl: url, models: 2 }]);
});

test("vLLM, LM Studio and llama.cpp are found through their lists, with the window the server states", async () => {
  const vllm = await serve(json({ "/v1/models": { data: [{ id: "qwen3-think", owned_by: "vllm", max_model_len: 40_960 }] } }));
  const studio = await serve(json({ "/v1/models": { data: [{ id: "gemma", owned_by: "organization_owner" }] } }));
  const llama = await serve(json({ "/v1/models": { data: [{ id: "model.gguf", owned_by: "llamacpp" }] } }));
  const { models } = await discovery({ servers: [at("vllm", `${vllm}/v1`), at("lmstudio", `${studio}/v1`), at("llamacpp", `${llama}/v1`)] }).look();
  expect(models.map(({ provider, id, contextWindow, reasoning }) => [provider, id, contextWindow, reasoning])).toEqual([
    ["vllm", "qwen3-think", 40_960, true],
    ["lmstudio", "gemma", 128_000, false],
    ["llamacpp", "model.gguf", 128_000, false],
  ]);
});

test("another program on a common port is not taken for a model server", async () => {
  const url = await serve(json({ "/v1/models": { data: [{ id: "x", owned_by: "another" }] } }));
  const { models, servers: asked } = await discovery({ servers: [at("vllm", `${url}/v1`)] }).look();
  expect([models, asked[0]?.error]).toEqual([[], "something other than vllm responds there"]);
});

test("a configured server is trusted, and its key is sent to it", async () => {
  const seen: string[] = [];
  const url = await serve(json({ "/v1/models": { data: [{ id: "x" }] } }, seen));
  const settings = (): { baseUrl: string } => ({ baseUrl: `${url}/v1/` });
  const { models } = await discovery({ servers: [at("vllm", "http://127.0.0.1:9/v1")], settings, apiKey: () => "a-key" }).look();
  expect([models.map(({ baseUrl }) => baseUrl), seen]).toEqual([[`${url}/v1`], ["/v1/models Bearer a-key"]]);
});

test.each([
  ["is not there", undefined],
  ["fails", (_: unknown, response: { writeHead(status: number): { end(): void } }) => response.writeHead(500).end()],
  ["answers no JSON", (_: unknown, response: { end(text: string): void }) => response.end("<html>")],
  ["answers something else", (_: unknown, response: { end(text: string): void }) => response.end(`{"data":"no"}`)],
  ["hangs up", (request: { socket: { destroy(): void } }) => request.socket.destroy()],
] as const)("a server that %s is passed over with a reason", async (_, listener) => {
  const url = listener ? await serve(listener) : "http://127.0.0.1:9";
  const { models, servers: asked } = await discovery({ servers: [at("lmstudio", `${url}/v1`)] }).look();
  expect(models).toEqual([]);
  expect(asked[0]?.error).toContain("could not get the models of");
});

test("redirects are not followed: a key stays with its server", async () => {
  const seen: string[] = [];
  const other = await serve(json({ "/v1/models": { data: [{ id: "x" }] } }, seen));
  const url = await serve((_, response) => response.writeHead(302, { location: `${other}/v1/models` }).end());
  const { models } = await discovery({ servers: [at("lmstudio", `${url}/v1`)], apiKey: () => "a-key" }).look();
  expect([models, seen]).toEqual([[], []]);
});

test("an endless list is cut off", async () => {
  const chunk = Buffer.alloc(1024 * 1024, 32);
  const url = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  });
  const { servers: asked } = await discovery({ servers: [at("lmstudio", `${url}/v1`)] }).look();
  expect(asked[0]?.error).toContain("larger than");
});

test("a silent server times out after five seconds", async () => {
  const clock = manualClock();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const silent = await serve(() => resolve());
  let settled = false;
  const looking = discovery({ clock, servers: [at("lmstudio", `${silent}/v1`)] })
    .look()
    .finally(() => (settled = true));
  await asked;
  clock.advance(4999);
  await new Promise(setImmediate);
  expect(settled).toBe(false);
  clock.advance(1);
  expect((await looking).servers[0]?.error).toContain("no response within 5000 ms");
});

test("all servers are queried at once: one's models are known although another is silent", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const silent = await serve(() => undefined);
  const quick = await serve((_, response) => {
    response.end(JSON.stringify({ models: [{ name: "m" }] }));
    resolve();
  });
  const looking = discovery({ timeoutMs: 300, servers: [at("lmstudio", `${silent}/v1`), at("ollama", quick)] }).look();
  await asked; // Not delayed by the silent one, which comes first.
  expect((await looking).models.map(({ id }) => id)).toEqual(["m"]);
});

test("an answer is cached; concurrent callers share one request", async () => {
  const clock = manualClock();
  const seen: string[] = [];
  const url = await serve(json({ "/api/tags": { models: [{ name: "m" }] } }, seen));
  const one = discovery({ clock, servers: [at("ollama", url)] });
  expect(one.last).toBeUndefined();
  await Promise.all([one.look(), one.look()]);
  clock.advance(5 * 60_000 - 1);
  await one.look();
  expect([seen.length, one.last?.models.length]).toEqual([1, 1]);
  clock.advance(1);
  await one.look();
  expect(seen).toHaveLength(2);
});

test("an empty result is cached for a shorter time", async () => {
  const clock = manualClock();
  const seen: string[] = [];
  const url = await serve(json({}, seen));
  const one = discovery({ clock, servers: [at("ollama", url)] });
  await one.look();
  clock.advance(30_000);
  await one.look();
  expect(seen).toHaveLength(2);
});
