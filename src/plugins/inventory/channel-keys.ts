/** The keys that all channels have, for manifests that say `"common": true` beside their own schema. */
import { isObject } from "../../config/index.ts";

type Fields = Readonly<Record<string, unknown>>;

const flag = (description: string): Fields => ({ type: "boolean", description });
const text = (description: string): Fields => ({ type: "string", description });
const whole = (description: string, minimum = 0): Fields => ({ type: "integer", minimum, description });
const texts = (description: string): Fields => ({ type: "array", items: { type: "string" }, description });
const ids = (description: string): Fields => ({ type: "array", items: { type: ["string", "integer"] }, description });
const oneOf = (choices: readonly string[], description: string): Fields => ({ enum: choices, description });
const object = (properties: Fields, description: string): Fields => ({ type: "object", additionalProperties: false, properties, description });
const mapOf = (entry: Fields, description: string): Fields => ({ type: "object", additionalProperties: entry, description });

const PROPERTIES: Fields = {
  enabled: flag("Off: the channel or account is not started."),
  name: text("Name of the account in lists."),
  capabilities: texts("Names."),
  markdown: object({ tables: oneOf(["off", "bullets", "code"], "How tables are shown. Default code.") }, "Formatting."),
  commands: object(
    {
      native: { enum: [true, false, "auto"], description: "Commands in the platform's menu. Default auto." },
      nativeSkills: { enum: [true, false, "auto"], description: "Skills in that menu. Default auto." },
    },
    "Commands of the platform's menu.",
  ),
  configWrites: flag("May change the configuration. Default true."),
  dmPolicy: oneOf(["pairing", "allowlist", "open", "disabled"], "Who may write in private. Default pairing."),
  allowFrom: ids("User ids; `*` for everybody, with dmPolicy open."),
  groupPolicy: oneOf(["open", "disabled", "allowlist"], "Who may write in groups. Default allowlist."),
  groupAllowFrom: ids("User ids for groups. Default: allowFrom."),
  groups: mapOf({ $ref: "#/$defs/group" }, "By id; `*` for all others. With any entry, only the listed groups are answered."),
  historyLimit: whole("Group messages included in a turn. Default 50."),
  dmHistoryLimit: whole("Turns of a private chat included for the model."),
  dms: mapOf(object({ historyLimit: whole("Turns included for the model.") }, "A private chat."), "By user id."),
  textChunkLimit: whole("Longest message. Default 4000.", 1),
  chunkMode: oneOf(["length", "newline"], "Where longer texts are cut. Default length."),
  blockStreaming: flag("Send finished paragraphs while the turn runs."),
  blockStreamingCoalesce: object(
    {
      minChars: whole("Least characters.", 1),
      maxChars: whole("Most characters.", 1),
      idleMs: whole("Wait for more, in milliseconds. Default 1000."),
    },
    "How paragraphs are put together.",
  ),
  mediaMaxMb: { type: "number", exclusiveMinimum: 0, description: "Largest file accepted." },
  heartbeat: object({ showOk: flag("Default false."), showAlerts: flag("Default true."), useIndicator: flag("Default true.") }, "What heartbeats show."),
  responsePrefix: text("Prefix of every answer."),
  defaultAccount: text("Account used when none is named."),
};

const TOOLS = object({ allow: texts("Only these."), alsoAllow: texts("These as well."), deny: texts("Never these.") }, "Tools in this group.");

const GROUP = object(
  {
    requireMention: flag("Only answer when mentioned. Default true."),
    enabled: flag("Off: nothing is answered here."),
    allowFrom: ids("User ids."),
    skills: texts("Only these skills."),
    systemPrompt: text("Added to the system prompt here."),
    tools: { $ref: "#/$defs/tools" },
    toolsBySender: mapOf({ $ref: "#/$defs/tools" }, "Tools by user id; `*` for everybody else."),
  },
  "A group.",
);

/** Words of a schema that say which values it takes. */
const KINDS = ["type", "enum", "const", "anyOf", "oneOf", "$ref"];

/** Limits and descriptions are added to a common key; one that takes other kinds of values replaces it. */
function refined(below: Fields, above: Fields): Fields {
  const isAnother = KINDS.some((word) => Object.hasOwn(above, word) && JSON.stringify(above[word]) !== JSON.stringify(below[word]));
  return isAnother ? { description: below["description"], ...above } : { ...below, ...above };
}

/** Own keys stand over the common ones of the same name; `null` takes one out. Forms show `first`, own keys, then the rest. */
function merged(common: Fields, own: Fields, first: readonly string[] = []): Fields {
  const all = new Set([...first, ...Object.keys(own), ...Object.keys(common)]);
  return Object.fromEntries(
    [...all].flatMap((key) => {
      if (own[key] === null) return [];
      const [below, above] = [common[key], own[key]];
      return [[key, isObject(below) && isObject(above) ? refined(below, above) : (above ?? below)]];
    }),
  );
}

/** Every key of the channel may stand in an account. */
function accountsOf(properties: Fields): Fields {
  const keys = Object.keys(properties).filter((key) => key !== "defaultAccount" && key !== "accounts");
  const entry = { type: "object", additionalProperties: false, properties: Object.fromEntries(keys.map((key) => [key, { $ref: `#/properties/${key}` }])) };
  return mapOf(entry, "More connections; each may override the keys above.");
}

/** A channel's schema with the keys that all channels have. */
export function withCommonKeys(schema: Fields): Fields {
  const own = isObject(schema["properties"]) ? schema["properties"] : {};
  const definitions = isObject(schema["$defs"]) ? schema["$defs"] : {};
  const properties = merged(PROPERTIES, own, ["enabled", "name"]);
  const group = isObject(definitions["group"]) ? definitions["group"] : {};
  const groupProperties = merged(GROUP["properties"] as Fields, isObject(group["properties"]) ? group["properties"] : {});
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    additionalProperties: false,
    ...schema,
    properties: { ...properties, ...(Object.hasOwn(own, "accounts") ? {} : { accounts: accountsOf(properties) }) },
    $defs: { tools: TOOLS, ...definitions, group: { ...GROUP, ...group, properties: groupProperties } },
  };
}

/** The channels' part of a manifest, with the common keys where it asks for them. */
export function expandChannelConfigs(configs: unknown): unknown {
  if (!isObject(configs)) return configs;
  return Object.fromEntries(
    Object.entries(configs).map(([id, config]) => {
      if (!isObject(config) || config["common"] !== true) return [id, config];
      return [id, { ...config, schema: withCommonKeys(isObject(config["schema"]) ? config["schema"] : {}) }];
    }),
  );
}
