import { describe, expect, test } from "vitest";
import { hintFor, inOrder, describeKey, type Hints } from "./hints.ts";
import { groupsOf, reachablePath, search, sectionOf } from "./sections.ts";
import { emptyOf, fits, shapeOf } from "./shape.ts";

const ROOT = {
  definitions: { port: { type: "integer", minimum: 1, maximum: 65_535 } },
  properties: {
    gateway: { type: "object", properties: { port: { $ref: "#/definitions/port" } }, additionalProperties: false },
    agents: { type: "object", properties: {} },
    extra: { type: "object" },
  },
};

const HINTS: Hints = {
  gateway: { label: "Gateway", help: "Where it listens." },
  "gateway.port": { label: "Port", help: "The port." },
  agents: { label: "Agents" },
  "agents.list": { label: "List" },
  "agents.list[]": { label: "List" },
  "agents.list[].name": { label: "Name", help: "Shown to people." },
  models: { label: "Models" },
  "models.providers": { label: "Providers" },
  "models.providers.*": { label: "Providers" },
  "models.providers.*.apiKey": { label: "API key", sensitive: true },
  extra: { label: "Extra", group: "Mine", order: 1 },
};

test("simple types become fields with their bounds", () => {
  expect(shapeOf({ type: "string", minLength: 1 }, ROOT)).toEqual({ kind: "text", minLength: 1 });
  expect(shapeOf({ $ref: "#/definitions/port" }, ROOT)).toEqual({ kind: "number", whole: true, min: 1, max: 65_535 });
  expect(shapeOf({ type: "integer", exclusiveMinimum: 0 }, ROOT)).toEqual({ kind: "number", whole: true, min: 1 });
  expect(shapeOf({ type: "number", exclusiveMinimum: 0 }, ROOT)).toEqual({ kind: "number", whole: false, above: 0 });
  expect(shapeOf({ type: "boolean" }, ROOT)).toEqual({ kind: "switch" });
  expect(shapeOf({ type: "string", enum: ["a", "b"] }, ROOT)).toEqual({ kind: "choice", values: ["a", "b"] });
  expect(shapeOf({}, ROOT)).toEqual({ kind: "any" });
});

test("constants in a union are one choice; real alternatives are kinds with names", () => {
  expect(shapeOf({ anyOf: [{ const: "auto" }, { type: "string", enum: ["on", "off"] }] }, ROOT)).toEqual({ kind: "choice", values: ["auto", "on", "off"] });
  const secret = {
    anyOf: [{ type: "string" }, { type: "object", properties: { source: { const: "env" } } }, { type: "object", properties: { source: { const: "file" } } }],
  };
  expect(shapeOf(secret, ROOT)).toMatchObject({ kind: "union", branches: [{ label: "Text" }, { label: "Details: env" }, { label: "Details: file" }] });
  expect(shapeOf({ type: ["string", "number"] }, ROOT)).toMatchObject({ branches: [{ label: "Text" }, { label: "Number" }] });
  expect(shapeOf({ anyOf: [{ type: "string" }, { type: "string", minLength: 3 }] }, ROOT)).toMatchObject({
    branches: [{ label: "Text (1)" }, { label: "Text (2)" }],
  });
});

test("objects list their keys, and maps say what any key holds", () => {
  const shape = shapeOf({ type: "object", required: ["a"], properties: { a: { type: "string" } }, additionalProperties: { type: "number" } }, ROOT);
  expect(shape).toMatchObject({ kind: "object", members: [{ key: "a", required: true }], others: { type: "number" } });
  expect(shapeOf({ type: "object", properties: { a: {} }, additionalProperties: false }, ROOT)).not.toHaveProperty("others");
  expect(emptyOf(shape, ROOT)).toEqual({ a: "" });
});

