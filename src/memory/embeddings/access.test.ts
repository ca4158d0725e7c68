import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import { openConfig } from "../../config/index.ts";
import { loadModels } from "../../models/index.ts";
import { memorySettings } from "../settings.ts";
import { embeddingSettings } from "./access.ts";
import type { EmbeddingSettings } from "./types.ts";

interface Given {
  readonly memorySearch?: object;
  readonly models?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly profiles?: object;
}

/** What is chosen with a configuration, an environment and stored profiles. */
async function chosen({ memorySearch = {}, models, env: more = {}, profiles }: Given): Promise<EmbeddingSettings> {
  const folder = mkdtempSync(join(tmpdir(), "embedding-access-"));
  const file = join(folder, "openclaw.json");
  writeFileSync(file, JSON.stringify({ agents: { defaults: { memorySearch } }, ...(models ? { models } : {}) }));
  writeFileSync(join(folder, "model.gguf"), "");
  const agentDir = join(folder, "agent");
  mkdirSync(agentDir);
  if (profiles) writeFileSync(join(agentDir, "auth-profiles.json"), JSON.stringify({ version: 1, profiles }));
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file, ...more };
  const ids = createIds(systemRandom);
  const config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.0.0", clock: systemClock, ids, purpose: "start" });
  onTestFinished(() => {
    config[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const { createModels } = await loadModels();
  const deps = { clock: systemClock, ids, random: systemRandom, log: silentLogger, redactor: createRedactor(), version: "1.0.0" };
  const auth = createModels({ ...deps, config: () => config.current, env: config.env, agentDir: () => agentDir, mainAgentDir: agentDir }).auth("main");
  const settings = memorySettings(config.current, "main", { stateDir: folder, home: folder, workspace: join(folder, "workspace") });
  return embeddingSettings(settings, { config, home: folder, version: "1.0.0", auth });
}

test("without a key and a model there is no provider, and the reason is given", async () => {
  const { primary, unavailable, requested } = await chosen({});
  expect([primary, requested]).toEqual([undefined, "auto"]);
  expect(unavailable).toMatch(/no local model and no key/);
});

test("a key in the environment chooses the provider: openai before gemini before voyage", async () => {
  const keys = { OPENAI_API_KEY: "key-of-openai", GEMINI_API_KEY: "key-of-gemini", VOYAGE_API_KEY: "key-of-voyage" };
  expect((await chosen({ env: keys })).primary).toMatchObject({
    id: "openai",
    model: "text-embedding-3-small",
    baseUrl: "https://api.openai.com/v1",
    keys: ["key-of-openai"],
    cost: 0.02,
  });
  const { OPENAI_API_KEY: _, ...others } = keys;
  expect((await chosen({ env: others })).primary).toMatchObject({ id: "gemini", model: "gemini-embedding-001", keys: ["key-of-gemini"] });
  expect((await chosen({ env: { VOYAGE_API_KEY: "key-of-voyage" } })).primary).toMatchObject({
    id: "voyage",
    model: "voyage-4-large",
    baseUrl: "https://api.voyageai.com/v1",
  });
});

test("a local model that exists comes before every key; one that does not exist is not chosen by itself", async () => {
  const env = { OPENAI_API_KEY: "key-of-openai" };
  expect((await chosen({ env, memorySearch: { local: { modelPath: "~/model.gguf" } } })).primary).toMatchObject({ id: "local", keys: [] });
  expect((await chosen({ env, memorySearch: { local: { modelPath: "~/missing.gguf" } } })).primary).toMatchObject({ id: "openai" });
  expect((await chosen({ memorySearch: { provider: "local" } })).primary?.local?.modelPath).toMatch(/^hf:.*embeddinggemma/);
});

test("keys come from profiles and from models.providers, and logins for chats do not count", async () => {
  const profiles = { "openai:default": { type: "api_key", provider: "openai", key: "key-in-a-profile" } };
  expect((await chosen({ profiles })).primary).toMatchObject({ id: "openai", keys: ["key-in-a-profile"] });
  const oauth = { "openai:me": { type: "oauth", provider: "openai", access: "a", refresh: "r", expires: 9e15 } };
  expect((await chosen({ profiles: oauth })).primary).toBeUndefined();
  const models = { providers: { voyage: { baseUrl: "https://voyage.example/v1/", apiKey: "key-in-the-file", headers: { "x-org": "o" }, models: [] } } };
  expect((await chosen({ models })).primary).toMatchObject({
    id: "voyage",
    baseUrl: "https://voyage.example/v1",
    keys: ["key-in-the-file"],
    headers: { "x-org": "o" },
  });
});

test("remote settings come before those of the provider, for this provider alone", async () => {
  const memorySearch = {
    provider: "openai",
    model: "own-model",
    fallback: "voyage",
    remote: { baseUrl: "https://proxy.example/v1/", apiKey: "${PROXY_KEY}", headers: { "X-Project": "p" } },
  };
  const models = {
    providers: { openai: { baseUrl: "https://other.example/v1", apiKey: "not-this-one", headers: { "x-org": "o", "X-Project": "q" }, models: [] } },
  };
  const { primary, fallback } = await chosen({ memorySearch, models, env: { PROXY_KEY: "key-of-the-proxy", VOYAGE_API_KEY: "key-of-voyage" } });
  expect(primary).toMatchObject({
    baseUrl: "https://proxy.example/v1",
    keys: ["key-of-the-proxy"],
    model: "own-model",
    headers: { "x-org": "o", "X-Project": "p" },
  });
  expect(fallback).toMatchObject({ id: "voyage", keys: ["key-of-voyage"], model: "voyage-4-large", headers: {}, baseUrl: "https://api.voyageai.com/v1" });
});

test("gemini has all keys of the environment in turn", async () => {
  const env = { GEMINI_API_KEY: "first-key", GEMINI_API_KEYS: "second-key, third-key", GOOGLE_API_KEY: "fourth-key" };
  expect((await chosen({ memorySearch: { provider: "gemini" }, env })).primary?.keys).toEqual(["first-key", "second-key", "third-key", "fourth-key"]);
});

test("a server on this machine needs no key", async () => {
  const { primary } = await chosen({ memorySearch: { provider: "ollama", model: "embeddinggemma", remote: { baseUrl: "http://127.0.0.1:11434/v1" } } });
  expect(primary).toMatchObject({ id: "ollama", baseUrl: "http://127.0.0.1:11434", keys: [], model: "embeddinggemma" });
});

test("a missing key of a requested provider is named with the command that adds one", async () => {
  const { primary, unavailable } = await chosen({ memorySearch: { provider: "mistral" } });
  expect(primary).toBeUndefined();
  expect(unavailable).toMatch(/No API key found for provider "mistral".*openclaw models auth add --provider mistral/);
});
