import { describedSchema } from "../schema/described.ts";
import { isObject } from "../value.ts";
import type { ConfigSections, JsonSchema, JsonSchemaNode } from "./json-schema.ts";

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
  definitions[prefix] = rebased(rest, prefix) as JsonSchema;
  return { $ref: `#/definitions/${prefix}` };
}

function withProperties(schema: JsonSchema, properties: Record<string, JsonSchemaNode>): JsonSchema {
  return Object.keys(properties).length === 0 ? schema : { ...schema, properties: { ...schema.properties, ...properties } };
}

/** The whole configuration as one draft-07 schema: ours with what plugins bring put in its place. */
export function exportSchema(sections: ConfigSections = {}): JsonSchema {
  const definitions: Definitions = {};
  const top = describedSchema.properties ?? {};
  const channels: Record<string, JsonSchemaNode> = {};
  for (const [id, schema] of Object.entries(sections.channels ?? {})) channels[id] = embedded(schema, `channel-${id}`, definitions);
  const plugins = top["plugins"] as JsonSchema;
  const entries = plugins.properties?.["entries"] as JsonSchema;
  const entry = entries.additionalProperties as JsonSchema;
  const named: Record<string, JsonSchemaNode> = {};
  for (const [id, schema] of Object.entries(sections.plugins ?? {})) {
    named[id] = withProperties(entry, { config: embedded(schema, `plugin-${id}`, definitions) });
  }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "OpenClawConfig",
    ...withProperties(describedSchema, {
      channels: withProperties(top["channels"] as JsonSchema, channels),
      plugins: withProperties(plugins, { entries: withProperties(entries, named) }),
    }),
    ...(Object.keys(definitions).length > 0 ? { definitions } : {}),
  };
}
