import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture, remarks, states } from "./inventory.fixture.ts";
import { configSections } from "./index.ts";

describe("what the configuration needs", () => {
  test.each<[string, object, Record<string, string>, string | undefined]>([
    ["a channel with settings", { channels: { telegram: { botToken: "x" } } }, {}, "channel telegram is configured"],
    ["a channel without settings", { channels: { telegram: {} } }, {}, undefined],
    ["a channel that is off", { channels: { telegram: { enabled: false, botToken: "x" } } }, {}, undefined],
    ["a token in the environment", {}, { TELEGRAM_BOT_TOKEN: "x" }, "channel telegram is configured"],
    ["a provider with a login", { auth: { profiles: { a: { provider: "tg-models", mode: "oauth" } } } }, {}, "provider tg-models is configured"],
    ["a provider in models.providers", { models: { providers: { "tg-models": {} } } }, {}, "provider tg-models is configured"],
    [
      "a provider in a model's name",
      { agents: { defaults: { model: { primary: "a/b", fallbacks: ["tg-models/x"] } } } },
      {},
      "provider tg-models is configured",
    ],
    ["a provider of one agent", { agents: { list: [{ id: "a", model: "tg-models/x" }] } }, {}, "provider tg-models is configured"],
    ["nothing of it", { channels: { discord: { token: "x" } } }, {}, undefined],
  ])("%s", async (_name, config, env, reason) => {
    const { read, plugin } = fixture();
    plugin("bundled", "telegram", { channels: ["telegram"], providers: ["tg-models"] });
    expect((await read(config, { env })).entries[0]).toMatchObject({ enabled: reason !== undefined, reason: reason ?? "bundled (disabled by default)" });
  });

  test("a channel that stands in for another turns that one off", async () => {
    const { read, plugin, write } = fixture();
    plugin("bundled", "imessage", { channels: ["imessage"] });
    plugin("bundled", "bluebubbles", { channels: ["bluebubbles"] });
    write("bundled/bluebubbles/package.json", {
      name: "bluebubbles",
      openclaw: { extensions: ["./index.ts"], channel: { id: "bluebubbles", preferOver: ["imessage"] } },
    });
    const channels = { imessage: { a: 1 }, bluebubbles: { a: 1 } };
    expect(states(await read({ channels }))).toEqual([
      "bundled bluebubbles on: channel bluebubbles is configured",
      "bundled imessage off: bundled (disabled by default)",
    ]);
    expect(states(await read({ channels: { imessage: { a: 1 } } }))[1]).toContain("on: channel imessage");
    expect(states(await read({ channels, plugins: { deny: ["bluebubbles"] } }))[1]).toContain("on: channel imessage");
  });

  test("a phone that was linked", async () => {
    const { read, plugin, write } = fixture();
    plugin("bundled", "whatsapp", { channels: ["whatsapp"] });
    expect((await read()).entries[0]?.enabled).toBe(false);
    write("state/credentials/whatsapp/default/creds.json", "{}");
    expect((await read()).entries[0]).toMatchObject({ enabled: true, reason: "channel whatsapp is configured" });
  });
});

