import { chmodSync, chownSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CANARY, fixture, remarks, states } from "./inventory.fixture.ts";
import { isPluginId } from "./index.ts";

describe("where plugins are found", () => {
  test("in four places, listed in the order of loading", async () => {
    const { plugin, read, places } = fixture();
    plugin("config", "d");
    plugin("global", "c");
    plugin("workspace", "b");
    plugin("bundled", "a");
    expect(states(await read({ plugins: { load: { paths: [places.config] } } }))).toEqual([
      "bundled a off: bundled (disabled by default)",
      "workspace b off: workspace plugin (disabled by default)",
      "global c on",
      "config d on",
    ]);
  });

  test("nothing anywhere is an empty list, not an error", async () => {
    expect(await fixture().read({}, { bundledDir: undefined, workspaceDir: undefined })).toEqual({ entries: [], diagnostics: [] });
  });

  test.each([
    ["global", "bundled"],
    ["config", "bundled"],
    ["config", "global"],
    ["workspace", "global"],
    ["config", "workspace"],
  ] as const)("the same id: %s overrides %s", async (strong, weak) => {
    const { plugin, read, places } = fixture();
    plugin(strong, "p");
    plugin(weak, "p");
    const { entries } = await read({ plugins: { load: { paths: [places.config] }, entries: { p: { enabled: true } } } });
    expect(entries.find(({ origin }) => origin === weak)).toMatchObject({ enabled: false, reason: `overridden by ${strong} plugin` });
    expect(entries.find(({ origin }) => origin === strong)).toMatchObject({ enabled: true });
  });

  test("a workspace plugin that nobody named takes no other's place; one that is named does, which is said", async () => {
    const { plugin, read } = fixture();
    plugin("workspace", "p");
    plugin("global", "p");
    expect(states(await read())).toEqual(["workspace p off: workspace plugin (disabled by default)", "global p on"]);
    const named = await read({ plugins: { allow: ["p"] } });
    expect(states(named)).toEqual(["workspace p on: named in config", "global p off: overridden by workspace plugin"]);
    expect(remarks(named, "duplicate-id")).toMatchObject([{ level: "warn", pluginId: "p" }]);
  });

  test("the same id twice in one place: the first is used, and both are named", async () => {
    const { plugin, read, places } = fixture();
    plugin("global", "p", {}, "one");
    plugin("global", "p", {}, "two");
    const inventory = await read();
    expect(states(inventory)).toEqual(["global p on", "global p off: overridden by global plugin"]);
    expect(remarks(inventory, "duplicate-id")[0]?.message).toContain(join(places.global, "one/index.ts"));
  });

  test("one folder found in two ways counts once, with the stronger origin", async () => {
    const { plugin, read } = fixture();
    const folder = plugin("global", "p");
    expect(states(await read({ plugins: { load: { paths: [folder] } } }))).toEqual(["config p on"]);
  });

  test("load.paths: a file, a plugin, a folder of plugins, ~, and what is missing or no plugin", async () => {
    const { plugin, read, write } = fixture();
    plugin("config", "p");
    write("loose/openclaw.plugin.json", { id: "single", configSchema: {} });
    write("loose/single.mjs", CANARY);
    write("notes.txt", "x");
    const inventory = await read(`{ plugins: { load: { paths: [\n "~/loose/single.mjs",\n "~/more/p",\n "~/gone",\n "~/notes.txt",\n "more" ] } } }`);
    expect(states(inventory)).toEqual(["config single on", "config p on"]);
    expect(remarks(inventory, "load-path").map(({ level, path, line, message }) => [level, path, line, message])).toEqual([
      ["error", "plugins.load.paths.2", 4, expect.stringContaining("plugin path not found")],
      ["error", "plugins.load.paths.3", 5, expect.stringContaining("is not a plugin")],
      ["warn", "plugins.load.paths.4", 6, expect.stringContaining("use the full path")],
    ]);
  });

  test("what tools leave behind is no plugin", async () => {
    const { plugin, read, write } = fixture();
    for (const name of [".staged", "node_modules", "p.bak", "p.disabled", "p.backup-1"]) plugin("global", "p", {}, name);
    write("state/extensions/types.d.ts", "");
    write("state/extensions/readme.md", "");
    write("state/extensions/empty/readme.md", "");
    expect(await read()).toMatchObject({ entries: [], diagnostics: [] });
  });

  test("a folder with a manifest and no entry is reported", async () => {
    const { read, write } = fixture();
    write("state/extensions/p/openclaw.plugin.json", { id: "p", configSchema: {} });
    expect(remarks(await read())).toMatchObject([{ level: "error", code: "entry-missing", pluginId: "p" }]);
  });
});

