import { clip } from "../../base/text.ts";
import { isObject } from "../value.ts";
import type { JsonSchema, JsonSchemaNode } from "../json-schema.ts";

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

const SCALARS = new Set(["string", "number", "integer", "boolean", "null"]);

export function joinWords(words: readonly string[]): string {
  const unique = [...new Set(words)];
  return unique.length < 2 ? (unique[0] ?? "") : `${unique.slice(0, -1).join(", ")} or ${unique.at(-1)}`;
}

export function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  return schema.type ?? [];
}

/** True when a single value is wanted here, so that showing what came instead gives away no more than that value. */
export function wantsScalar(schema: JsonSchemaNode): boolean {
  if (typeof schema === "boolean") return false;
  if (schema.enum !== undefined || Object.hasOwn(schema, "const")) return true;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return branches.some(wantsScalar);
  return typesOf(schema).some((type) => SCALARS.has(type));
}

function boundsWords(schema: JsonSchema): string {
  const low = schema.exclusiveMinimum !== undefined ? `> ${schema.exclusiveMinimum}` : schema.minimum !== undefined ? `>= ${schema.minimum}` : "";
  const high = schema.exclusiveMaximum !== undefined ? `< ${schema.exclusiveMaximum}` : schema.maximum !== undefined ? `<= ${schema.maximum}` : "";
  if (schema.minimum !== undefined && schema.maximum !== undefined) return ` from ${schema.minimum} to ${schema.maximum}`;
  const both = [low, high].filter(Boolean).join(" and ");
  return both === "" ? "" : ` ${both}`;
}

function stringWords(schema: JsonSchema): string {
  if (schema.format === "uri") return "an address such as https://example.org";
  if (schema.pattern !== undefined) return `a text that matches ${schema.pattern}`;
  if (schema.minLength === 1 && schema.maxLength === undefined) return "a non-empty text";
  if (schema.minLength !== undefined && schema.maxLength !== undefined) return `a text of ${schema.minLength} to ${schema.maxLength} characters`;
  if (schema.minLength !== undefined) return `a text of at least ${schema.minLength} characters`;
  if (schema.maxLength !== undefined) return `a text of at most ${schema.maxLength} characters`;
  return "a text";
}

/** What a schema wants, in words: `a whole number > 0`, `one of "a", "b"`. */
export function describeExpected(schema: JsonSchemaNode): string {
  if (typeof schema === "boolean") return schema ? "anything" : "nothing";
  if (Object.hasOwn(schema, "const")) return JSON.stringify(schema.const);
  if (schema.enum) return `${schema.enum.length > 1 ? "one of " : ""}${schema.enum.map((one) => JSON.stringify(one)).join(", ")}`;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return joinWords(branches.map(describeExpected));
  const words = typesOf(schema).map((type) => {
    if (type === "string") return stringWords(schema);
    if (type === "number" || type === "integer") return `${TYPE_WORDS[type]}${boundsWords(schema)}`;
    return TYPE_WORDS[type] ?? type;
  });
  return words.length === 0 ? "something else" : joinWords(words);
}

/** A name of the user's in quotes, cut when it is long. */
export const quoted = (text: string): string => JSON.stringify(clip(text, 60));

/** What came, in words. A secret, or anything where no single value was wanted, shows only its kind and length. */
export function describeFound(value: unknown, hidden: boolean): string {
  if (typeof value === "string") {
    if (value === "") return "an empty text";
    return hidden ? `a text of ${value.length} characters` : `the text ${JSON.stringify(clip(value, 40))}`;
  }
  if (typeof value === "number") return hidden ? "a number" : `the number ${value}`;
  if (typeof value === "boolean") return String(value);
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return isObject(value) ? "an object" : "nothing";
}
