/** Shapes in a line of text, for tables that people read. */
import type { JsonSchema } from "../../src/protocol/check.ts";

/** Levels of objects that are written out. The JSON Schema has the rest. */
const MAX_LEVEL = 2;

function bounds(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return ` ${least}..${most}`;
  if (least !== undefined) return ` ≥ ${least}`;
  return most === undefined ? "" : ` ≤ ${most}`;
}

function stringText({ minLength = 0, maxLength, pattern }: JsonSchema): string {
  if (pattern !== undefined) return "day";
  const word = minLength > 0 ? "text" : "text*";
  return maxLength === undefined ? word : `${word} ≤ ${maxLength}`;
}

function objectText({ properties = {}, required = [], additionalProperties }: JsonSchema, level: number): string {
  const known = Object.entries(properties);
  if (level >= MAX_LEVEL && known.length > 0) return "{…}";
  const parts = known.map(([key, schema]) => `${key}${required.includes(key) ? "" : "?"}: ${shapeText(schema, level + 1)}`);
  if (typeof additionalProperties === "object") parts.push(`<key>: ${shapeText(additionalProperties, level + 1)}`);
  if (additionalProperties === true) parts.push("…");
  return `{${parts.join(", ")}}`;
}

function bare(schema: JsonSchema, level: number): string {
  if (schema.anyOf) return schema.anyOf.map((kind) => shapeText(kind, level)).join(" / ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" / ");
  switch (schema.type) {
    case undefined:
      return "anything";
    case "string":
      return stringText(schema);
    case "integer":
      return `whole${bounds(schema.minimum, schema.maximum)}`;
    case "number":
      return schema.minimum === 0 ? "time" : `number${bounds(schema.minimum, schema.maximum)}`;
    case "array":
      return `[${shapeText(schema.items ?? {}, level)}]${bounds(schema.minItems, schema.maxItems)}`;
    case "object":
      return objectText(schema, level);
    default:
      return schema.type;
  }
}

/** One line that says what a schema takes. */
export function shapeText(schema: JsonSchema, level = 0): string {
  return schema.default === undefined ? bare(schema, level) : `${bare(schema, level)} (${JSON.stringify(schema.default)})`;
}
