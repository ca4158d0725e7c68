import { isRecord } from "../base/records.ts";
import type { MethodName } from "./catalog.ts";
import { CHECKED_SCHEMAS } from "./schemas.ts";

/**
 * Turns a JSON Schema into a function that checks values against it.
 *
 * One pass of closures both decides and explains, so that what is refused and why cannot differ. Nothing is generated at run time, nothing
 * recurses further than the schema does, and only own properties count: no JSON value can make it throw.
 */

/** The keywords that declarations use. Another one is refused when the check is made, rather than ignored. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: string | number | boolean | null;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly default?: unknown;
}

/** Issues that a check reports before it stops looking. */
const MAX_ISSUES = 20;
/** Characters of a key that a message repeats. */
const MAX_SHOWN = 80;

/** Where the check stands in the value, and what it found. */
interface Findings {
  readonly path: (string | number)[];
  /** Replaced while the kinds of a union are tried. */
  issues: string[];
}

type Check = (value: unknown, found: Findings) => void;

/** Gives one text for each thing that is wrong, or undefined when nothing is. */
export type SchemaCheck = (value: unknown) => readonly string[] | undefined;

const shown = (key: string | number): string => {
  const text = String(key);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
};
const escaped = (key: string | number): string => shown(key).replaceAll("~", "~0").replaceAll("/", "~1");

function report(found: Findings, text: string): void {
  if (found.issues.length >= MAX_ISSUES) return;
  found.issues.push(found.path.length === 0 ? text : `at /${found.path.map(escaped).join("/")}: ${text}`);
}

/** Like `report`, but says `at root` where a pointer would be empty. */
function reportKey(found: Findings, key: string): void {
  const text = `unexpected property '${shown(key)}'`;
  report(found, found.path.length === 0 ? `at root: ${text}` : text);
}

const IS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number" && Number.isFinite(value),
  integer: Number.isInteger,
  null: (value) => value === null,
  array: Array.isArray,
  object: isRecord,
};

function typeCheck(type: string): Check {
  const fits = IS_TYPE[type];
  if (!fits) throw new TypeError(`a schema has the unsupported type ${type}`);
  return (value, found) => {
    if (!fits(value)) report(found, `must be ${type}`);
  };
}

/** Counts characters as JSON Schema does: a pair of surrogates is one. `text` has more units than `limit`. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit * 2 || Array.from(text).length > limit;
}

function stringCheck({ minLength = 0, maxLength = Infinity, pattern }: JsonSchema): Check {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  return (value, found) => {
    if (typeof value !== "string") return report(found, "must be string");
    if (value.length < minLength) report(found, `must NOT have fewer than ${minLength} characters`);
    if (value.length > maxLength && isLonger(value, maxLength)) report(found, `must NOT have more than ${maxLength} characters`);
    if (expression && !expression.test(value)) report(found, `must match pattern "${pattern}"`);
  };
}

function numberCheck(type: "number" | "integer", { minimum = -Infinity, maximum = Infinity }: JsonSchema): Check {
  const fits = type === "integer" ? Number.isInteger : Number.isFinite;
  return (value, found) => {
    if (typeof value !== "number" || !fits(value)) return report(found, `must be ${type}`);
    if (value < minimum) report(found, `must be >= ${minimum}`);
    if (value > maximum) report(found, `must be <= ${maximum}`);
  };
}

function arrayCheck({ items, minItems = 0, maxItems = Infinity }: JsonSchema): Check {
  const each = items && compile(items);
  return (value, found) => {
    if (!Array.isArray(value)) return report(found, "must be array");
    if (value.length < minItems) report(found, `must NOT have fewer than ${minItems} items`);
    if (value.length > maxItems) report(found, `must NOT have more than ${maxItems} items`);
    if (!each) return;
    for (let index = 0; index < value.length && found.issues.length < MAX_ISSUES; index += 1) {
      found.path.push(index);
      each(value[index], found);
      found.path.pop();
    }
  };
}

function objectCheck({ properties = {}, required = [], additionalProperties = true }: JsonSchema): Check {
  const known = new Map(Object.entries(properties).map(([key, schema]) => [key, compile(schema)]));
  const rest = typeof additionalProperties === "object" ? compile(additionalProperties) : undefined;
  return (value, found) => {
    if (!isRecord(value)) return report(found, "must be object");
    for (const key of required) if (!Object.hasOwn(value, key)) report(found, `must have required property '${key}'`);
    for (const key of Object.keys(value)) {
      if (found.issues.length >= MAX_ISSUES) return;
      const check = known.get(key) ?? rest;
      if (check) {
        found.path.push(key);
        check(value[key], found);
        found.path.pop();
      } else if (additionalProperties === false) reportKey(found, key);
    }
  };
}

function listedCheck(words: readonly unknown[]): Check {
  const listed = new Set(words);
  const text =
    words.length === 1 ? `must be equal to constant ${JSON.stringify(words[0])}` : `must be one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
  return (value, found) => {
    if (!listed.has(value)) report(found, text);
  };
}

/** The property that tells the kinds of a union apart: each has it as a constant. */
function tagOf(kinds: readonly JsonSchema[]): string | undefined {
  const [first] = kinds;
  return Object.keys(first?.properties ?? {}).find((key) => kinds.every(({ properties }) => properties?.[key]?.const !== undefined));
}

