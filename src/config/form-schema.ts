import { KNOWN_CHANNELS } from "./known-channels.ts";
import { isObject } from "./value.ts";
import { followRef, type ConfigSections, type JsonSchema, type JsonSchemaNode } from "./json-schema.ts";
import { describedSchema } from "./schema/described.ts";

/** What a form shows for one key. */
export interface UiHint {
  readonly label: string;
  readonly help?: string;
  readonly sensitive?: boolean;
  readonly advanced?: boolean;
  /** What it could be, shown while it is empty. */
  readonly placeholder?: string;
  /** Where forms show an area of its own. */
  readonly group?: string;
  /** Among its neighbours; smaller comes first. */
  readonly order?: number;
  /** What a new entry of the list begins with. */
  readonly itemTemplate?: unknown;
}

const ACRONYMS = [
  "AI",
  "API",
  "ARGS",
  "CA",
  "CDP",
  "CLI",
  "CPU",
  "DM",
  "DNS",
  "HTTP",
  "ID",
  "MCP",
  "MMR",
  "OTEL",
  "PDF",
  "QMD",
  "SSH",
  "SSRF",
  "TLS",
  "TTL",
  "TTS",
  "UI",
  "URL",
  "VNC",
];
const SPELLINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ACRONYMS.map((word) => [word.toLowerCase(), word])),
  args: "arguments",
  ids: "IDs",
  urls: "URLs",
  dms: "DMs",
  cpus: "CPUs",
  ms: "(ms)",
  mb: "(MB)",
  px: "(px)",
  mdns: "mDNS",
  openai: "OpenAI",
  elevenlabs: "ElevenLabs",
  ...Object.fromEntries(KNOWN_CHANNELS.flatMap(({ id, label }) => (label === undefined ? [] : [[id, label] as const]))),
  gmail: "Gmail",
  env: "environment",
  fs: "files",
  exec: "commands",
};

/** `maxConcurrent` → `Max concurrent`, `baseUrl` → `Base URL`. */
export function labelOf(key: string): string {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_.-]+/g, " ")
    .trim()
    .split(/\s+/)
    .map((word) => SPELLINGS[word.toLowerCase()] ?? word.toLowerCase());
  const label = words.join(" ");
  // Names such as iMessage keep their first letter.
  return words[0] === undefined || /[A-Z]/.test(words[0]) ? label : label.charAt(0).toUpperCase() + label.slice(1);
}

const MAX_LEVELS = 24;
/** A schema that holds itself, as accounts of a channel hold what the channel holds, is described so often. */
const MAX_FOLLOWED = 2;
/** Plugins may bring schemas that never end. */
const MAX_HINTS = 8000;

/** A key on its way to a hint. */
interface Place {
  readonly pattern: string;
  readonly keys: readonly (string | number)[];
  /** The nearest key that is named. */
  readonly name: string;
  readonly level: number;
  /** References that were followed to get here. */
  readonly followed: readonly string[];
}

type IsSecret = (path: readonly (string | number)[]) => boolean;

function hintOf(schema: JsonSchema, { keys, name }: Place, isSecret: IsSecret): UiHint {
  return {
    label: typeof schema.title === "string" ? schema.title : labelOf(name),
    ...(typeof schema.description === "string" ? { help: schema.description } : {}),
    ...(schema["x-sensitive"] || isSecret(keys) ? { sensitive: true } : {}),
    ...(schema["x-advanced"] ? { advanced: true } : {}),
  };
}

function* hintsOf(root: JsonSchema, node: unknown, place: Place, isSecret: IsSecret): Generator<[string, UiHint]> {
  const { pattern, keys, level, followed } = place;
  if (!isObject(node) || level > MAX_LEVELS) return;
  const schema: JsonSchema = node;
  const deeper = { ...place, level: level + 1 };
  if (typeof schema.$ref === "string") {
    const times = followed.filter((ref) => ref === schema.$ref).length;
    if (times < MAX_FOLLOWED) yield* hintsOf(root, followRef(root, schema.$ref), { ...deeper, followed: [...followed, schema.$ref] }, isSecret);
    else yield [pattern, hintOf(schema, place, isSecret)];
    return;
  }
  if (pattern !== "") yield [pattern, hintOf(schema, place, isSecret)];
  const below = (key: string): string => (pattern === "" ? key : `${pattern}.${key}`);
  for (const [key, child] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    yield* hintsOf(root, child, { ...deeper, pattern: below(key), keys: [...keys, key], name: key }, isSecret);
  }
  if (isObject(schema.additionalProperties))
    yield* hintsOf(root, schema.additionalProperties, { ...deeper, pattern: below("*"), keys: [...keys, "*"] }, isSecret);
  if (isObject(schema.items)) yield* hintsOf(root, schema.items, { ...deeper, pattern: `${pattern}[]`, keys: [...keys, 0] }, isSecret);
  for (const branch of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((branches): readonly unknown[] => (Array.isArray(branches) ? branches : []))) {
    yield* hintsOf(root, branch, deeper, isSecret);
  }
}

