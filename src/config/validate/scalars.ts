import { nearest } from "../../base/text.ts";
import type { Walk } from "./context.ts";
import { isObject, sameValue } from "../value.ts";
import type { JsonSchema } from "../json-schema.ts";
import { describeExpected, describeFound, typesOf, wantsScalar } from "./words.ts";

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return Number.isFinite(value);
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return type === "null" && value === null;
  }
}

function advice(schema: JsonSchema, value: unknown): string {
  const types = typesOf(schema);
  if (typeof value === "string" && value.length < 20) {
    const wantsNumber = types.includes("number") || types.includes("integer");
    if (wantsNumber && /^-?\d+(\.\d+)?$/.test(value)) return `; write it without quotes`;
    if (types.includes("boolean") && /^(true|false)$/.test(value)) return `; write it without quotes`;
    if (types.includes("boolean") && /^(on|yes|enabled)$/i.test(value)) return `; write true`;
    if (types.includes("boolean") && /^(off|no|disabled)$/i.test(value)) return `; write false`;
  }
  if (types.includes("array") && !isObject(value)) return "; put it in [ ]";
  if (types.includes("string") && typeof value === "number") return "; put it in quotes";
  return "";
}

function mismatch(walk: Walk, schema: JsonSchema, value: unknown, code: "type" | "enum" | "bounds" | "pattern" | "format", more = ""): void {
  const expected = describeExpected(schema);
  const found = describeFound(value, walk.hidden(schema) || !wantsScalar(schema));
  walk.report({ code, expected, found, message: `expected ${expected}, found ${found}${more}` });
}

const TYPES: ReadonlySet<unknown> = new Set(["string", "boolean", "number", "integer", "array", "object", "null"]);

/** False, with a report, when the value has none of the wanted types; nothing else can be said of it then. */
export function checkType(walk: Walk, schema: JsonSchema, value: unknown): boolean {
  const { type } = schema;
  if (type === undefined || (typeof type === "string" ? hasType(value, type) : Array.isArray(type) && type.some((one: string) => hasType(value, one))))
    return true;
  const unknown = [type].flat().find((one) => !TYPES.has(one));
  if (unknown !== undefined) {
    walk.report({ code: "schema", message: `cannot be checked: its schema has the type ${JSON.stringify(unknown)}, which JSON Schema does not have` });
    return true;
  }
  mismatch(walk, schema, value, "type", advice(schema, value));
  return false;
}

/** False, with a report, when the value is not among those listed. */
export function checkListed(walk: Walk, schema: JsonSchema, value: unknown): boolean {
  const allowed = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  if (allowed === undefined || allowed.includes(value) || allowed.some((one) => sameValue(one, value))) return true;
  const texts = allowed.filter((one) => typeof one === "string");
  const suggestion = typeof value === "string" && allowed.length > 1 && !walk.hidden(schema) ? nearest(value, texts) : undefined;
  if (suggestion === undefined) {
    mismatch(walk, schema, value, "enum");
    return false;
  }
  const expected = describeExpected(schema);
  const found = describeFound(value, false);
  const message = `expected ${expected}, found ${found}; did you mean ${JSON.stringify(suggestion)}?`;
  walk.report({ code: "enum", expected, found, suggestion, message });
  return false;
}

function isOutOfBounds(schema: JsonSchema, value: number): boolean {
  return (
    (schema.minimum !== undefined && value < schema.minimum) ||
    (schema.maximum !== undefined && value > schema.maximum) ||
    (schema.exclusiveMinimum !== undefined && value <= schema.exclusiveMinimum) ||
    (schema.exclusiveMaximum !== undefined && value >= schema.exclusiveMaximum)
  );
}

export function checkNumber(walk: Walk, schema: JsonSchema, value: number): void {
  if (isOutOfBounds(schema, value)) mismatch(walk, schema, value, "bounds");
  else if (schema.multipleOf !== undefined && !Number.isInteger(Number((value / schema.multipleOf).toFixed(9)))) {
    walk.report({ code: "bounds", message: `expected a multiple of ${schema.multipleOf}, found ${describeFound(value, walk.hidden(schema))}` });
  }
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  uri: (text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text),
  url: (text) => URL.canParse(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(\d{1,3}\.){3}\d{1,3}$/.test(text) && text.split(".").every((part) => Number(part) < 256),
};

export function checkString(walk: Walk, schema: JsonSchema, value: string): void {
  // Every UTF-16 unit is at least half a character, so most texts need no counting.
  const { minLength = 0, maxLength = Infinity } = schema;
  if (value.length < minLength * 2 || value.length > maxLength) {
    const length = Array.from(value).length;
    if (length < minLength || length > maxLength) return mismatch(walk, schema, value, "bounds", length > maxLength ? `, which has ${length}` : "");
  }
  if (schema.pattern !== undefined) {
    const pattern = walk.pattern(schema.pattern);
    if (pattern && !pattern.test(value)) return mismatch(walk, schema, value, "pattern");
  }
  const isValid = schema.format === undefined || !Object.hasOwn(FORMATS, schema.format) ? undefined : FORMATS[schema.format];
  if (isValid && !isValid(value)) mismatch(walk, schema, value, "format");
}
