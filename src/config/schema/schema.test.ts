import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonSchema, JsonSchemaNode } from "../validate/index.ts";
import { configSchema } from "./index.ts";

interface Key {
  readonly type?: string | string[];
  readonly enum?: unknown[];
  readonly required?: string[];
  readonly open?: boolean;
  readonly names?: string;
  readonly default?: unknown;
  readonly [bound: string]: unknown;
}

const published = JSON.parse(readFileSync(new URL("../../../test/fixtures/config/keys.json", import.meta.url), "utf8")) as {
  sensitive: string[];
  keys: Record<string, Key>;
};
const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems"];
/** Keys that this project adds to the published ones, with everything below them. */
const OURS = [
  "session.titles",
  "messages.tts.openai.baseUrl",
  "agents.defaults.imageGenerationModel",
  "messages.tts.local",
  "tools.media.audio.echoTranscript",
  "tools.media.audio.echoFormat",
  "nodeHost.files",
  "nodeHost.camera",
  "nodeHost.screen",
  "nodeHost.microphone",
  "nodeHost.location",
  "tools.fs.outside",
  "tools.fs.unseal",
  "tools.exec.passEnv",
  "agents.list[].tools.fs.outside",
  "agents.list[].tools.fs.unseal",
  "agents.list[].tools.exec.passEnv",
  "hooks.mappings[].preset",
  "hooks.mappings[].secret",
  "agents.defaults.heartbeat.isolated",
  "agents.list[].heartbeat.isolated",
  "agents.defaults.sandbox.backend",
  "agents.defaults.sandbox.bwrap",
  "agents.list[].sandbox.backend",
  "agents.list[].sandbox.bwrap",
  "channels.*",
  "gateway.auth.allowUnsignedNonce",
  "gateway.customBindHost",
  "gateway.watchdog",
  "store",
  "security",
  "logging.levels",
  "logging.maxFileBytes",
  "tools.taint",
  "tools.web.fetch.firecrawl",
  "tools.web.fetch.maxResponseBytes",
  "tools.web.fetch.readability",
  "usage",
  "plugins.disabled",
  "plugins.entries.*.hooks",
  "plugins.entries.*.apiKey",
  "plugins.entries.*.required",
  "plugins.entries.*.env",
  "plugins.entries.*.subagent",
  "plugins.entries.*.llm",
  "plugins.slots.contextEngine",
  "agents.defaults.memorySearch.recall",
  "agents.defaults.memorySearch.inGroups",
  "agents.list[].memorySearch.recall",
  "agents.list[].memorySearch.inGroups",
];
/** Values that this project adds to those of published keys. */
const MORE_VALUES: Readonly<Record<string, readonly string[]>> = {
  "messages.tts.provider": ["local"],
  ...Object.fromEntries(
    ["agents.defaults", "agents.list[]"].flatMap((at) => ["provider", "fallback"].map((key) => [`${at}.memorySearch.${key}`, ["mistral", "ollama"]])),
  ),
};
/** Keys that the published schema requires, and this project does not: a built-in provider at another address has its models already. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = { "models.providers.*": ["models"] };

function nodesAt(path: string): JsonSchema[] {
  let nodes: JsonSchemaNode[] = [configSchema];
  for (const key of path.split(/\.|(?=\[\])/)) {
    nodes = nodes.flatMap(alternatives).flatMap((node): JsonSchemaNode[] => {
      if (key === "[]") return node.items === undefined ? [] : [node.items as JsonSchemaNode];
      if (key === "*") return typeof node.additionalProperties === "object" ? [node.additionalProperties] : [];
      const child = node.properties?.[key];
      return child === undefined ? [] : [child];
    });
  }
  return nodes.filter((node) => typeof node === "object");
}

function alternatives(node: JsonSchemaNode): JsonSchema[] {
  if (typeof node === "boolean") return [];
  return node.anyOf ? node.anyOf.flatMap(alternatives) : [node];
}

const isReference = (node: JsonSchema): boolean => node.properties?.["source"] !== undefined && typeof node.properties["source"] === "object";
const isSecret = (node: JsonSchema): boolean => node["x-sensitive"] === true && node.anyOf !== undefined;

function describeNode(node: JsonSchema): Key {
  const branches = alternatives(node).filter((branch) => !(isSecret(node) && isReference(branch)));
  const types = [...new Set(branches.flatMap((branch) => branch.type ?? []))].sort();
  const values = branches.flatMap((branch) => (Object.hasOwn(branch, "const") ? [branch.const] : (branch.enum ?? [])));
  const objects = branches.filter((branch) => branch.type === "object");
  const required = branches.flatMap((branch) => branch.required ?? []).sort();
  const names = branches.map((branch) => (branch.propertyNames as JsonSchema | undefined)?.pattern).find(Boolean);
  return {
    ...(types.length > 0 ? { type: types.length === 1 ? types[0]! : types } : {}),
    ...(values.length > 0 ? { enum: values } : {}),
    ...Object.fromEntries(BOUNDS.flatMap((bound) => branches.filter((branch) => branch[bound] !== undefined).map((branch) => [bound, branch[bound]]))),
    ...(required.length > 0 ? { required } : {}),
    ...(objects.length > 0 ? { open: objects.some((branch) => branch.additionalProperties !== false) } : {}),
    ...(names === undefined ? {} : { names }),
    ...(node.default === undefined ? {} : { default: node.default }),
  };
}

const inOrder = (values: readonly unknown[]): unknown[] => values.toSorted((a, b) => String(a).localeCompare(String(b)));

function* everyNode(node: JsonSchemaNode | undefined, path: string): Generator<[string, JsonSchema]> {
  if (typeof node !== "object") return;
  if (path !== "") yield [path, node];
  for (const branch of alternatives(node)) {
    if (isSecret(node) && isReference(branch)) continue;
    for (const [key, child] of Object.entries(branch.properties ?? {})) yield* everyNode(child, path === "" ? key : `${path}.${key}`);
    if (typeof branch.additionalProperties === "object" && Object.keys(branch.additionalProperties).length > 0) {
      yield* everyNode(branch.additionalProperties, `${path}.*`);
    }
    if (branch.items !== undefined) yield* everyNode(branch.items as JsonSchemaNode, `${path}[]`);
  }
}

describe("the configuration schema", () => {
  test("has every published key with the published type, bounds, values, default and openness", () => {
    const ours: Record<string, unknown> = {};
    const theirs: Record<string, unknown> = {};
    for (const [path, key] of Object.entries(published.keys)) {
      const nodes = nodesAt(path);
      const merged = nodes.length === 0 ? "missing" : describeNode(nodes.length === 1 ? nodes[0]! : { anyOf: nodes });
      const wanted = {
        ...key,
        ...(key.enum ? { enum: inOrder([...key.enum, ...(MORE_VALUES[path] ?? [])]) } : {}),
        ...(key.required ? { required: key.required.filter((name) => !OPTIONAL[path]?.includes(name)) } : {}),
      };
      ours[path] = typeof merged === "object" && merged.enum ? { ...merged, enum: inOrder(merged.enum) } : merged;
      theirs[path] = wanted;
    }
    expect(Object.keys(theirs).length).toBeGreaterThan(900);
    expect(ours).toEqual(theirs);
  });

  test("adds no key of its own beyond the listed ones", () => {
    const added = [...everyNode(configSchema, "")].map(([path]) => path).filter((path) => published.keys[path] === undefined);
    const unlisted = added.filter((path) => !OURS.some((own) => path === own || path.startsWith(`${own}.`) || path.startsWith(`${own}[`)));
    expect(unlisted).toEqual([]);
    expect(added).toContain("store.url");
  });

  test("marks every published secret", () => {
    const unmarked = published.sensitive.filter((path) => !nodesAt(path).some((node) => node["x-sensitive"] === true));
    expect(unmarked).toEqual([]);
  });

  test("marks environment variables and request headers as secrets", () => {
    const maps = [...everyNode(configSchema, "")].filter(([path]) => /(^env|\.env|\.headers|\.vars)\.\*$/.test(path));
    expect(maps.length).toBeGreaterThan(10);
    expect(maps.filter(([, node]) => node["x-sensitive"] !== true).map(([path]) => path)).toEqual([]);
  });

  test("explains every key in a sentence", () => {
    const mute = [...everyNode(configSchema, "")].filter(([path, node]) => !path.endsWith("*") && !path.endsWith("[]") && !node.description);
    expect(mute.map(([path]) => path)).toEqual([]);
  });

  test("survives being written as JSON", () => {
    expect(JSON.parse(JSON.stringify(configSchema))).toEqual(configSchema);
  });
});

test("every key that this project adds is in the documentation", () => {
  const page = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("## Keys of this gateway"));
  expect(OURS.filter((key) => !table.includes(`\`${key}\``))).toEqual([]);
});
