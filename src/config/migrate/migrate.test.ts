import { expect, test } from "vitest";
import { migrate, pathBeforeMigration } from "./index.ts";

const migrated = (config: unknown) => migrate(config).value;
const moves = (config: unknown) => migrate(config).report.map(({ from, to }) => `${from} → ${to}`);

test("a configuration without old keys is left as it is", () => {
  const config = { gateway: { port: 1 }, agents: { list: [{ id: "a" }] } };
  expect(migrate(config)).toEqual({ value: config, report: [] });
  expect(migrated(config)).toBe(config);
});

test("channels move from the top level, filling what is missing; existing values win", () => {
  const config = { telegram: { botToken: "old", name: "n" }, channels: { telegram: { botToken: "new" } }, whatsapp: { allowFrom: ["1"] } };
  expect(migrated(config)).toEqual({ channels: { telegram: { botToken: "new", name: "n" }, whatsapp: { allowFrom: ["1"] } } });
  expect(moves(config)).toEqual(["whatsapp → channels.whatsapp", "telegram → channels.telegram"]);
});

test("routing is taken apart", () => {
  const config = {
    whatsapp: {},
    routing: {
      allowFrom: ["+1"],
      groupChat: { requireMention: false, historyLimit: 9, mentionPatterns: ["@x"] },
      queue: { mode: "collect" },
      bindings: [{ agentId: "a", match: { provider: "telegram", accountID: "b" } }],
      agentToAgent: { enabled: true },
      agents: { home: { workspace: "~/h", mentionPatterns: ["@h"], sandbox: { mode: "all", tools: { allow: ["read"] } } } },
      defaultAgentId: "home",
      transcribeAudio: { command: ["whisper", "--model", "base"], timeoutSeconds: 45 },
    },
  };
  expect(migrated(config)).toEqual({
    channels: {
      whatsapp: { allowFrom: ["+1"], groups: { "*": { requireMention: false } } },
      telegram: { groups: { "*": { requireMention: false } } },
      imessage: { groups: { "*": { requireMention: false } } },
    },
    messages: { groupChat: { historyLimit: 9, mentionPatterns: ["@x"] }, queue: { mode: "collect" } },
    bindings: [{ agentId: "a", match: { channel: "telegram", accountId: "b" } }],
    tools: {
      agentToAgent: { enabled: true },
      media: { audio: { enabled: true, models: [{ type: "cli", command: "whisper", args: ["--model", "base"], timeoutSeconds: 45 }] } },
    },
    agents: {
      list: [
        {
          id: "home",
          default: true,
          workspace: "~/h",
          groupChat: { mentionPatterns: ["@h"] },
          sandbox: { mode: "all" },
          tools: { sandbox: { tools: { allow: ["read"] } } },
        },
      ],
    },
  });
});

test("routing.allowFrom is dropped, and said so, when WhatsApp is not configured", () => {
  expect(migrate({ routing: { allowFrom: ["1"] } })).toMatchObject({
    value: {},
    report: [{ from: "routing.allowFrom", to: "", note: expect.stringContaining("dropped") }],
  });
});

test("agent becomes agents.defaults, its tools become tools, its models become one table", () => {
  const config = {
    agent: {
      model: "a/b",
      modelFallbacks: ["c/d"],
      imageModel: "e/f",
      allowedModels: ["a/b", "g/h"],
      modelAliases: { quick: "g/h" },
      workspace: "~/w",
      tools: { allow: ["read"], deny: ["exec"] },
      elevated: { enabled: false },
      bash: { timeoutSec: 5 },
      sandbox: { mode: "all", tools: { deny: ["x"] } },
      subagents: { maxConcurrent: 2, tools: { deny: ["y"] } },
    },
  };
  expect(migrated(config)).toEqual({
    agents: {
      defaults: {
        model: { primary: "a/b", fallbacks: ["c/d"] },
        imageModel: { primary: "e/f" },
        models: { "a/b": {}, "g/h": { alias: "quick" } },
        workspace: "~/w",
        sandbox: { mode: "all" },
        subagents: { maxConcurrent: 2 },
      },
    },
    tools: {
      allow: ["read"],
      deny: ["exec"],
      elevated: { enabled: false },
      exec: { timeoutSec: 5 },
      sandbox: { tools: { deny: ["x"] } },
      subagents: { tools: { deny: ["y"] } },
    },
  });
});

