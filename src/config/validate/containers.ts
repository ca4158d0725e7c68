import type { Walk } from "./context.ts";
import { withSuggestion } from "./issue.ts";
import type { JsonSchema, JsonSchemaNode } from "../json-schema.ts";
import { describeExpected, quoted } from "./words.ts";

const own = <T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined => (map && Object.hasOwn(map, key) ? map[key] : undefined);

function checkUnlistedKey(walk: Walk, schema: JsonSchema, key: string, value: unknown, isMatched: boolean): void {
  if (isMatched) return;
  const { additionalProperties = true } = schema;
  if (additionalProperties === true || schema["x-notes"] === true) return;
  if (additionalProperties !== false) return walk.descend(key, additionalProperties, value);
  const known = Object.keys(schema.properties ?? {});
  const hint = withSuggestion(`unknown key ${quoted(key)}`, key, known);
  const listed = hint.suggestion === undefined && known.length > 0 && known.length <= 8 ? `; known here: ${known.join(", ")}` : "";
  walk.report({ ...hint, code: "unknown-key", message: `${hint.message}${listed}` }, key);
}

function checkPatternProperties(walk: Walk, schema: JsonSchema, key: string, value: unknown): boolean {
  if (schema.patternProperties === undefined) return false;
  let isMatched = false;
  for (const [source, node] of Object.entries(schema.patternProperties)) {
    if (!walk.pattern(source)?.test(key)) continue;
    isMatched = true;
    walk.descend(key, node, value);
  }
  return isMatched;
}

function checkKeyName(walk: Walk, names: JsonSchemaNode, key: string): void {
  if (walk.attempt(names, key).length === 0) return;
  const expected = describeExpected(names);
  walk.report({ code: "pattern", expected, found: quoted(key), message: `the name ${quoted(key)} is not ${expected}` }, key);
}

export function checkObject(walk: Walk, schema: JsonSchema, value: Record<string, unknown>): void {
  for (const key of schema.required ?? []) {
    if (Object.hasOwn(value, key)) continue;
    const wanted = own(schema.properties, key);
    const expected = wanted === undefined || typeof wanted === "boolean" ? undefined : describeExpected(wanted);
    const message = `missing key ${JSON.stringify(key)}${expected === undefined ? "" : `: ${expected}`}`;
    walk.report({ code: "required", message, missing: key, ...(expected === undefined ? {} : { expected }) });
  }
  const keys = Object.keys(value);
  if (keys.length < (schema.minProperties ?? 0) || keys.length > (schema.maxProperties ?? Infinity)) {
    const wanted = `${schema.minProperties ?? 0} to ${schema.maxProperties ?? "any number of"} keys`;
    walk.report({ code: "bounds", expected: wanted, message: `expected ${wanted}, found ${keys.length}` });
  }
  for (const key of keys) {
    if (walk.isFull) return;
    if (schema.propertyNames !== undefined) checkKeyName(walk, schema.propertyNames, key);
    const listed = own(schema.properties, key);
    if (listed !== undefined) walk.descend(key, listed, value[key]);
    const isMatched = checkPatternProperties(walk, schema, key, value[key]) || listed !== undefined;
    checkUnlistedKey(walk, schema, key, value[key], isMatched);
  }
}

/** Items with a schema for each position. */
export function isTuple(items: JsonSchema["items"]): items is readonly JsonSchemaNode[] {
  return Array.isArray(items);
}

function itemSchema(schema: JsonSchema, index: number): JsonSchemaNode {
  const { items } = schema;
  const tuple = schema.prefixItems ?? (isTuple(items) ? items : []);
  return tuple[index] ?? (isTuple(items) ? schema.additionalItems : items) ?? true;
}

export function checkArray(walk: Walk, schema: JsonSchema, value: readonly unknown[]): void {
  const { minItems = 0, maxItems = Infinity } = schema;
  if (value.length < minItems || value.length > maxItems) {
    const expected = maxItems === Infinity ? `at least ${minItems} entries` : `${minItems} to ${maxItems} entries`;
    walk.report({ code: "bounds", expected, message: `expected ${expected}, found ${value.length}` });
  }
  if (schema.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    walk.report({ code: "bounds", message: "expected no entry twice" });
  }
  for (const [index, item] of value.entries()) {
    if (walk.isFull) return;
    walk.descend(index, itemSchema(schema, index), item);
  }
}
