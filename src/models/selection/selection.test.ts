import { beforeAll, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { createCatalogue, loadTables, type FrozenTables } from "../catalogue/index.ts";
import {
  contextWindowOf,
  formatRef,
  imageModels,
  notAllowedText,
  parseRef,
  readRef,
  selectModel,
  thinkingFor,
  thinkingLevels,
  type SelectionInput,
} from "./index.ts";

let tables: FrozenTables;
beforeAll(async () => {
  tables = await loadTables();
});

type Defaults = NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>;
const defaults = (value: Defaults, more: OpenClawConfig = {}): OpenClawConfig => ({ ...more, agents: { ...more.agents, defaults: value } });

function select(config: OpenClawConfig, over: Partial<SelectionInput> & { readonly keys?: readonly string[] } = {}) {
  const hasCredential = (provider: string): boolean => (over.keys ?? ["anthropic"]).includes(provider);
  const catalogue = createCatalogue({ tables, config: config.models?.providers, hasCredential });
  return selectModel({ config, catalogue, hasCredential, ...over });
}
const names = (entries: readonly { readonly provider: string; readonly id: string }[]) => entries.map(formatRef);

test.each([
  ["anthropic/claude-opus-4-6", "anthropic/claude-opus-4-6"],
  ["  OpenAI/gpt-5.2 ", "openai/gpt-5.2"],
  ["openrouter/moonshotai/kimi-k2", "openrouter/moonshotai/kimi-k2"],
  ["z.ai/glm-5", "zai/glm-5"],
  ["Z-AI/glm-5", "zai/glm-5"],
  ["opencode-zen/x", "opencode/x"],
  ["qwen/coder-model", "qwen-portal/coder-model"],
  ["kimi-code/k2p5", "kimi-coding/k2p5"],
  ["anthropic/opus-4.6", "anthropic/claude-opus-4-6"],
  ["anthropic/Sonnet-4.5", "anthropic/claude-sonnet-4-5"],
  ["google/gemini-3-pro", "google/gemini-3-pro-preview"],
  ["google/gemini-3-flash", "google/gemini-3-flash-preview"],
  ["openai/gpt-5.3-codex", "openai-codex/gpt-5.3-codex"],
  ["openai/gpt-5.3-codex-spark", "openai-codex/gpt-5.3-codex-spark"],
  ["minimax/MiniMax-M2.1", "minimax/MiniMax-M2.1"],
  ["anthropic/constructor", "anthropic/constructor"],
])("%s means %s", (text, meant) => {
  expect(formatRef(parseRef(text)!)).toBe(meant);
});

test.each(["", "model", "/model", "provider/", " / "])("%j is no reference", (text) => {
  expect(parseRef(text)).toBeUndefined();
});

test("a single word is an alias in any case, else a model of the default provider", () => {
  const aliases = new Map([["fast", { provider: "openai", id: "gpt-5-mini" }]]);
  expect(readRef("FAST", aliases, "anthropic")).toEqual({ ref: { provider: "openai", id: "gpt-5-mini" }, via: "alias" });
  expect(readRef("claude-opus-4-6", aliases, "anthropic")).toEqual({ ref: { provider: "anthropic", id: "claude-opus-4-6" }, via: "default-provider" });
});

test("without a choice: the standard model, when there is a key for it", () => {
  expect(select({})).toMatchObject({ ref: { provider: "anthropic", id: "claude-opus-4-6" }, reason: { source: "standard" }, thinking: "low", fallbacks: [] });
});

test("without a choice and that key: a provider there is a key for", () => {
  expect(select({}, { keys: ["google", "groq"] })).toMatchObject({
    ref: { provider: "google", id: "gemini-3-pro-preview" },
    reason: { source: "credential", text: expect.stringContaining("google") },
  });
});

test("without any key: a model on this machine, else the built-in one", () => {
  const local = [
    {
      ...createCatalogue({ tables, hasCredential: () => false }).get({ provider: "builtin", id: "offline" }),
      provider: "ollama",
      id: "llama3.3",
      api: "ollama",
      baseUrl: "http://127.0.0.1:11434",
    },
  ];
  const config: OpenClawConfig = {};
  const hasCredential = (): boolean => false;
  expect(selectModel({ config, hasCredential, local, catalogue: createCatalogue({ tables, hasCredential, discovered: local }) })).toMatchObject({
    ref: { provider: "ollama", id: "llama3.3" },
    reason: { source: "local" },
  });
  expect(select(config, { keys: [] })).toMatchObject({
    ref: { provider: "builtin", id: "offline" },
    reason: { source: "offline" },
    entry: { api: "builtin-offline" },
  });
});

test("a configured model is selected even without a key: the call's error says so", () => {
  expect(select(defaults({ model: { primary: "openai/gpt-5.2" } }), { keys: [] })).toMatchObject({
    ref: { provider: "openai", id: "gpt-5.2" },
    reason: { source: "defaults" },
  });
});

test("a model without a provider belongs to the default provider, with a warning", () => {
  const chosen = select(defaults({ model: { primary: "claude-sonnet-4-5" } }));
  expect(formatRef(chosen.ref)).toBe("anthropic/claude-sonnet-4-5");
  expect(chosen.warnings[0]).toContain("has no provider");
});

test("an agent's text replaces the primary only, its list of fallbacks replaces the list, even an empty one", () => {
  const base = { model: { primary: "openai/gpt-5.2", fallbacks: ["openai/gpt-5-mini"] } };
  const agents = (model: string | { primary?: string; fallbacks?: string[] }): OpenClawConfig => ({
    agents: { defaults: base, list: [{ id: "Work", model }] },
  });
  const own = select(agents("anthropic/claude-sonnet-4-5"), { agentId: "work" });
  expect([formatRef(own.ref), own.reason.source, names(own.fallbacks)]).toEqual(["anthropic/claude-sonnet-4-5", "agent", ["openai/gpt-5-mini"]]);
  expect(names(select(agents({ primary: "anthropic/claude-sonnet-4-5", fallbacks: [] }), { agentId: "work" }).fallbacks)).toEqual([]);
  expect(formatRef(select(agents("anthropic/claude-sonnet-4-5"), { agentId: "other" }).ref)).toBe("openai/gpt-5.2");
});

test("a session's choice comes before the agent's, a run's before both; the configured model then comes last", () => {
  const config = defaults({ model: { primary: "openai/gpt-5.2", fallbacks: ["openai/gpt-5-mini"] } });
  const session = { providerOverride: "openrouter", modelOverride: "auto" };
  const chosen = select(config, { session });
  expect([formatRef(chosen.ref), chosen.reason.source, names(chosen.fallbacks)]).toEqual([
    "openrouter/auto",
    "session",
    ["openai/gpt-5-mini", "openai/gpt-5.2"],
  ]);
  expect(select(config, { session, override: "anthropic/opus-4.6" })).toMatchObject({ ref: { id: "claude-opus-4-6" }, reason: { source: "run" } });
});

test("a session's choice that is no longer valid is skipped with a warning", () => {
  const config = defaults({ model: { primary: "openai/gpt-5.2" }, models: { "openai/gpt-5.2": {} } });
  const chosen = select(config, { session: { providerOverride: "anthropic", modelOverride: "claude-opus-4-6" } });
  expect([formatRef(chosen.ref), chosen.warnings[0]]).toEqual([
    "openai/gpt-5.2",
    "anthropic/claude-opus-4-6, chosen for this session, is not allowed; openai/gpt-5.2 is used",
  ]);
});

test("a run may only request allowed models; the default always is, and aliases work", () => {
  const config = defaults({ model: { primary: "openai/gpt-5.2" }, models: { "anthropic/claude-haiku-4-5": { alias: "Fast" } } });
  expect(formatRef(select(config, { override: "fast" }).ref)).toBe("anthropic/claude-haiku-4-5");
  expect(formatRef(select(config, { override: "openai/gpt-5.2" }).ref)).toBe("openai/gpt-5.2");
  expect(() => select(config, { override: "anthropic/claude-opus-4-6" })).toThrow("model not allowed: anthropic/claude-opus-4-6");
  expect(notAllowedText({ provider: "a", id: "b" })).toBe(`Model "a/b" is not allowed. Use /model to list available models.`);
});

test("unknown models are refused", () => {
  expect(() => select(defaults({ model: { primary: "nobody/nothing" } }))).toThrow("Unknown model: nobody/nothing");
  expect(() => select({}, { override: "nobody/nothing" })).toThrow("Unknown model: nobody/nothing");
});

test("unknown, forbidden or repeated fallbacks are skipped, the first two with a warning", () => {
  const config = defaults({
    model: { primary: "openai/gpt-5.2", fallbacks: ["nobody/nothing", "google/gemini-3-pro", "openai/GPT-5.2", "fast", "anthropic/claude-haiku-4-5"] },
    models: { "anthropic/claude-haiku-4-5": { alias: "fast" } },
  });
  const { fallbacks, warnings } = select(config);
  expect(names(fallbacks)).toEqual(["anthropic/claude-haiku-4-5"]);
  expect(warnings).toEqual([
    expect.stringContaining("nobody/nothing is unknown"),
    expect.stringContaining("google/gemini-3-pro-preview is not in agents.defaults.models"),
  ]);
});

test("images go to the image model only when the chosen one does not accept them", () => {
  const imageModel = { primary: "google/gemini-3-flash-preview", fallbacks: ["anthropic/claude-opus-4-6"] };
  expect(select(defaults({ model: { primary: "openai/gpt-5.2" }, imageModel })).image?.entry.id).toBe("gpt-5.2");
  const blind = select(defaults({ model: { primary: "zai/glm-4.7" }, imageModel })).image;
  expect([blind?.entry.id, names(blind?.fallbacks ?? [])]).toEqual(["gemini-3-flash-preview", ["anthropic/claude-opus-4-6"]]);
  expect(select(defaults({ model: { primary: "zai/glm-4.7" } })).image).toBeUndefined();
});

test.each([
  [15_999, undefined, "too-small", "modelsConfig"],
  [16_000, undefined, "tight", "modelsConfig"],
  [31_999, undefined, "tight", "modelsConfig"],
  [32_000, undefined, "ok", "modelsConfig"],
  [200_000, 20_000, "tight", "agentContextTokens"],
  [20_000, 200_000, "tight", "modelsConfig"],
] as const)("a window of %i with a cap of %s is %s, by %s", (contextWindow, contextTokens, rating, source) => {
  const config: OpenClawConfig = {
    models: { providers: { mine: { baseUrl: "http://h", models: [{ id: "m", name: "M", contextWindow }] } } },
    agents: { defaults: { model: { primary: "mine/m" }, ...(contextTokens === undefined ? {} : { contextTokens }) } },
  };
  const entry = createCatalogue({ tables, config: config.models?.providers, hasCredential: () => true }).get({ provider: "mine", id: "m" });
  expect(contextWindowOf(entry, config)).toMatchObject({ rating, source });
  if (rating === "too-small") expect(() => select(config)).toThrow("Model context window too small (15999 tokens). Minimum is 16000.");
  else expect(select(config).warnings).toHaveLength(rating === "tight" ? 1 : 0);
});

test("thinking: low for models that reason, off for others, the configured level when there is one", () => {
  expect(select(defaults({ model: { primary: "openai/gpt-5.2" } })).thinking).toBe("low");
  expect(select(defaults({ model: { primary: "cerebras/zai-glm-4.7" }, thinkingDefault: "high" })).thinking).toBe("off");
  expect(select(defaults({ model: { primary: "openai/gpt-5.2" }, thinkingDefault: "xhigh" })).thinking).toBe("xhigh");
  const opus = select({}).entry;
  expect([thinkingFor(opus, "xhigh"), thinkingLevels(opus).includes("xhigh")]).toEqual(["high", false]);
});

test("a model's own parameters are selected with it", () => {
  expect(select(defaults({ models: { "Anthropic/claude-opus-4-6": { params: { temperature: 0.2 } } } })).params).toEqual({ temperature: 0.2 });
});

function looking(config: OpenClawConfig, keys: readonly string[], asked?: string) {
  const hasCredential = (provider: string): boolean => keys.includes(provider);
  const catalogue = createCatalogue({ tables, config: config.models?.providers, hasCredential });
  return names(imageModels({ config, catalogue, hasCredential }, asked));
}

test("images are handled by the image model and its fallbacks", () => {
  const config = defaults({
    model: { primary: "groq/openai/gpt-oss-120b" },
    imageModel: { primary: "google/gemini-3-flash", fallbacks: ["openai/gpt-5-mini"] },
  });
  expect(looking(config, ["groq"])).toEqual(["google/gemini-3-flash-preview", "openai/gpt-5-mini"]);
});

test("without an image model: models with vision at the main provider, then those with keys", () => {
  expect(looking(defaults({ model: { primary: "minimax/MiniMax-M2.1" } }), ["minimax", "openai", "anthropic"])).toEqual([
    "minimax/MiniMax-VL-01",
    "openai/gpt-5-mini",
    "anthropic/claude-opus-4-6",
  ]);
  expect(looking(defaults({ model: { primary: "openai/gpt-5-mini" } }), ["openai"])).toEqual(["openai/gpt-5-mini"]);
  expect(looking({}, [])).toEqual([]);
});

test("a requested one is used alone", () => {
  expect(looking(defaults({ imageModel: { primary: "openai/gpt-5-mini" } }), ["openai"], "anthropic/claude-opus-4-6")).toEqual(["anthropic/claude-opus-4-6"]);
});

test("each model has its own parameters, fallbacks too", () => {
  const config = defaults({
    model: { primary: "anthropic/claude-opus-4-6", fallbacks: ["openai/gpt-5.2"] },
    models: { "anthropic/claude-opus-4-6": { params: { temperature: 0.1 } }, "openai/gpt-5.2": { params: { temperature: 0.9 } } },
  });
  const { entry, fallbacks, paramsOf } = select(config);
  expect([entry, ...fallbacks].map(paramsOf)).toEqual([{ temperature: 0.1 }, { temperature: 0.9 }]);
});
