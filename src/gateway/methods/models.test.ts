import { expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { loadChoice } from "../../models/index.ts";
import type { CallContext } from "./handler.ts";
import { modelsHandlers } from "./models.ts";

async function list(current: OpenClawConfig) {
  const { createCatalogue, loadTables } = await loadChoice();
  const hasCredential = (provider: string): boolean => provider === "moonshot";
  const catalogue = createCatalogue({ tables: await loadTables(), config: current.models?.providers, hasCredential });
  const handlers = modelsHandlers({
    config: { current },
    models: { choices: () => Promise.resolve({ catalogue, hasCredential }), auths: () => Promise.resolve([]) },
  });
  const { models } = await handlers["models.list"]!({}, {} as CallContext);
  return models;
}

test("models.list without an allowlist: everything that is offered, with its facts", async () => {
  const models = await list({});
  expect(models.find(({ id }) => id === "claude-opus-4-6")).toMatchObject({
    provider: "anthropic",
    reasoning: true,
    input: ["text", "image"],
    contextWindow: expect.any(Number),
  });
  expect(new Set(models.map(({ provider }) => provider))).toContain("moonshot");
  expect(new Set(models.map(({ provider }) => provider))).not.toContain("minimax");
});

test("models.list with an allowlist: the default and what it names, as far as it is known", async () => {
  const agents = { defaults: { model: { primary: "openai/gpt-5.2" }, models: { "z.ai/glm-4.7": {}, "nobody/nothing": {} } } };
  expect((await list({ agents })).map(({ provider, id }) => `${provider}/${id}`)).toEqual(["openai/gpt-5.2", "zai/glm-4.7"]);
});

test("models.list tells which models can be asked: there is a key, or the server is near; of a server of the user's own nobody can tell", async () => {
  const model = {
    id: "m",
    name: "M",
    input: ["text" as const],
    reasoning: false,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 8,
    maxTokens: 8,
  };
  const at = (baseUrl: string) => ({ baseUrl, api: "openai-completions" as const, models: [model] });
  const models = await list({ models: { providers: { near: at("http://127.0.0.1:9/v1"), far: at("https://far.example/v1") } } });
  const hasKey = (wanted: string) => new Set(models.filter(({ provider }) => provider === wanted).map((one) => one.hasKey));
  expect([hasKey("moonshot"), hasKey("near"), hasKey("far"), hasKey("anthropic")]).toEqual([
    new Set([true]),
    new Set([true]),
    new Set([undefined]),
    new Set([false]),
  ]);
});