describe("entry files of a package", () => {
  const MANIFEST = { id: "p", configSchema: {} };
  const sourceOf = async (files: Record<string, string>, openclaw: object) => {
    const { read, write, places } = fixture();
    write("state/extensions/p/openclaw.plugin.json", MANIFEST);
    write("state/extensions/p/package.json", JSON.stringify({ name: "@x/p", version: "2.0.0", description: "of the package", openclaw }, null, 1));
    for (const [file, text] of Object.entries(files)) write(`state/extensions/p/${file}`, text);
    const inventory = await read();
    return { ...inventory, sources: inventory.entries.map(({ source }) => source.slice(places.global.length + 3)) };
  };

  test.each<[string, string[], object, string]>([
    ["the source that is named", ["a.ts", "dist/a.js"], { extensions: ["./a.ts"] }, "a.ts"],
    ["built files, paired by position", ["a.ts", "out/a.js"], { extensions: ["./a.ts"], runtimeExtensions: ["./out/a.js"] }, "out/a.js"],
    ["a built peer in dist", ["dist/a.js"], { extensions: ["./a.ts"] }, "dist/a.js"],
    ["a built peer in dist/src", ["dist/src/a.mjs"], { extensions: ["./a.ts"] }, "dist/src/a.mjs"],
    ["a built peer of src in dist", ["dist/a.js"], { extensions: ["./src/a.ts"] }, "dist/a.js"],
    ["a built peer beside it", ["a.cjs"], { extensions: ["./a.cts"] }, "a.cjs"],
  ])("%s", async (_name, files, openclaw, expected) => {
    const { sources, entries } = await sourceOf(Object.fromEntries(files.map((file) => [file, CANARY])), openclaw);
    expect(sources).toEqual([expected]);
    expect(entries[0]).toMatchObject({ version: "2.0.0", description: "of the package" });
  });

  test.each<[string, object, string, number]>([
    ["a built file that is missing is no reason to take another", { extensions: ["./index.ts"], runtimeExtensions: ["./gone.js"] }, "runtimeExtensions", 9],
    ["an entry that is missing", { extensions: ["./gone.ts"] }, "gone.ts", 6],
    ["a list that is none", { extensions: "./index.ts" }, "expected a list", 6],
  ])("%s", async (_name, openclaw, message, line) => {
    const { entries, diagnostics } = await sourceOf({ "index.ts": CANARY }, openclaw);
    expect(entries).toEqual([]);
    expect(diagnostics).toMatchObject([{ level: "error", code: "entry-missing", message: expect.stringContaining(message), line }]);
  });

  test("several entries are several plugins", async () => {
    const { entries } = await sourceOf({ "a.ts": CANARY, "b.ts": CANARY }, { extensions: ["./a.ts", "./b.ts"] });
    expect(entries.map(({ id, enabled }) => [id, enabled])).toEqual([
      ["p/a", true],
      ["p/b", true],
    ]);
  });

  test("a package.json that does not parse is reported with its line; the index file is still found", async () => {
    const { read, write, plugin } = fixture();
    plugin("global", "p");
    write("state/extensions/p/package.json", `{\n "name": "p",\n "version" "1" }`);
    const inventory = await read();
    expect(states(inventory)).toEqual(["global p on"]);
    expect(remarks(inventory, "package-invalid")).toMatchObject([{ level: "error", line: 3 }]);
  });
});

