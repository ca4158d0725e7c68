import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Inventory, PluginEntry } from "../plugins/index.ts";
import type { DoctorDeps } from "./deps.ts";
import { makeDoctorPlace, type DoctorPlace, type PlaceOptions } from "./place.fixture.ts";

function place(options: PlaceOptions = {}): DoctorPlace {
  const made = makeDoctorPlace({ config: "{}", ...options });
  onTestFinished(made.remove);
  return made;
}

const entry = (over: Partial<PluginEntry> & { readonly id: string }): PluginEntry => ({
  name: over.id,
  origin: "config",
  rootDir: "/nowhere",
  source: "/nowhere/index.js",
  manifest: { id: over.id, configSchema: {}, rest: {} },
  enabled: true,
  ...over,
});

const withPlugins = (entries: readonly PluginEntry[], diagnostics: Inventory["diagnostics"] = []): DoctorDeps["inventory"] => {
  return () => Promise.resolve({ entries, diagnostics, workspaceDir: "/w" });
};

test("plugins that cannot be loaded, and remarks about the others", async () => {
  const inventory = withPlugins(
    [entry({ id: "bad", error: "no entry" }), entry({ id: "off", enabled: false, error: "not looked at" }), entry({ id: "good" })],
    [
      { level: "error", pluginId: "bad", message: "no entry" },
      { level: "warn", pluginId: "good", message: "odd", source: "/p/openclaw.plugin.json", line: 3 },
    ],
  );
  expect((await place().look(["plugins.state"], { inventory })).map(({ id, level, text }) => [id, level, text])).toEqual([
    ["plugins.state:bad", "error", "the plugin bad cannot be loaded: no entry"],
    ["plugins.state:good", "warn", "good: odd (/p/openclaw.plugin.json:3)"],
  ]);
});

test("packages that a plugin names and nobody installed", async () => {
  const here = place();
  const rootDir = join(here.home, "plugins/p");
  mkdirSync(join(rootDir, "node_modules/there"), { recursive: true });
  mkdirSync(join(here.home, "node_modules/above"), { recursive: true });
  writeFileSync(join(rootDir, "package.json"), JSON.stringify({ dependencies: { there: "1", above: "1", "missing-of-this-test": "1" } }));
  const [outcome] = await here.look(["plugins.state"], { inventory: withPlugins([entry({ id: "p", rootDir })]) });
  expect(outcome).toMatchObject({
    level: "error",
    text: expect.stringMatching(/not installed: missing-of-this-test$/),
    todo: expect.stringContaining(rootDir),
  });
});

test("channels that are configured without a plugin, with one that is off, or with wrong settings", async () => {
  const schema = { type: "object", properties: { server: { type: "string" } }, additionalProperties: false };
  const irc = entry({ id: "irc", manifest: { id: "irc", configSchema: {}, channels: ["irc"], rest: { channelConfigs: { irc: { schema } } } } });
  const slack = entry({
    id: "slack",
    enabled: false,
    reason: "blocked by denylist",
    manifest: { id: "slack", configSchema: {}, channels: ["slack"], rest: {} },
  });
  const here = place({ config: `{ channels: {\n irc: { server: 1 },\n slack: {},\n zork: {},\n quiet: { enabled: false } } }` });
  const outcomes = await here.look(["channels.config"], { inventory: withPlugins([irc, slack]) });
  expect(outcomes.map(({ id, level, todo }) => [id, level, todo])).toEqual([
    ["channels.config:slack", "warn", "openclaw plugins enable slack"],
    ["channels.config:zork", "error", expect.stringContaining("plugins install")],
    ["channels.config", "error", `fix line 2 of ${here.configPath}`],
  ]);
});

test("hooks that are on and cannot be used are named with what they need", async () => {
  const here = place({ config: "{ hooks: { internal: { enabled: true, entries: { quiet: { enabled: false } } } } }" });
  for (const name of ["shout", "quiet"]) {
    mkdirSync(join(here.state, "hooks", name), { recursive: true });
    const needs = JSON.stringify({ openclaw: { events: ["command"], requires: { bins: ["no-such-program-of-this-test"] } } });
    writeFileSync(join(here.state, "hooks", name, "HOOK.md"), `---\nname: ${name}\nmetadata: ${needs}\n---\n`);
    writeFileSync(join(here.state, "hooks", name, "handler.js"), "export default () => {};\n");
  }
  const outcomes = await here.look(["hooks.files"]);
  expect(outcomes.map(({ id, text }) => [id, text])).toEqual([
    ["hooks.files:shout", expect.stringContaining("needs the program no-such-program-of-this-test")],
  ]);
});

test("skills that lack a program are named with it", async () => {
  const here = place();
  const folder = join(here.state, "workspace/skills/shout");
  mkdirSync(folder, { recursive: true });
  const needs = JSON.stringify({ openclaw: { requires: { bins: ["no-such-program-of-this-test"] } } });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: shout\ndescription: shouts\nmetadata: ${needs}\n---\n`);
  const [outcome] = await here.look(["skills.programs"]);
  expect(outcome).toMatchObject({ id: "skills.programs:missing", level: "info", text: expect.stringContaining("shout (no-such-program-of-this-test)") });
});

test("a sandbox whose program is missing is an error; without one nothing is tried", async () => {
  expect(await place().look(["sandbox.backend"])).toMatchObject([{ level: "ok" }]);
  const here = place({ config: `{ agents: { defaults: { sandbox: { mode: "all", backend: "docker" } } } }`, env: { PATH: "/no/such/folder" } });
  expect(await here.look(["sandbox.backend"])).toMatchObject([
    { id: "sandbox.backend:main", level: "error", text: expect.stringContaining("docker"), todo: "openclaw sandbox explain --agent main" },
  ]);
});

test("a skill of a plugin whose front matter has no end is named", async () => {
  const here = place();
  const skillDir = join(here.home, "helper-skills");
  mkdirSync(join(skillDir, "broken"), { recursive: true });
  writeFileSync(join(skillDir, "broken", "SKILL.md"), "---\nname: broken\n");
  const [outcome] = await here.look(["skills.programs"], { inventory: withPlugins([entry({ id: "helper", skillDirs: [skillDir] })]) });
  expect(outcome).toMatchObject({
    level: "warn",
    text: `${join(skillDir, "broken", "SKILL.md")}: the front matter is not closed: add a line --- after the last field`,
  });
});

test("what the running gateway could not load is an error, settings that are still to be made are a warning", async () => {
  const needs = entry({ id: "voice", error: "needs configuration; run: x", missingSettings: ["plugins.entries.voice.config.key"] });
  const failedPlugins = () =>
    Promise.resolve([
      { id: "voice", error: "needs configuration" },
      { id: "legs", error: "register: no legs (index.ts:3)" },
    ]);
  const probe: DoctorDeps["probe"] = () => Promise.resolve({ holder: undefined, reachable: true });
  const outcomes = await place().look(["plugins.state"], { inventory: withPlugins([needs, entry({ id: "legs" })]), failedPlugins, probe });
  expect(outcomes.map(({ level, text }) => `${level} ${text}`)).toEqual([
    "warn the plugin voice needs configuration; run: x",
    "error the plugin legs could not be loaded by the running gateway: register: no legs (index.ts:3)",
  ]);
});