test("identity goes to the default agent, which is made if there is none", () => {
  expect(migrated({ identity: { name: "C" } })).toEqual({ agents: { list: [{ id: "main", default: true, identity: { name: "C" } }] } });
  expect(migrated({ identity: { name: "C" }, agents: { list: [{ id: "a" }, { id: "b", default: true }] } })).toEqual({
    agents: { list: [{ id: "a" }, { id: "b", default: true, identity: { name: "C" } }] },
  });
});

test.each([
  [{ memorySearch: { enabled: false } }, { agents: { defaults: { memorySearch: { enabled: false } } } }],
  [{ tools: { bash: { timeoutSec: 1 } } }, { tools: { exec: { timeoutSec: 1 } } }],
  [{ messages: { tts: { enabled: true } } }, { messages: { tts: { auto: "always" } } }],
  [{ messages: { tts: { enabled: false, auto: "inbound" } } }, { messages: { tts: { auto: "inbound" } } }],
  [{ gateway: { token: "t" } }, { gateway: { auth: { token: "t", mode: "token" } } }],
  [{ gateway: { token: "t", auth: { token: "n" } } }, { gateway: { auth: { token: "n" } } }],
  [{ channels: { telegram: { requireMention: false } } }, { channels: { telegram: { groups: { "*": { requireMention: false } } } } }],
  [
    { session: { sendPolicy: { rules: [{ action: "deny", match: { provider: "x" } }] } } },
    { session: { sendPolicy: { rules: [{ action: "deny", match: { channel: "x" } }] } } },
  ],
  [{ messages: { queue: { byProvider: { telegram: "steer" } } } }, { messages: { queue: { byChannel: { telegram: "steer" } } } }],
  [
    { auth: { profiles: { "anthropic:claude-cli": { provider: "anthropic", mode: "token" } } } },
    { auth: { profiles: { "anthropic:claude-cli": { provider: "anthropic", mode: "oauth" } } } },
  ],
  [{ plugins: { disabled: ["a", "b"], deny: ["b"] } }, { plugins: { deny: ["b", "a"] } }],
  [{ audio: { transcription: { command: ["w"] } } }, { tools: { media: { audio: { enabled: true, models: [{ type: "cli", command: "w" }] } } } }],
  [{ agents: { defaults: { model: "a/b" } } }, { agents: { defaults: { model: { primary: "a/b" } } } }],
])("%j becomes %j", (before, after) => {
  expect(migrated(before)).toEqual(after);
  expect(migrate(before).report.length).toBeGreaterThan(0);
});

test("migrating twice changes nothing more", () => {
  const once = migrated({ agent: { model: "a/b" }, identity: { name: "C" }, routing: { queue: { cap: 1 } }, telegram: {} });
  expect(migrate(once).report).toEqual([]);
});

test("a place after migration leads back to the place before", () => {
  const { report } = migrate({ agent: { workspace: "w" } });
  expect(pathBeforeMigration(["agents", "defaults", "workspace"], report)).toEqual(["agent", "workspace"]);
  expect(pathBeforeMigration(["gateway"], report)).toEqual(["gateway"]);
});

test("agents by id become the list, in their order; what the list says wins", () => {
  const entries = { main: { workspace: "~/a" }, work: { name: "Work", model: "mock/m2", tools: { deny: ["exec"] } }, odd: 1 };
  const config = { agents: { entries, list: [{ id: "work", model: "mock/m3" }] } };
  expect(migrated(config)).toEqual({
    agents: {
      entries: { odd: 1 },
      list: [
        { id: "work", model: "mock/m3", name: "Work", tools: { deny: ["exec"] } },
        { id: "main", workspace: "~/a" },
      ],
    },
  });
  expect(moves(config)).toEqual(["agents.entries.main → agents.list[1]", "agents.entries.work → agents.list[0]"]);
});
