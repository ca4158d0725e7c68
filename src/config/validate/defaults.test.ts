import { describe, expect, test } from "vitest";
import { configSchema, type OpenClawConfig } from "../schema/index.ts";
import { applyDefaults, applyLoadDefaults, type JsonSchema } from "./index.ts";

const load = (config: OpenClawConfig, env: Record<string, string> = {}) => applyLoadDefaults(config, env);

describe("schema defaults", () => {
  const telegram: JsonSchema = {
    type: "object",
    properties: {
      dmPolicy: { type: "string", default: "pairing" },
      retry: { type: "object", properties: { attempts: { type: "integer", default: 3 } } },
      rules: { type: "array", items: { type: "object", properties: { on: { type: "boolean", default: true } } } },
      accounts: { type: "object", additionalProperties: { type: "object", properties: { dmPolicy: { type: "string", default: "pairing" } } } },
    },
  };

  test("commands have theirs, whether the section is there or not", () => {
    expect(applyDefaults({}, configSchema)).toEqual({ commands: { native: "auto", nativeSkills: "auto", restart: true } });
    expect(applyDefaults({ commands: { native: false } }, configSchema)).toEqual({ commands: { native: false, nativeSkills: "auto", restart: true } });
  });

  test("a channel gets its plugin's defaults, its accounts do not: they take what their channel says", () => {
    const config = { channels: { telegram: { dmPolicy: "open", retry: {}, rules: [{}, { on: false }], accounts: { work: {} } }, other: {} } };
    expect(applyDefaults(config, configSchema, { channels: { telegram, absent: telegram } })).toMatchObject({
      channels: { telegram: { dmPolicy: "open", retry: { attempts: 3 }, rules: [{ on: true }, { on: false }], accounts: { work: {} } }, other: {} },
    });
    const next = applyDefaults({ channels: { telegram: { accounts: { work: {} } } } }, configSchema, { channels: { telegram } });
    expect(next.channels.telegram).toEqual({ dmPolicy: "pairing", accounts: { work: {} } });
  });

  test("a plugin's configuration gets its defaults", () => {
    const plugins = { voice: { properties: { rate: { type: "number", default: 1 } } } };
    expect(applyDefaults({ plugins: { entries: { voice: { config: {} } } } }, configSchema, { plugins })).toMatchObject({
      plugins: { entries: { voice: { config: { rate: 1 } } } },
    });
  });

  test("the argument is left alone, and two results share no default", () => {
    const config = Object.freeze({});
    const first = applyDefaults<OpenClawConfig>(config, configSchema);
    first.commands!.restart = false;
    expect(applyDefaults<OpenClawConfig>(config, configSchema).commands?.restart).toBe(true);
  });
});

describe("load defaults", () => {
  test("an empty file gets what a gateway needs to run", () => {
    expect(load({})).toEqual({
      messages: { ackReactionScope: "group-mentions" },
      agents: { defaults: { maxConcurrent: 4, subagents: { maxConcurrent: 8 } } },
    });
  });

  test("given values stay", () => {
    const config: OpenClawConfig = {
      messages: { ackReactionScope: "all" },
      logging: { redactSensitive: "off" },
      agents: { defaults: { maxConcurrent: 1, subagents: { maxConcurrent: 2 }, compaction: { mode: "default" } } },
    };
    expect(load(config)).toEqual(config);
  });

  test("sections that exist get more: logging, session and agents", () => {
    expect(load({ logging: {}, session: { mainKey: "x" }, agents: { defaults: {} } })).toMatchObject({
      logging: { redactSensitive: "tools" },
      session: { mainKey: "main" },
      agents: { defaults: { compaction: { mode: "safeguard" } } },
    });
  });

  test("models of own providers are completed, and never write more than they see", () => {
    const models = [
      { id: "a", name: "A" },
      { id: "b", name: "B", contextWindow: 4096, maxTokens: 9000, cost: { input: 1 } },
    ];
    const result = load({ models: { providers: { lab: { baseUrl: "http://lab", models } } } });
    expect(result.models?.providers?.["lab"]?.models).toEqual([
      {
        id: "a",
        name: "A",
        reasoning: false,
        input: ["text"],
        cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 200_000,
        maxTokens: 8192,
      },
      {
        id: "b",
        name: "B",
        reasoning: false,
        input: ["text"],
        cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 },
        contextWindow: 4096,
        maxTokens: 4096,
      },
    ]);
  });

  test("well-known models get their short names, unless they have one", () => {
    const models = { "anthropic/claude-opus-4-6": {}, "openai/gpt-5.2": { alias: "five" }, "lab/x": {} };
    expect(load({ agents: { defaults: { models } } }).agents?.defaults?.models).toEqual({
      "anthropic/claude-opus-4-6": { alias: "opus" },
      "openai/gpt-5.2": { alias: "five" },
      "lab/x": {},
    });
  });

  const profile = (mode: "api_key" | "oauth" | "token") => ({ auth: { profiles: { "anthropic:x": { provider: "anthropic", mode } } } });

  test.each<[string, OpenClawConfig, Record<string, string>, string]>([
    ["a key in the environment", {}, { ANTHROPIC_API_KEY: "k" }, "30m"],
    ["a subscription in the environment", {}, { ANTHROPIC_OAUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" }, "1h"],
    ["a profile with a key", profile("api_key"), { ANTHROPIC_OAUTH_TOKEN: "t" }, "30m"],
    ["a profile with a subscription", profile("oauth"), {}, "1h"],
    ["a profile with a token", profile("token"), {}, "1h"],
  ])("with %s, pruning and heartbeats follow Anthropic's cache", (_name, config, env, every) => {
    expect(load(config, env).agents?.defaults).toMatchObject({ contextPruning: { mode: "cache-ttl", ttl: "1h" }, heartbeat: { every } });
  });

  test("the order of profiles decides before their listing", () => {
    const auth = {
      profiles: { a: { provider: "anthropic", mode: "oauth" as const }, b: { provider: "anthropic", mode: "api_key" as const } },
      order: { anthropic: ["b", "a"] },
    };
    expect(load({ auth }).agents?.defaults?.heartbeat?.every).toBe("30m");
  });

  test("with a key, Anthropic models keep a short cache; others and given values stay", () => {
    const models = { "anthropic/x": {}, "anthropic/y": { params: { cacheRetention: "long" } }, "openai/z": {} };
    expect(load({ agents: { defaults: { models } } }, { ANTHROPIC_API_KEY: "k" }).agents?.defaults?.models).toEqual({
      "anthropic/x": { params: { cacheRetention: "short" } },
      "anthropic/y": { params: { cacheRetention: "long" } },
      "openai/z": {},
    });
  });

  test("pruning that was switched off stays off", () => {
    expect(load({ agents: { defaults: { contextPruning: { mode: "off" } } } }, { ANTHROPIC_API_KEY: "k" }).agents?.defaults?.contextPruning).toEqual({
      mode: "off",
    });
  });
});
