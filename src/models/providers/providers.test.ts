import { expect, test } from "vitest";
import { loadTables } from "../catalogue/index.ts";
import { createCatalogue } from "../catalogue/catalogue.ts";
import { LONG_TAIL_APIS } from "../long-tail/index.ts";
import { WIRE_APIS } from "../wire/index.ts";
import { canonicalProvider, keyVariables, needsNoKey, PROVIDERS, providerFacts } from "./index.ts";

test("every documented provider is there, once", () => {
  const documented =
    "anthropic openai openai-codex google google-vertex google-gemini-cli google-antigravity amazon-bedrock github-copilot copilot-proxy openrouter opencode vercel-ai-gateway cloudflare-ai-gateway litellm zai minimax minimax-cn minimax-portal moonshot kimi-coding qwen-portal synthetic venice together huggingface nvidia qianfan xiaomi xai groq cerebras mistral ollama vllm chutes voyage deepgram";
  const ids = PROVIDERS.map(({ id }) => id);
  expect(documented.split(" ").filter((id) => !ids.includes(id))).toEqual([]);
  expect(new Set(PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases])).size).toBe(
    PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]).length,
  );
});

test("a provider's aliases resolve to it, in any case", () => {
  expect(["Z.AI", "z-ai", "opencode-zen", "qwen", "kimi-code", " Anthropic "].map(canonicalProvider)).toEqual([
    "zai",
    "zai",
    "opencode",
    "qwen-portal",
    "kimi-coding",
    "anthropic",
  ]);
  expect(canonicalProvider("My-Proxy")).toBe("my-proxy");
});

test("keys are looked for in the documented variables and order", () => {
  expect(keyVariables("anthropic")).toEqual(["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"]);
  expect(keyVariables("opencode-zen")).toEqual(["OPENCODE_API_KEY", "OPENCODE_ZEN_API_KEY"]);
  expect(keyVariables("huggingface")).toEqual(["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"]);
  expect(keyVariables("unheard-of")).toEqual([]);
});

test("variables that name a file or an account are not taken for keys", () => {
  expect(providerFacts("google-vertex")?.env).toContain("GOOGLE_APPLICATION_CREDENTIALS");
  expect([keyVariables("google-vertex"), keyVariables("amazon-bedrock")]).toEqual([[], []]);
});

test("only providers on this machine work without a key", () => {
  expect(PROVIDERS.filter(({ id }) => needsNoKey(id)).map(({ id }) => id)).toEqual(["ollama", "vllm", "lmstudio", "llamacpp", "builtin"]);
});

test("a server that only the configuration knows works without a key, unless one is named there", () => {
  const baseUrl = "http://10.0.0.5:8080/v1";
  const of = (entry: object, id = "acme"): boolean => needsNoKey("acme", { models: { providers: { [id]: { baseUrl, models: [], ...entry } } } });
  expect([of({}), of({}, "ACME"), of({ apiKey: " " })]).toEqual([true, true, true]);
  expect([of({ apiKey: "${ACME_KEY}" }), of({ apiKey: "k" }), of({ auth: "api-key" }), of({ auth: "oauth" }), of({ baseUrl: "" }), of({}, "other")]).toEqual(
    Array(6).fill(false),
  );
  const cloud = { models: { providers: { openai: { baseUrl, models: [] }, anthropic: { baseUrl, models: [] } } } };
  expect([needsNoKey("openai", cloud), needsNoKey("anthropic", cloud)]).toEqual([false, false]);
});

test("keys are sent over https, or stay on this machine", () => {
  for (const { id, baseUrl, alsoAt = {} } of PROVIDERS) {
    for (const url of [baseUrl, ...Object.values(alsoAt)]) expect(url, id).toMatch(/^$|^https:\/\/|^http:\/\/(?:localhost|127\.0\.0\.1):/);
  }
});

test("every wire format is implemented here, comes with the package, or is documented as a plugin's", () => {
  const known = new Set([...WIRE_APIS, ...LONG_TAIL_APIS, "builtin-offline", "google-gemini-cli", ""]);
  expect(PROVIDERS.filter(({ api }) => !known.has(api)).map(({ id }) => id)).toEqual([]);
});

test("the default model of every provider that may be picked is known", async () => {
  const catalogue = createCatalogue({ tables: await loadTables(), hasCredential: () => true });
  const unknown = PROVIDERS.filter(({ picksDefault }) => picksDefault).filter(
    ({ id, defaultModel }) => !catalogue.listed({ provider: id, id: defaultModel ?? "" }),
  );
  expect(unknown.map(({ id, defaultModel }) => `${id}/${defaultModel}`)).toEqual([]);
});
