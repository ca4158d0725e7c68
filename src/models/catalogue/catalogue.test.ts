import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { createCatalogue, openCatalogue, type CatalogueDeps } from "./catalogue.ts";
import { loadTables, type FrozenTables } from "./frozen.ts";
import type { ProviderSettings } from "./layer.ts";

let tables: FrozenTables;
beforeAll(async () => {
  tables = await loadTables();
});
const catalogue = (over: Partial<CatalogueDeps> = {}) => createCatalogue({ tables, hasCredential: () => false, ...over });

/** A documented example as users write it, through the real loader. */
async function configured(text: string, env: Record<string, string> = {}) {
  const home = mkdtempSync(join(tmpdir(), "catalogue-"));
  const path = join(home, "openclaw.json");
  writeFileSync(path, text);
  const { snapshot } = loadConfig({ path, env: { HOME: home, ...env }, osHome: home, cwd: home });
  expect(snapshot.issues).toEqual([]);
  return openCatalogue({ config: snapshot.config, agentDir: join(home, "agent"), hasCredential: () => true });
}

test("a known model has its wire format, base URL, window, capabilities and price", () => {
  const opus = catalogue().get({ provider: "anthropic", id: "claude-opus-4-6" });
  expect(opus).toMatchObject({
    api: "anthropic-messages",
    baseUrl: "https://api.anthropic.com",
    reasoning: true,
    input: ["text", "image"],
    source: "catalogue",
  });
  expect(opus.cost.output).toBeGreaterThan(opus.cost.input);
  expect(opus.contextWindow).toBeGreaterThanOrEqual(200_000);
});

test("ids are found in any case and keep the provider's spelling", () => {
  expect(catalogue().get({ provider: "MiniMax", id: "minimax-m2.1" })).toMatchObject({
    provider: "minimax",
    id: "MiniMax-M2.1",
    cost: { input: 15, output: 60, cacheRead: 2, cacheWrite: 10 },
  });
});

test("an unknown model is refused, with a suggestion", () => {
  expect(() => catalogue().get({ provider: "anthropic", id: "claude-opus-4-66" })).toThrow(
    "Unknown model: anthropic/claude-opus-4-66; did you mean anthropic/claude-opus-4-6?",
  );
  expect(() => catalogue().get({ provider: "nobody", id: "knows" })).toThrow(/^Unknown model: nobody\/knows; openclaw models list/);
});

test("a successor of a known model inherits its facts unless they are configured", () => {
  const known = catalogue();
  expect(known.find({ provider: "zai", id: "glm-5-next" })).toMatchObject({
    id: "glm-5-next",
    source: "predecessor",
    contextWindow: known.get({ provider: "zai", id: "glm-4.7" }).contextWindow,
  });
  expect(known.find({ provider: "anthropic", id: "claude-sonnet-4-6-20260301" })).toMatchObject({ id: "claude-sonnet-4-6-20260301", source: "predecessor" });
  expect(known.listed({ provider: "zai", id: "glm-5-next" })).toBeUndefined();
});

test("any model of a configured provider may be used", () => {
  const own = catalogue({ config: { mine: { baseUrl: "http://10.0.0.5/v1/", api: "openai-completions", models: [] } } });
  expect(own.find({ provider: "mine", id: "anything" })).toMatchObject({
    source: "generic",
    api: "openai-completions",
    baseUrl: "http://10.0.0.5/v1",
    contextWindow: 200_000,
    maxTokens: 8192,
    input: ["text"],
  });
  expect(catalogue({ config: { plain: { baseUrl: "http://h", models: [] } } }).find({ provider: "plain", id: "x" })?.api).toBe("openai-responses");
});

test("the configuration wins over plugins, models.json, discovery and tables, in this order", () => {
  const layer = (name: string): Record<string, ProviderSettings> => ({ ollama: { baseUrl: "http://127.0.0.1:11434", models: [{ id: "llama3.3", name }] } });
  const found = { ...catalogue({ file: layer("found") }).get({ provider: "ollama", id: "llama3.3" }), source: "discovery" as const };
  const layers = { discovered: [found], file: layer("file"), plugins: layer("plugin"), config: layer("config") };
  const nameFrom = (over: Partial<CatalogueDeps>) => catalogue(over).get({ provider: "ollama", id: "LLAMA3.3" }).name;
  expect(nameFrom(layers)).toBe("config");
  expect(nameFrom({ ...layers, config: undefined })).toBe("plugin");
  expect(nameFrom({ ...layers, config: undefined, plugins: undefined })).toBe("file");
  expect(nameFrom({ discovered: [found] })).toBe("found");
});

test("a configured base URL is used for all models of that provider: no key goes elsewhere", () => {
  const own = catalogue({ config: { anthropic: { baseUrl: "https://proxy.example", headers: { "x-team": "a" }, models: [{ id: "own" }] } } });
  const urls = new Set(own.list({ provider: "anthropic" }).map(({ baseUrl }) => baseUrl));
  expect([...urls]).toEqual(["https://proxy.example"]);
  expect(own.get({ provider: "anthropic", id: "claude-opus-4-6" }).headers).toEqual({ "x-team": "a" });
});