describe("settings of plugins", () => {
  test("are checked against the manifest, with path and line of the configuration", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p");
    const inventory = await read(`{\n plugins: { entries: { p: { config: {\n  port: "x",\n  prot: 1,\n } } } },\n}`);
    expect(inventory.entries[0]).toMatchObject({
      enabled: true,
      error: expect.stringMatching(/^invalid config: port: expected .*; prot: unknown key/),
      pluginConfig: { prot: 1 },
    });
    expect(remarks(inventory, "config-invalid")).toMatchObject([
      { level: "error", path: "plugins.entries.p.config.port", source: "openclaw.json", line: 3 },
      { level: "error", path: "plugins.entries.p.config.prot", line: 4, message: expect.stringContaining('did you mean "port"') },
    ]);
  });

  test("that are missing count as empty", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p", { configSchema: { type: "object", required: ["key"], properties: { key: { type: "string" } } } });
    const inventory = await read(`{\n plugins: { allow: ["p"] } }`);
    expect(inventory.entries[0]).toMatchObject({
      error: "needs configuration; run: openclaw config set plugins.entries.p.config.key <value>",
      missingSettings: ["plugins.entries.p.config.key"],
    });
    expect(inventory.diagnostics).toMatchObject([{ level: "warn", code: "config-missing", path: "plugins.entries.p.config", line: 2 }]);
  });

  test("of a plugin that is off are not checked", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p");
    const inventory = await read({ plugins: { entries: { p: { enabled: false, config: { port: "x" } } } } });
    expect(inventory.entries[0]?.error).toBeUndefined();
    expect(inventory.diagnostics).toEqual([]);
  });

  test("that are secret are not shown", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p", { uiHints: { port: { sensitive: true } } });
    const inventory = await read({ plugins: { entries: { p: { config: { port: "hunter2" } } } } });
    expect(JSON.stringify([inventory.diagnostics, inventory.entries[0]?.error])).not.toContain("hunter2");
    expect(remarks(inventory, "config-invalid")).toHaveLength(1);
    expect(configSections(inventory.entries).plugins).toMatchObject({ p: { properties: { port: { "x-sensitive": true } } } });
  });

  test("whose schema uses what cannot be checked are taken, with a warning", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p", { configSchema: { type: "object", dependentSchemas: {} } });
    const inventory = await read({ plugins: { allow: ["p"], entries: { p: { config: { a: 1 } } } } });
    expect(inventory.entries[0]?.error).toBeUndefined();
    expect(inventory.diagnostics).toMatchObject([{ level: "warn", code: "schema-invalid" }]);
  });

  test("a type that JSON Schema does not have is the manifest's fault, with its place there, and keeps no plugin out", async () => {
    const { read, plugin } = fixture();
    const folder = plugin("global", "p", { configSchema: { type: "objekt", properties: { port: { type: "nummer" } } } });
    const inventory = await read(`{ plugins: { allow: ["p"], entries: { p: { config: { port: 1 } } } } }`);
    expect(inventory.entries[0]?.error).toBeUndefined();
    const manifest = { level: "warn", code: "schema-invalid", source: join(folder, "openclaw.plugin.json"), line: expect.any(Number) };
    expect(inventory.diagnostics).toEqual([
      { ...manifest, pluginId: "p", message: expect.stringMatching(/^"configSchema": .*"objekt"/) },
      { ...manifest, pluginId: "p", message: expect.stringMatching(/^"configSchema\.properties\.port": .*"nummer"/) },
    ]);
  });

  test("of an id with dots are located", async () => {
    const { read, plugin } = fixture();
    plugin("global", "a.b");
    const inventory = await read(`{ plugins: { entries: {\n "a.b": { config: {\n port: "x" } } } } }`);
    expect(remarks(inventory, "config-invalid")).toMatchObject([{ line: 3 }]);
  });
});

describe("names and origins", () => {
  test("that fit no plugin are reported with the one that was meant", async () => {
    const { read, plugin } = fixture();
    plugin("global", "voice-call", { legacyPluginIds: ["voice"] });
    const inventory = await read(
      `{ plugins: {\n allow: ["voice-cal", "voice-call"],\n deny: ["gone"],\n entries: { other: {}, voice: {} },\n slots: { memory: "lance" } } }`,
    );
    expect(remarks(inventory, "unknown-plugin").map(({ level, path, line, message }) => [level, path, line, message])).toEqual([
      ["warn", "plugins.entries.other", 4, "plugin not found: other"],
      ["warn", "plugins.allow.0", 2, 'plugin not found: voice-cal; did you mean "voice-call"?'],
      ["error", "plugins.deny.0", 3, "plugin not found: gone"],
      ["error", "plugins.slots.memory", 5, "plugin not found: lance"],
    ]);
  });

  test("a memory slot given to a plugin that keeps none", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p");
    expect(remarks(await read({ plugins: { slots: { memory: "p" } } }), "slot-kind")).toMatchObject([{ level: "warn", path: "plugins.slots.memory" }]);
  });

  test("code that nobody listed or installed is reported, once per reason", async () => {
    const { read, plugin, places } = fixture();
    plugin("global", "p");
    expect(remarks(await read()).map(({ code }) => code)).toEqual(["allow-empty", "untracked"]);
    const installed = { plugins: { installs: { p: { source: "path", installPath: join(places.global, "p") } } } };
    expect(remarks(await read(installed)).map(({ code }) => code)).toEqual(["allow-empty"]);
    for (const config of [{ plugins: { allow: ["p"] } }, { plugins: { entries: { p: { enabled: true } } } }]) expect(remarks(await read(config))).toEqual([]);
  });

  test("folders of skills must be in the plugin", async () => {
    const { read, plugin, write } = fixture();
    const folder = plugin("global", "p", { skills: ["skills", "gone", "../../.."] });
    write("state/extensions/p/skills/a.md", "");
    const inventory = await read({ plugins: { allow: ["p"] } });
    expect(inventory.entries[0]?.skillDirs).toEqual([join(folder, "skills")]);
    expect(remarks(inventory, "skills-missing").map(({ message }) => message)).toEqual([
      expect.stringContaining('"gone", which is not a folder'),
      expect.stringContaining('"../../..", which is outside'),
    ]);
  });
});