function taggedCheck(kinds: readonly JsonSchema[], tag: string): Check {
  const checks = new Map<unknown, Check>(kinds.map((kind) => [kind.properties?.[tag]?.const, compile(kind)]));
  const unlisted = listedCheck([...checks.keys()]);
  return (value, found) => {
    if (!isRecord(value)) return report(found, "must be object");
    if (!Object.hasOwn(value, tag)) return report(found, `must have required property '${tag}'`);
    const check = checks.get(value[tag]);
    if (check) return check(value, found);
    found.path.push(tag);
    unlisted(value[tag], found);
    found.path.pop();
  };
}

/** Issues are reported for the variant that fits best: of the right type, with the fewest issues, the first of those. */
function unionCheck(kinds: readonly JsonSchema[]): Check {
  const tag = tagOf(kinds);
  if (tag !== undefined) return taggedCheck(kinds, tag);
  const checks = kinds.map((kind) => ({ check: compile(kind), fits: (kind.type === undefined ? undefined : IS_TYPE[kind.type]) ?? (() => true) }));
  const types = [...new Set(kinds.map(({ type }) => String(type)))].join(" or ");
  return (value, found) => {
    const before = found.issues;
    let best: string[] | undefined;
    for (const { check, fits } of checks) {
      if (!fits(value)) continue;
      found.issues = [];
      check(value, found);
      if (best === undefined || found.issues.length < best.length) best = found.issues;
      if (best.length === 0) break;
    }
    found.issues = before;
    if (best === undefined) report(found, `must be ${types}`);
    else found.issues.push(...best);
  };
}

const KEYWORDS = {
  type: true,
  const: true,
  enum: true,
  anyOf: true,
  properties: true,
  required: true,
  additionalProperties: true,
  items: true,
  minItems: true,
  maxItems: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  minimum: true,
  maximum: true,
  description: true,
  default: true,
} satisfies Record<keyof JsonSchema, true>;

function compile(schema: JsonSchema): Check {
  for (const keyword of Object.keys(schema)) if (!Object.hasOwn(KEYWORDS, keyword)) throw new TypeError(`a schema has the unsupported keyword ${keyword}`);
  if (schema.anyOf) return unionCheck(schema.anyOf);
  if (schema.const !== undefined) return listedCheck([schema.const]);
  if (schema.enum) return listedCheck(schema.enum);
  switch (schema.type) {
    case undefined:
      return () => {};
    case "string":
      return stringCheck(schema);
    case "number":
    case "integer":
      return numberCheck(schema.type, schema);
    case "array":
      return arrayCheck(schema);
    case "object":
      return objectCheck(schema);
    default:
      return typeCheck(schema.type);
  }
}

/** Makes the check of a schema. A schema with a keyword or type that no check is written for is a defect and throws. */
export function createCheck(schema: JsonSchema): SchemaCheck {
  const check = compile(schema);
  return (value) => {
    const found: Findings = { path: [], issues: [] };
    check(value, found);
    return found.issues.length === 0 ? undefined : found.issues;
  };
}

/** Checks of what clients send. Each returns the documented texts, one for each thing that is wrong, or undefined. */
export interface Validators {
  /** The parameters of a method. Missing parameters count as `{}`. */
  params(method: MethodName, value: unknown): readonly string[] | undefined;
  /** A request frame. */
  readonly frame: SchemaCheck;
  /** The parameters of `connect`. */
  readonly connect: SchemaCheck;
}

/** A check that is made when it is used for the first time. */
function lateCheck(schema: JsonSchema): SchemaCheck {
  let check: SchemaCheck | undefined;
  return (value) => (check ??= createCheck(schema))(value);
}

export function createValidators(): Validators {
  const made = new Map<MethodName, SchemaCheck>();
  return {
    params(method, value) {
      let check = made.get(method);
      if (!check) made.set(method, (check = createCheck(CHECKED_SCHEMAS.params[method])));
      return check(value ?? {});
    },
    frame: lateCheck(CHECKED_SCHEMAS.request),
    connect: lateCheck(CHECKED_SCHEMAS.connect),
  };
}
