import { configSchema } from "../schema/index.ts";
import { isObject, withValue } from "../value.ts";
import { isTuple } from "./containers.ts";
import type { ConfigSections, JsonSchema, JsonSchemaNode } from "../json-schema.ts";
import { objectAt } from "./rules/rule.ts";

type Keys = Readonly<Record<string, unknown>>;

/** The value with defaults in it; the same value when there is nothing to add, so that unchanged parts stay shared. */
function filled(value: unknown, schema: JsonSchemaNode, isSkipped: (key: string) => boolean): unknown {
  if (typeof schema === "boolean") return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined || isTuple(items)) return value;
    const next = value.map((item) => filled(item, items, never));
    return next.some((item, index) => item !== value[index]) ? next : value;
  }
  return isObject(value) ? filledObject(value, schema, isSkipped) : value;
}

function filledObject(value: Keys, schema: JsonSchema, isSkipped: (key: string) => boolean): Keys {
  const changes = new Map<string, unknown>();
  for (const [key, node] of Object.entries(schema.properties ?? {})) {
    if (isSkipped(key) || typeof node === "boolean") continue;
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const next = given === undefined ? structuredClone(node.default) : filled(given, node, never);
    if (next !== given) changes.set(key, next);
  }
  const { additionalProperties } = schema;
  if (isObject(additionalProperties)) {
    for (const [key, given] of Object.entries(value)) {
      if (isSkipped(key) || (schema.properties && Object.hasOwn(schema.properties, key))) continue;
      const next = filled(given, additionalProperties, never);
      if (next !== given) changes.set(key, next);
    }
  }
  return changes.size === 0 ? value : { ...value, ...Object.fromEntries(changes) };
}

const never = (): boolean => false;
const isAccounts = (key: string): boolean => key === "accounts";

function withSection(config: Keys, path: readonly string[], schema: JsonSchema, isSkipped: (key: string) => boolean): Keys {
  const section = objectAt(config, ...path);
  if (!section) return config;
  const next = filledObject(section, schema, isSkipped);
  if (next === section) return config;
  const changed = withValue(config, path, next)?.value;
  return isObject(changed) ? changed : config;
}

/**
 * A configuration with the schema's defaults put in; the argument is not changed. Accounts of a channel get none: a key that an account
 * leaves out is taken from its channel, and a default in the account would hide that.
 */
export function applyDefaults<T>(value: T, schema: JsonSchema = configSchema, sections: ConfigSections = {}): T {
  if (!isObject(value)) return value;
  let next = filledObject(value, schema, never);
  for (const [id, section] of Object.entries(sections.channels ?? {})) next = withSection(next, ["channels", id], section, isAccounts);
  for (const [id, section] of Object.entries(sections.plugins ?? {})) next = withSection(next, ["plugins", "entries", id, "config"], section, never);
  return next as T;
}
