/** What a configuration form knows of plugins, through a gateway with a real one in its state folder. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MethodName, MethodResult } from "../../src/protocol/index.ts";
import { visit, type DeviceClient } from "../harness/device-client.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { runCommand, type Build } from "../harness/program.ts";

vi.setConfig({ testTimeout: 60_000 });

const BUILD: Build = (process.env["OPENCLAW_TEST_BUILD"] as Build | undefined) ?? "dist";
const TOKEN = "a-token-of-this-test-0123456789";
const BERTH = "CANARY-berth-4711";
const SONG = "CANARY-song-4712";
const CODE = "CANARY-code-4713";
const HIDDEN = "__OPENCLAW_REDACTED__";

const MANIFEST = {
  id: "harbour",
  name: "Old harbour",
  description: "Where ships lie.",
  configSchema: {
    type: "object",
    additionalProperties: false,
    properties: {
      depth: { type: "integer", minimum: 1, maximum: 40 },
      berth: { type: "string" },
      pilots: { type: "array", items: { type: "object", properties: { name: { type: "string" }, code: { type: "string" } } } },
      tide: { enum: ["high", "low"] },
    },
  },
  uiHints: {
    depth: { label: "Depth of the water", help: "In metres.", placeholder: "12" },
    berth: { label: "Berth", sensitive: true },
    "pilots[].code": { sensitive: true },
    pilots: { itemTemplate: { name: "Someone" } },
    tide: { advanced: true },
  },
};

/** A channel that only its code describes. */
const CHANNEL = `export default (api) => api.registerChannel({ plugin: {
  id: "gull",
  meta: { id: "gull", label: "Gull", blurb: "Cries over the harbour." },
  capabilities: { chatTypes: ["direct"] },
  config: { listAccountIds: () => [], resolveAccount: () => ({}) },
  configSchema: {
    schema: { type: "object", properties: { height: { type: "integer" }, song: { type: "string" } } },
    uiHints: { song: { label: "Song", sensitive: true } },
  },
} });`;

let open: AsyncDisposableStack;
let place: Place;
let client: DeviceClient;

beforeEach(() => {
  open = new AsyncDisposableStack();
  place = makePlace();
  open.defer(() => rmSync(place.home, { recursive: true, force: true }));
  const folder = join(place.stateDir, "extensions/harbour");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "harbour", version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, "index.js"), CHANNEL);
  declare({});
});
afterEach(() => open.disposeAsync());

const declare = (over: object): void =>
  writeFileSync(join(place.stateDir, "extensions/harbour/openclaw.plugin.json"), JSON.stringify({ ...MANIFEST, ...over }));

const SETTINGS = { depth: 12, berth: BERTH, pilots: [{ name: "Ada", code: CODE }] };

async function start(plugins: object, rest: object = {}): Promise<void> {
  place.configure(JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN } }, plugins, ...rest }, undefined, 2));
  const gateway = open.use(await place.gateway({ build: BUILD }));
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = open.use(await visit(gateway.url, { token: TOKEN, scopes: ["operator.admin"] }));
}

/** What comes fits what is declared, or the test fails. */
async function call<M extends MethodName>(method: M, params: object = {}): Promise<MethodResult<M>> {
  const { ok, payload, error } = await client.ask(method, params);
  if (!ok) throw new Error(error?.message);
  return payload as MethodResult<M>;
}

test("the schema has the settings of plugins and channels, with their labels, help, examples and marks", async () => {
  await start({ entries: { harbour: { enabled: true } } });
  const { schema, uiHints } = await call("config.schema");
  expect(schema).toMatchObject({
    properties: {
      plugins: { properties: { entries: { properties: { harbour: { properties: { config: { properties: { depth: { maximum: 40 } } } } } } } } },
      channels: { properties: { telegram: {}, irc: {}, gull: { properties: { height: {} } } } },
    },
  });
  expect(uiHints).toMatchObject({
    "plugins.entries.harbour": { label: "Old harbour", help: "Where ships lie.", group: "Plugins" },
    "plugins.entries.harbour.config.depth": { label: "Depth of the water", help: "In metres.", placeholder: "12" },
    "plugins.entries.harbour.config.berth": { label: "Berth", sensitive: true },
    "plugins.entries.harbour.config.pilots": { label: "Pilots", itemTemplate: { name: "Someone" } },
    "plugins.entries.harbour.config.pilots[].code": { label: "Code", sensitive: true },
    "plugins.entries.harbour.config.tide": { advanced: true },
    "channels.telegram": { label: "Telegram", group: "Channels" },
    "channels.telegram.botToken": { label: "Bot token", sensitive: true, placeholder: "123456789:AA…" },
    "channels.telegram.accounts.*.botToken": { sensitive: true },
    "channels.irc.host": { label: "Server", placeholder: "irc.libera.chat" },
    "channels.gull": { label: "Gull", help: "Cries over the harbour." },
    "channels.gull.song": { label: "Song", sensitive: true },
    agents: { group: "Answering" },
    gateway: { group: "Gateway" },
  });
});