/**
 * Labels and help for every key of a schema. In the paths `*` stands for any key of a map and `[]` for any entry of a list. `isSecret` knows more secrets
 * than the schema marks.
 */
export function uiHints(schema: JsonSchema, isSecret: IsSecret = () => false): Record<string, UiHint> {
  const hints: Record<string, UiHint> = {};
  const top: Place = { pattern: "", keys: [], name: "", level: 0, followed: [] };
  let seen = 0;
  for (const [pattern, hint] of hintsOf(schema, schema, top, isSecret)) {
    hints[pattern] ??= hint;
    if ((seen += 1) >= MAX_HINTS) break;
  }
  return hints;
}

type Definitions = Record<string, JsonSchemaNode>;

/** References of an embedded schema point to its own root, so they get a prefix and its definitions move to the root of the whole. */
function rebased(node: unknown, prefix: string, level = 0): unknown {
  if (level > 100) return node;
  if (Array.isArray(node)) return node.map((item) => rebased(item, prefix, level + 1));
  if (!isObject(node)) return node;
  const entries = Object.entries(node).map(([key, value]) => {
    if (key !== "$ref" || typeof value !== "string" || !value.startsWith("#")) return [key, rebased(value, prefix, level + 1)];
    return [key, `#/definitions/${prefix}${value.slice(1)}`];
  });
  return Object.fromEntries(entries);
}

function embedded(schema: JsonSchema, prefix: string, definitions: Definitions): JsonSchema {
  const { $schema: _schema, $id: _id, ...rest } = schema;
  if (!JSON.stringify(rest).includes('"$ref"')) return rest;
  const moved = rebased(rest, prefix);
  if (isObject(moved)) definitions[prefix] = moved;
  return { $ref: `#/definitions/${prefix}` };
}

const schemaIn = (node: JsonSchemaNode | undefined): JsonSchema => (typeof node === "object" ? node : {});

function withProperties(schema: JsonSchema, properties: Record<string, JsonSchemaNode>): JsonSchema {
  return Object.keys(properties).length === 0 ? schema : { ...schema, properties: { ...schema.properties, ...properties } };
}

/** The whole configuration as one draft-07 schema: ours with what plugins bring put in its place. */
export function exportSchema(sections: ConfigSections = {}): JsonSchema {
  const definitions: Definitions = {};
  const top = describedSchema.properties ?? {};
  const channels: Record<string, JsonSchemaNode> = {};
  for (const [id, schema] of Object.entries(sections.channels ?? {})) channels[id] = embedded(schema, `channel-${id}`, definitions);
  const plugins = schemaIn(top["plugins"]);
  const entries = schemaIn(plugins.properties?.["entries"]);
  const entry = schemaIn(entries.additionalProperties);
  const named: Record<string, JsonSchemaNode> = {};
  for (const [id, schema] of Object.entries(sections.plugins ?? {})) {
    named[id] = withProperties(entry, { config: embedded(schema, `plugin-${id}`, definitions) });
  }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "OpenClawConfig",
    ...withProperties(describedSchema, {
      channels: withProperties(schemaIn(top["channels"]), channels),
      plugins: withProperties(plugins, { entries: withProperties(entries, named) }),
    }),
    ...(Object.keys(definitions).length > 0 ? { definitions } : {}),
  };
}

/** The areas of the configuration as forms show them: what one looks for first comes first. */
const AREAS: readonly (readonly [group: string, keys: readonly string[]])[] = [
  ["Answering", ["agents", "models", "auth", "memory", "skills", "tools", "usage"]],
  ["Conversations", ["channels", "messages", "session", "commands", "bindings", "broadcast", "audio", "media", "talk", "approvals"]],
  ["Automation", ["cron", "hooks", "browser", "web", "nodeHost", "canvasHost", "plugins"]],
  ["Gateway", ["gateway", "security", "store", "env", "logging", "diagnostics", "update", "discovery", "ui"]],
];
const STEP = 10;

/** Where forms show what plugins bring: after our own areas. */
export const BROUGHT: Readonly<Record<"channels" | "plugins", Required<Pick<UiHint, "group" | "order">>>> = {
  channels: { group: "Channels", order: 1000 },
  plugins: { group: "Plugins", order: 2000 },
};

/** Group and order of a key at the top of the configuration. */
export function areaOf(key: string): Required<Pick<UiHint, "group" | "order">> {
  const areas = AREAS.flatMap(([group, keys]) => keys.map((name) => ({ group, name }))).map((area, index) => ({ ...area, order: (index + 1) * STEP }));
  const { group, order } = areas.find(({ name }) => name === key) ?? { group: "Other", order: 9000 };
  return { group, order };
}