test("an unresolved secret header is left out", () => {
  const own = catalogue({ config: { mine: { baseUrl: "http://h", headers: { "x-key": { source: "env", id: "K" }, "x-ok": "1" }, models: [{ id: "m" }] } } });
  expect(own.get({ provider: "mine", id: "m" }).headers).toEqual({ "x-ok": "1" });
});

test("a configured opencode provider hides the built-in models; without one each uses its own wire format", () => {
  const own = catalogue({ config: { "opencode-zen": { baseUrl: "http://h", models: [{ id: "mine" }] } } });
  expect(own.list({ provider: "opencode" }).map(({ id }) => id)).toEqual(["mine"]);
  expect(catalogue().get({ provider: "opencode", id: "claude-opus-4-6" })).toMatchObject({ api: "anthropic-messages", baseUrl: "https://opencode.ai/zen" });
});

test("implied providers are listed once there is a credential, but can be found before", () => {
  expect(
    catalogue()
      .list()
      .some(({ provider }) => provider === "moonshot"),
  ).toBe(false);
  expect(
    catalogue({ hasCredential: (name) => name === "moonshot" })
      .list()
      .some(({ provider }) => provider === "moonshot"),
  ).toBe(true);
  expect(catalogue().find({ provider: "moonshot", id: "kimi-k2.5" })).toMatchObject({ contextWindow: 256_000, maxTokens: 8192 });
});

test("local models are those whose server runs on this machine", () => {
  const own = catalogue({
    config: { a: { baseUrl: "http://localhost:1234/v1", models: [{ id: "x" }] }, b: { baseUrl: "http://localhost.evil.example/v1", models: [{ id: "y" }] } },
  });
  expect(own.list({ local: true }).map(({ provider, id }) => `${provider}/${id}`)).toEqual(["a/x", "builtin/offline"]);
});

test("Ollama's native API is used beside its OpenAI-compatible URL", () => {
  expect(catalogue({ config: { ollama: { baseUrl: "http://127.0.0.1:11434/v1", models: [{ id: "q" }] } } }).get({ provider: "ollama", id: "q" })).toMatchObject(
    { api: "ollama", baseUrl: "http://127.0.0.1:11434" },
  );
});

test("documented example: LM Studio with an OpenAI-compatible URL", async () => {
  const known = await configured(`{
    agents: { defaults: { model: { primary: "lmstudio/minimax-m2.1-gs32" }, models: { "lmstudio/minimax-m2.1-gs32": { alias: "Minimax" } } } },
    models: { providers: { lmstudio: { baseUrl: "http://localhost:1234/v1", apiKey: "LMSTUDIO_KEY", api: "openai-completions", models: [
      { id: "minimax-m2.1-gs32", name: "MiniMax M2.1", reasoning: false, input: ["text"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 200000, maxTokens: 8192 } ] } } },
  }`);
  expect(known.get({ provider: "lmstudio", id: "minimax-m2.1-gs32" })).toMatchObject({
    name: "MiniMax M2.1",
    api: "openai-completions",
    baseUrl: "http://localhost:1234/v1",
    contextWindow: 200_000,
    maxTokens: 8192,
    source: "config",
  });
});

test("documented examples: Moonshot and Synthetic, with what they leave out filled in", async () => {
  const known = await configured(
    `{ models: { mode: "merge", providers: {
      moonshot: { baseUrl: "https://api.moonshot.ai/v1", apiKey: "\${MOONSHOT_API_KEY}", api: "openai-completions", models: [{ id: "kimi-k2.5", name: "Kimi K2.5" }] },
      synthetic: { baseUrl: "https://api.synthetic.new/anthropic", apiKey: "\${SYNTHETIC_API_KEY}", api: "anthropic-messages", models: [{ id: "hf:MiniMaxAI/MiniMax-M2.1", name: "MiniMax M2.1" }] },
    } } }`,
    { MOONSHOT_API_KEY: "a-key-of-this-test", SYNTHETIC_API_KEY: "another-key-of-this-test" },
  );
  expect(known.get({ provider: "moonshot", id: "kimi-k2.5" })).toMatchObject({
    api: "openai-completions",
    reasoning: false,
    input: ["text"],
    contextWindow: 200_000,
    maxTokens: 8192,
    source: "config",
  });
  expect(known.get({ provider: "synthetic", id: "hf:MiniMaxAI/MiniMax-M2.1" })).toMatchObject({
    api: "anthropic-messages",
    baseUrl: "https://api.synthetic.new/anthropic",
  });
});

test("documented example: a provider that needs no configuration", async () => {
  const known = await configured(`{ agents: { defaults: { model: { primary: "kimi-coding/k2p5" } } } }`);
  expect(known.get({ provider: "kimi-coding", id: "k2p5" })).toMatchObject({ api: "anthropic-messages", baseUrl: "https://api.kimi.com/coding" });
});