test("the kind of a value is recognized by what it holds", () => {
  const file = shapeOf({ type: "object", required: ["source"], properties: { source: { const: "file" } } }, ROOT);
  expect([fits({ source: "file" }, file, ROOT), fits({ source: "env" }, file, ROOT), fits({}, file, ROOT), fits("x", file, ROOT)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(fits("${PORT}", shapeOf({ type: "integer" }, ROOT), ROOT)).toBe(false);
});

test("hints are found through keys of maps and entries of lists", () => {
  expect(hintFor(HINTS, ["agents", "list", 3, "name"])?.help).toBe("Shown to people.");
  expect(hintFor(HINTS, ["models", "providers", "acme", "apiKey"])?.sensitive).toBe(true);
  expect(hintFor(HINTS, ["models", "nothing"])).toBeUndefined();
});

test("a key of a map is called by its name, another by its label", () => {
  expect(describeKey(HINTS, ["models", "providers", "acme"], {}).label).toBe("acme");
  expect(describeKey(HINTS, ["models", "providers", "acme", "apiKey"], {})).toMatchObject({ label: "API key", secret: true });
  expect(describeKey(HINTS, ["gateway", "port"], {}).label).toBe("Port");
  expect(describeKey(HINTS, ["channels", "telegram", "botToken"], {})).toMatchObject({ label: "Bot token", secret: true });
  expect(describeKey(HINTS, ["gateway", "newKey"], { description: "From the schema." })).toMatchObject({ label: "New key", help: "From the schema." });
});

test("sections stand in the groups that hints name, in their order; what has none comes last", () => {
  const hints: Hints = { ...HINTS, gateway: { label: "Gateway", group: "Core", order: 20 }, agents: { label: "Agents", group: "Core", order: 10 } };
  expect(groupsOf(ROOT, hints).map(({ title, sections }) => [title, sections.map(({ key }) => key)])).toEqual([
    ["Mine", ["extra"]],
    ["Core", ["agents", "gateway"]],
  ]);
  expect(groupsOf(ROOT, {}).map(({ title, sections }) => [title, sections.map(({ key }) => key)])).toEqual([["Other", ["gateway", "agents", "extra"]]]);
});

describe("what plugins bring", () => {
  const entry = (config: object) => ({ type: "object", properties: { enabled: { type: "boolean" }, config } });
  const root = {
    definitions: { voice: { type: "object", properties: { pin: { type: "integer" } } } },
    properties: {
      channels: { type: "object", properties: { defaults: { type: "object" }, chirp: { type: "object", properties: { nest: { type: "string" } } } } },
      plugins: {
        type: "object",
        properties: {
          entries: {
            properties: {
              "voice.call": entry({ $ref: "#/definitions/voice" }),
              bare: entry({ type: "object", properties: {}, additionalProperties: false }),
              off: entry({}),
            },
          },
        },
      },
    },
  };
  const at = (group: string, order: number, label: string) => ({ group, order, label });
  const hints: Hints = {
    channels: at("Own", 1, "Channels"),
    "channels.defaults": { label: "Defaults" },
    "channels.chirp": at("Channels", 2, "Chirp"),
    plugins: at("Own", 1, "Plugins"),
    "plugins.entries": { label: "Entries" },
    "plugins.entries.voice.call": { ...at("Plugins", 3, "Voice call"), help: "Calls people." },
    "plugins.entries.bare": at("Plugins", 3, "Bare"),
  };
  const groups = groupsOf(root, hints);

  test("a channel and a plugin with settings are sections under their own names", () => {
    expect(groups.map(({ title, sections }) => [title, sections.map(({ label }) => label)])).toEqual([
      ["Own", ["Channels", "Plugins"]],
      ["Channels", ["Chirp"]],
      ["Plugins", ["Voice call"]],
    ]);
    expect(groups[2]?.sections[0]).toMatchObject({ key: "plugins.entries.voice.call", path: ["plugins", "entries", "voice.call"], help: "Calls people." });
  });

  test("a path is shown in the section that stands closest above it", () => {
    const shownIn = (...path: (string | number)[]) => sectionOf(groups, path)?.key;
    expect(shownIn("plugins", "entries", "voice.call", "config", "pin")).toBe("plugins.entries.voice.call");
    expect(shownIn("plugins", "entries", "bare", "enabled")).toBe("plugins");
    expect(shownIn("channels", "chirp", "nest")).toBe("channels.chirp");
    expect(shownIn("channels", "defaults")).toBe("channels");
    expect(shownIn("nowhere")).toBeUndefined();
  });
});

test("a key that is described is a secret when it is said to be one, another of a plugin when it sounds like one", () => {
  const hints: Hints = {
    channels: {},
    "channels.chirp": {},
    "channels.chirp.rotateToken": { label: "Rotate" },
    "channels.chirp.songs": { sensitive: true },
    "channels.chirp.songs[]": {},
  };
  const secret = (...path: (string | number)[]) => describeKey(hints, path, {}).secret;
  expect(secret("channels", "chirp", "rotateToken")).toBe(false);
  expect(secret("channels", "chirp", "botToken")).toBe(true);
  expect(secret("channels", "chirp", "songs", 0)).toBe(true);
  expect(secret("session", "botToken")).toBe(false);
});

test("keys with a place come first, in its order", () => {
  expect(inOrder(["c", "a", "z", "b"], (key) => ({ a: 1, b: 2 })[key])).toEqual(["a", "b", "c", "z"]);
});

test("a search looks at keys, labels and help, and puts names first", () => {
  expect(search(HINTS, "port").map(({ pattern }) => pattern)).toEqual(["gateway.port"]);
  expect(search(HINTS, "shown PEOPLE").map(({ pattern }) => pattern)).toEqual(["agents.list[].name"]);
  expect(search(HINTS, "gateway port")[0]).toMatchObject({ pattern: "gateway.port", section: "gateway" });
  expect(search(HINTS, " ")).toEqual([]);
});

test("what was found is gone to as far as it exists", () => {
  expect(reachablePath("agents.list[].name", { agents: { list: [{ name: "a" }] } })).toEqual(["agents", "list", 0, "name"]);
  expect(reachablePath("agents.list[].name", {})).toEqual(["agents", "list"]);
  expect(reachablePath("models.providers.*.apiKey", { models: { providers: { acme: {} } } })).toEqual(["models", "providers", "acme", "apiKey"]);
});
