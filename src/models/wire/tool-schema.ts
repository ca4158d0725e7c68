import { isRecord } from "../../base/records.ts";
import type { ToolSchema } from "../../protocol/index.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The alternatives of a schema, if it has any. */
function alternativesOf({ anyOf, oneOf }: Schema): readonly unknown[] | undefined {
  return Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
}

/** Providers require one object at the root: alternatives are merged, and a property is required only when every branch requires it. */
export function rootObject(parameters: ToolSchema["parameters"]): Schema {
  const branches = alternativesOf(parameters);
  if (!branches) return parameters["type"] === undefined ? { type: "object", properties: {}, ...parameters } : parameters;
  const objects = branches.filter(isRecord);
  const properties: Record<string, unknown> = { ...(isRecord(parameters["properties"]) ? parameters["properties"] : {}) };
  for (const branch of objects) {
    for (const [name, schema] of Object.entries(isRecord(branch["properties"]) ? branch["properties"] : {}))
      properties[name] = merged(properties[name], schema);
  }
  const required = objects
    .map((branch) => new Set<unknown>(Array.isArray(branch["required"]) ? branch["required"] : []))
    .reduce<Set<unknown> | undefined>((all, names) => (all ? all.intersection(names) : names), undefined);
  const { anyOf: _, oneOf: __, ...rest } = parameters;
  return { ...rest, type: "object", properties, ...(required && required.size > 0 ? { required: [...required] } : {}) };
}

/** The same property in two branches: constants and lists of constants are merged into one list. */
function merged(one: unknown, other: unknown): unknown {
  if (one === undefined || !isRecord(one) || !isRecord(other)) return one ?? other;
  const values = constants(one);
  const others = constants(other);
  return values && others ? { type: typeof values[0], enum: [...new Set([...values, ...others])] } : one;
}

function constants(schema: Schema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema["const"]];
  return Array.isArray(schema["enum"]) ? schema["enum"] : undefined;
}

const GOOGLE_REFUSES: ReadonlySet<string> = new Set(
  (
    "patternProperties additionalProperties $schema $id $ref $defs definitions examples minLength maxLength minimum maximum multipleOf pattern format " +
    "minItems maxItems uniqueItems minProperties maxProperties exclusiveMinimum exclusiveMaximum"
  ).split(" "),
);
const MAX_DEPTH = 32;

/** A schema that Google accepts: references resolved, unsupported keywords removed, alternatives of constants as a list, null variants dropped. */
export function googleSchema(parameters: ToolSchema["parameters"]): Schema {
  const root = rootObject(parameters);
  const definitions = { ...(isRecord(root["$defs"]) ? root["$defs"] : {}), ...(isRecord(root["definitions"]) ? root["definitions"] : {}) };
  const cleaned = clean(root, definitions, 0);
  return isRecord(cleaned) ? cleaned : {};
}

/** Schemas may also be `true` or `false`. */
function clean(schema: unknown, definitions: Schema, depth: number): unknown {
  if (!isRecord(schema)) return schema;
  if (depth > MAX_DEPTH) return { type: "object" };
  const reference = schema["$ref"];
  if (typeof reference === "string") return clean(definitions[reference.slice(reference.lastIndexOf("/") + 1)] ?? {}, definitions, depth + 1);
  const variants = alternativesOf(schema);
  if (variants) return alternatives(schema, variants, definitions, depth);
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (GOOGLE_REFUSES.has(key)) continue;
    if (key === "const") result["enum"] = [value];
    else if (key === "type" && Array.isArray(value)) result["type"] = value.find((type) => type !== "null");
    else if (key === "properties" && isRecord(value))
      result[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, clean(inner, definitions, depth + 1)]));
    else if (key === "items") result[key] = clean(Array.isArray(value) ? (value[0] ?? {}) : value, definitions, depth + 1);
    else result[key] = value;
  }
  return result;
}

function alternatives(schema: Schema, variants: readonly unknown[], definitions: Schema, depth: number): unknown {
  const { anyOf: _, oneOf: __, ...rest } = schema;
  const real = variants.filter(isRecord).filter((variant) => variant["type"] !== "null" && variant["const"] !== null);
  const lists = real.map(constants);
  if (lists.length > 0 && lists.every((list) => list !== undefined)) {
    const values = lists.flat();
    return clean({ ...rest, type: typeof values[0], enum: values }, definitions, depth + 1);
  }
  if (real.length === 1) return clean({ ...rest, ...real[0] }, definitions, depth + 1);
  const cleaned = clean(rest, definitions, depth + 1);
  return { ...(isRecord(cleaned) ? cleaned : {}), anyOf: real.map((variant) => clean(variant, definitions, depth + 1)) };
}