describe("code that is not even considered", () => {
  test("an entry outside of its folder, also through a link", async () => {
    const { read, write, places, root } = fixture();
    write("elsewhere/evil.ts", CANARY);
    for (const [id, entry] of [
      ["climb", "../../../elsewhere/evil.ts"],
      ["link", "./link.ts"],
    ] as const) {
      write(`state/extensions/${id}/openclaw.plugin.json`, { id, configSchema: {} });
      write(`state/extensions/${id}/package.json`, { name: id, openclaw: { extensions: [entry] } });
    }
    symlinkSync(join(root, "elsewhere/evil.ts"), join(places.global, "link/link.ts"));
    const inventory = await read();
    expect(inventory.entries).toEqual([]);
    expect(remarks(inventory).map(({ pluginId, message }) => [pluginId, message])).toEqual([
      ["climb", expect.stringMatching(/^blocked plugin candidate: .* outside the plugin's folder/)],
      ["link", expect.stringMatching(/^blocked plugin candidate: .* outside the plugin's folder/)],
    ]);
  });

  test.each([
    ["folder", "."],
    ["entry", "index.ts"],
  ])("a %s that every user can change", async (_name, what) => {
    const { read, plugin } = fixture();
    chmodSync(join(plugin("global", "p"), what), 0o777);
    const inventory = await read();
    expect(inventory.entries).toEqual([]);
    expect(remarks(inventory)).toMatchObject([{ code: "candidate-blocked", message: expect.stringContaining("chmod o-w") }]);
  });

  test("what belongs to another user, except in what comes with the program", async () => {
    const { read, plugin } = fixture();
    const folders = [plugin("global", "p"), plugin("bundled", "device-pair")];
    // Files of root are fine for everybody, so where the tests run as root they are given away.
    if (process.getuid?.() === 0) for (const folder of folders) chownSync(folder, 4243, 4243);
    const inventory = await read({}, { uid: 4242 });
    expect(inventory.entries.map(({ id }) => id)).toEqual(["device-pair"]);
    expect(remarks(inventory)).toMatchObject([{ code: "candidate-blocked", message: expect.stringContaining("expected 4242 or root") }]);
  });

  test.each([
    "../x",
    "..",
    ".",
    "a/../b",
    "/etc/x",
    "a\\b",
    "C:x",
    "__proto__",
    "constructor",
    "a/b/c",
    "a b",
    "a\0b",
    "",
    "x".repeat(200),
    "ü",
    ".hidden",
    "a.",
    "@/x",
  ])("the id %j is refused", async (id) => {
    expect(isPluginId(id)).toBe(false);
    const { read, plugin } = fixture();
    plugin("global", "p", { id });
    const inventory = await read();
    expect(inventory.entries).toMatchObject([{ id: "p", enabled: false, error: expect.stringContaining('"id": expected') }]);
    expect(remarks(inventory)).toMatchObject([{ level: "error", code: "manifest-invalid", line: 1 }]);
  });

  test.each(["voice-call", "memory_core", "@team/voice", "pack/voice", "a.b", "X1"])("the id %j is fine", (id) => expect(isPluginId(id)).toBe(true));
});

describe("a manifest that cannot be used gives file, line and what was expected", () => {
  const DEEP = `{"id":"p","configSchema":${`{"a":`.repeat(200)}1${"}".repeat(200)}}`;
  test.each<[string, string | undefined, RegExp, number | undefined]>([
    ["missing", undefined, /plugin manifest not found: .*openclaw\.plugin\.json/, undefined],
    ["empty", "", /JSON5 parse failed/, 1],
    ["cut off", `{\n "id": "p",\n`, /JSON5 parse failed/, 3],
    ["not text", "\u0000\u0001", /JSON5 parse failed/, 1],
    ["a list", "[]", /expected an object .* found a list/, 1],
    ["without an id", `{\n "configSchema": {} }`, /"id": expected a text, found nothing/, 1],
    ["with a number as id", `{\n "configSchema": {},\n "id": 5 }`, /"id": expected a text, found a number/, 3],
    ["without a schema", `{ "id": "p" }`, /"configSchema": expected a JSON Schema object, found nothing/, 1],
    ["with true as schema", `{ "id": "p",\n "configSchema": true }`, /"configSchema": expected a JSON Schema object, found true or false/, 2],
    ["nested too deeply", DEEP, /nested/, 1],
    ["too large", `{"id":"p","configSchema":{},"x":"${"x".repeat(1_100_000)}"}`, /at most 1 MB/, undefined],
  ])("%s", async (_name, text, message, line) => {
    const { read, write, plugin } = fixture();
    const folder = plugin("global", "p");
    if (text === undefined) rmSync(join(folder, "openclaw.plugin.json"));
    else write("state/extensions/p/openclaw.plugin.json", text);
    const inventory = await read();
    expect(inventory.entries).toMatchObject([{ id: "p", enabled: false, error: expect.stringMatching(message) }]);
    const [diagnostic] = remarks(inventory);
    expect(diagnostic).toMatchObject({ level: "error", pluginId: "p", source: join(folder, "openclaw.plugin.json"), message: expect.stringMatching(message) });
    expect(diagnostic?.line).toBe(line);
  });

  test("a broken one does not stand in the way of another with the same id", async () => {
    const { read, write, plugin } = fixture();
    plugin("global", "p");
    plugin("bundled", "p");
    write("state/extensions/p/openclaw.plugin.json", "{");
    expect(states(await read({ plugins: { entries: { p: { enabled: true } } } }))).toEqual([
      "bundled p on: enabled in config",
      "global p off: broken manifest",
    ]);
  });

  test("comments and trailing commas are fine", async () => {
    const { read, write, plugin } = fixture();
    plugin("global", "p");
    write("state/extensions/p/openclaw.plugin.json", `{ // mine\n id: 'p', configSchema: {}, }`);
    expect(await read({ plugins: { allow: ["p"] } })).toMatchObject({ entries: [{ id: "p", enabled: true }], diagnostics: [] });
  });

  test("fields of the wrong form are left out with a warning; unknown ones are kept", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p", {
      name: 5,
      channels: "x",
      kind: ["memory", 1],
      uiHints: { a: 1 },
      contracts: { tools: "x" },
      activation: { onStartup: true },
      cliCommands: "no",
      enabledByDefault: "yes",
    });
    const inventory = await read();
    expect(inventory.entries[0]).toMatchObject({ name: "p", manifest: { rest: { activation: { onStartup: true } } } });
    expect(remarks(inventory, "manifest-field").map(({ message }) => message.split(":")[0])).toEqual([
      '"name"',
      '"kind"',
      '"channels"',
      '"uiHints"',
      '"contracts"',
      '"cliCommands"',
      '"enabledByDefault"',
    ]);
  });

  test("manifest.json counts when it has an id and a schema, and only without the other", async () => {
    const { read, write } = fixture();
    for (const id of ["p", "q"]) write(`state/extensions/${id}/index.js`, CANARY);
    write("state/extensions/p/manifest.json", { id: "p", configSchema: {} });
    write("state/extensions/q/manifest.json", { id: "q", name: "an app" });
    expect((await read()).entries).toMatchObject([
      { id: "p", enabled: true },
      { id: "q", error: expect.stringContaining("manifest not found") },
    ]);
  });

  test("an id that differs from the package's name is reported, and used", async () => {
    const { read, plugin } = fixture();
    plugin("global", "p", {}, "other");
    const inventory = await read();
    expect(inventory.entries).toMatchObject([{ id: "p" }]);
    expect(remarks(inventory, "manifest-field")).toMatchObject([{ level: "warn", message: expect.stringContaining("plugin id mismatch") }]);
  });
});