test.each([
  ["on", { entries: { harbour: { enabled: true, config: SETTINGS } } }],
  ["off", { entries: { harbour: { enabled: false, config: SETTINGS } } }],
  ["denied", { deny: ["harbour"], entries: { harbour: { config: SETTINGS } } }],
  ["off like all others", { enabled: false, entries: { harbour: { config: SETTINGS } } }],
])("what hints call secret is hidden, and stays what it was when the file is written: the plugin is %s", async (_, plugins) => {
  await start(plugins);
  const shown = await call("config.get");
  expect(shown).toMatchObject({
    valid: true,
    config: { plugins: { entries: { harbour: { config: { depth: 12, berth: HIDDEN, pilots: [{ name: "Ada", code: HIDDEN }] } } } } },
  });
  const raw = shown.raw!.replace('"depth": 12', '"depth": 13');
  const checked = await call("config.check", { raw });
  await call("config.set", { raw, baseHash: shown.hash });
  const { versions } = await call("config.versions");
  const version = await call("config.version", { id: versions[0]!.id });
  expect(JSON.stringify([shown, checked, version, await call("config.edit")])).not.toMatch(/CANARY/);
  expect(JSON.parse(readFileSync(place.configPath, "utf8"))).toMatchObject({ plugins: { entries: { harbour: { config: { ...SETTINGS, depth: 13 } } } } });
});

test("commands show of it what the page shows", () => {
  const configured = (depth: number): void =>
    place.configure(JSON.stringify({ gateway: { mode: "local" }, plugins: { entries: { harbour: { enabled: true, config: { ...SETTINGS, depth } } } } }));
  const run = (...args: string[]): string => runCommand(place, ["config", ...args], { build: BUILD }).stdout;
  configured(12);
  const config = { depth: 12, berth: HIDDEN, pilots: [{ name: "Ada", code: HIDDEN }] };
  expect(JSON.parse(run("get", "plugins.entries.harbour.config"))).toEqual(config);
  expect(run("get", "plugins.entries.harbour.config.berth")).toBe(`${HIDDEN}\n`);
  expect(run("get", "plugins.entries.harbour.config.berth", "--reveal")).toBe(`${BERTH}\n`);
  expect(run("diff", "--json")).toContain("harbour");
  expect(run("diff", "--json")).not.toContain("CANARY");
  expect(JSON.parse(run("schema", "--hints"))).toMatchObject({ "plugins.entries.harbour.config.berth": { label: "Berth", sensitive: true } });
});

test("what a channel's code calls secret is hidden as well", async () => {
  await start({ entries: { harbour: { enabled: true } } }, { channels: { gull: { height: 3, song: SONG } } });
  const shown = await call("config.get");
  expect(shown.config).toMatchObject({ channels: { gull: { height: 3, song: HIDDEN } } });
  expect(JSON.stringify(shown)).not.toContain(SONG);
});

test("a wrong setting is reported with the text of the command line, and without secrets", async () => {
  const wrong = { entries: { harbour: { enabled: true, config: { ...SETTINGS, depth: 99, berth: 4711, tide: "hihg", anker: 1 } } } };
  await start({ entries: { harbour: { enabled: true, config: SETTINGS } } });
  const raw = JSON.stringify({ gateway: { mode: "local", auth: { token: TOKEN } }, plugins: wrong, channels: { irc: { port: "x" } } });
  const { valid, issues } = await call("config.check", { raw });
  const other = join(place.home, "other.json");
  writeFileSync(other, raw);
  const printed = JSON.parse(runCommand(place, ["config", "validate", "--file", other, "--json"], { build: BUILD }).stdout) as { issues: typeof issues };
  expect(valid).toBe(false);
  expect(issues.map(({ path }) => path).sort()).toEqual([
    "channels.irc.port",
    ...["anker", "berth", "depth", "tide"].map((key) => `plugins.entries.harbour.config.${key}`),
  ]);
  const words = (list: typeof issues) => list.map(({ path, message }) => `${path}: ${message}`).sort();
  expect(words(issues)).toEqual(words(printed.issues));
  expect(JSON.stringify(issues)).not.toContain("4711");
});

