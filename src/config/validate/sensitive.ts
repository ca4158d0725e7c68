import { configSchema } from "../schema/index.ts";
import type { Path } from "./issue.ts";
import { isObject } from "../value.ts";
import { followRef, type ConfigSections, type JsonSchema, type JsonSchemaNode } from "../json-schema.ts";
import { isSecretKey } from "./secret-keys.ts";

/** Keys of a reference to a secret: they say where it is, not what it is. */
const REFERENCE_KEYS = new Set(["source", "id", "path", "key", "command", "args", "timeoutMs"]);

/** Maps whose values are secrets by the name of the map. */
const SECRET_MAPS = new Set(["env", "headers"]);

function* childSchemas(root: JsonSchemaNode, node: JsonSchemaNode | undefined, key: string | number): Generator<JsonSchemaNode> {
  const resolved = isObject(node) && typeof node["$ref"] === "string" ? followRef(root, node["$ref"]) : node;
  if (!isObject(resolved)) return;
  const schema = resolved;
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) yield* childSchemas(root, branch, key);
  if (typeof key === "number") {
    if (isObject(schema.items)) yield schema.items;
    return;
  }
  const listed = schema.properties && Object.hasOwn(schema.properties, key) ? schema.properties[key] : schema.additionalProperties;
  if (listed !== undefined) yield listed;
}

function isMarked(root: JsonSchema, path: Path): boolean {
  let nodes: JsonSchemaNode[] = [root];
  for (const key of path) nodes = nodes.flatMap((node) => [...childSchemas(root, node, key)]).slice(0, 100);
  return nodes.some((node) => isObject(node) && node["x-sensitive"] === true);
}

function looksSecret(path: Path): boolean {
  const keys = path.filter((key) => typeof key === "string");
  const last = keys.at(-1);
  if (last === undefined) return false;
  if (isSecretKey(last)) return true;
  const isBelowSecret = keys.slice(0, -1).some((key) => isSecretKey(key)) && !REFERENCE_KEYS.has(last);
  return isBelowSecret || SECRET_MAPS.has(keys.at(-2) ?? "");
}

/**
 * True when the value at `path` is a secret that must not be shown. By the schema's marks; below `channels` and `plugins`, where
 * schemas are others' work, also by the names of keys.
 */
export function isSensitivePath(path: Path, sections: ConfigSections = {}): boolean {
  if (isMarked(configSchema, path)) return true;
  const [top, second, third] = path;
  if (top === "channels" && path.length > 2) {
    const schemas = schemasOf("channels", second, sections);
    return looksSecret(path.slice(2)) || schemas.some((schema) => isMarked(schema, path.slice(2))) || isNamedSecret(path, sections);
  }
  if (top === "plugins" && second === "entries" && path.length > 4) {
    const schemas = schemasOf("plugins", third, sections);
    return looksSecret(path.slice(3)) || schemas.some((schema) => isMarked(schema, path.slice(4))) || isNamedSecret(path, sections);
  }
  return false;
}

function schemasOf(kind: "channels" | "plugins", id: string | number | undefined, { unchecked, ...sections }: ConfigSections): JsonSchema[] {
  if (typeof id !== "string") return [];
  return [sections[kind], unchecked?.[kind]].map((known = {}) => (Object.hasOwn(known, id) ? known[id] : undefined)).filter((schema) => schema !== undefined);
}

/** Whether hints of plugins call the value secret. */
function isNamedSecret(path: Path, { secrets = [] }: ConfigSections): boolean {
  const fits = (part: string | undefined, key: string | number): boolean =>
    typeof key === "number" ? part === "[]" || part === "*" : part === "*" || part === key;
  return secrets.some((pattern) => pattern.length === path.length && path.every((key, at) => fits(pattern[at], key)));
}