test("the answer is another one when a plugin was reloaded with another manifest, and the same when nothing changed", async () => {
  await start({ entries: { harbour: { enabled: true } } });
  const first = await call("config.schema");
  expect((await call("config.schema")).hash).toBe(first.hash);
  declare({ name: "New harbour", uiHints: { depth: { label: "How deep" } } });
  await call("plugins.reload", { id: "harbour" });
  const second = await call("config.schema");
  expect(second.hash).not.toBe(first.hash);
  expect(second.uiHints).toMatchObject({ "plugins.entries.harbour": { label: "New harbour" }, "plugins.entries.harbour.config.depth": { label: "How deep" } });
});

test("settings of a plugin that is off are not offered, and its channel only when setting it up would turn it on", async () => {
  await start({ deny: ["irc"], entries: { harbour: { enabled: false } } });
  const { uiHints } = await call("config.schema");
  expect(Object.keys(uiHints).filter((path) => /harbour|channels\.(?:irc|gull)/.test(path))).toEqual([]);
  expect(uiHints).toHaveProperty(["channels.telegram.botToken"]);
});

/** Settings that the manifest refuses, with where and what was expected. */
const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
  ["depth", "deep", /plugins\.entries\.harbour\.config\.depth: .*number/],
  ["depth", 4.5, /plugins\.entries\.harbour\.config\.depth: .*(?:whole|integer)/],
  ["depth", 41, /plugins\.entries\.harbour\.config\.depth: .*40/],
  ["tide", "middle", /plugins\.entries\.harbour\.config\.tide: .*high/],
  ["height", 3, /plugins\.entries\.harbour\.config\.height: .*unknown/],
  ["pilots", [{ name: 1 }], /plugins\.entries\.harbour\.config\.pilots\[?\.?0\]?\.name: .*text|string/],
];

test("config set refuses what a plugin's manifest refuses, whether the plugin is on or off, and takes all else", () => {
  const config = (...args: string[]): { code: number | null; output: string } => {
    const { code, stdout, stderr } = runCommand(place, ["config", ...args], { build: BUILD });
    return { code, output: stdout + stderr };
  };
  const written = (): unknown => readFileSync(place.configPath, "utf8");
  for (const enabled of [true, false]) {
    place.configure(JSON.stringify({ gateway: { mode: "local" }, plugins: { entries: { harbour: { enabled, config: { berth: BERTH } } } } }));
    const before = written();
    for (const [key, value, says] of REFUSED) {
      const { code, output } = config("set", `plugins.entries.harbour.config.${key}`, JSON.stringify(value));
      expect([key, code === 0, output]).toEqual([key, false, expect.stringMatching(says)]);
    }
    expect(written()).toBe(before);
    expect(config("set", "plugins.entries.harbour.config.depth", "12").code).toBe(0);
  }
  expect(config("set", "plugins.entries.nobody.config.depth", '"deep"').code).toBe(0);
  // What is wrong already is no reason to refuse other changes, nor to refuse its repair one by one.
  place.configure(
    JSON.stringify({ gateway: { mode: "local" }, plugins: { entries: { harbour: { enabled: true, config: { depth: "deep", tide: "middle" } } } } }),
  );
  expect(config("set", "gateway.port", "19001").code).toBe(0);
  expect(config("set", "plugins.entries.harbour.config.depth", "12").code).toBe(0);
  expect(config("set", "plugins.entries.harbour.config.tide", '"none"').code).not.toBe(0);
  expect(config("unset", "plugins.entries.harbour.config.tide").code).toBe(0);
  expect(config("validate").code).toBe(0);
});

test("the gateway's methods refuse it too, and say where", async () => {
  await start({ entries: { harbour: { enabled: false, config: { depth: 12 } } } });
  const { raw, hash } = await call("config.get");
  const before = readFileSync(place.configPath, "utf8");
  for (const [key, value, says] of REFUSED) {
    const config = { [key]: value };
    const whole = JSON.parse(raw!) as { plugins: { entries: Record<string, object> } };
    whole.plugins.entries["harbour"] = { enabled: false, config };
    // Patches are limited to a few a minute.
    for (const [method, text] of [
      ["config.set", whole],
      ...(key === "tide" ? [["config.patch", { plugins: { entries: { harbour: { config } } } }] as const] : []),
    ] as const) {
      const { ok, error } = await client.ask(method, { raw: JSON.stringify(text), baseHash: hash });
      const issues = (error?.details as { issues?: { path: string; message: string }[] } | undefined)?.issues ?? [];
      expect([method, key, ok, issues.map(({ path, message }) => `${path}: ${message}`).join("\n")]).toEqual([method, key, false, expect.stringMatching(says)]);
    }
  }
  const { ok } = await client.ask("config.apply", { raw: raw!.replace("12", '"deep"'), baseHash: hash });
  expect(ok).toBe(false);
  expect(readFileSync(place.configPath, "utf8")).toBe(before);
  expect((await client.ask("config.set", { raw: raw!.replace("12", "13"), baseHash: hash })).ok).toBe(true);
});
