/**
 * Checks a JSON value against a JSON Schema by walking both together.
 *
 * Written by hand for what validator libraries do not give: all issues in one pass and in document order, the union branch that was most
 * likely meant, the nearest known key, found values that hide secrets, no compile step (a cold start validates within milliseconds), and
 * plugins' plain JSON Schemas taken as they are.
 */
import { checkArray, checkObject } from "./containers.ts";
import type { Finding, Walk } from "./context.ts";
import type { Issue, Path } from "./issue.ts";
import { isObject } from "../value.ts";
import { followRef, type JsonSchema, type JsonSchemaNode } from "../json-schema.ts";
import { checkListed, checkNumber, checkString, checkType } from "./scalars.ts";
import { isSecretKey } from "./secret-keys.ts";
import { checkUnion } from "./unions.ts";

/** Keywords that the walker acts on. */
const CHECKED = [
  "$ref type enum const properties patternProperties additionalProperties propertyNames required minProperties maxProperties",
  "items prefixItems additionalItems minItems maxItems uniqueItems anyOf oneOf allOf not if then else",
  "pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
];

/** Keywords that only describe. `format` is one of them for formats that are not checked, as draft-07 has it. */
const DESCRIBING = ["$schema $id $comment $defs definitions title description default examples readOnly writeOnly deprecated contentEncoding contentMediaType"];

const KNOWN = new Set([...CHECKED, ...DESCRIBING].join(" ").split(" "));

/** The first keyword that would have to be checked but cannot be. */
function unsupportedKeyword(schema: object): string | undefined {
  for (const keyword in schema) {
    if (!KNOWN.has(keyword) && !keyword.startsWith("x-")) return keyword;
  }
  return undefined;
}

/** Levels of nesting below which nobody writes a configuration by intention, and recursive code is safe. */
export const MAX_DEPTH = 100;

/** Schema nodes visited before the check gives up: unions of a recursive schema could otherwise take forever. */
const MAX_STEPS = 300_000;

/** Issues reported before the check stops. */
const MAX_ISSUES = 500;

/** True when `value` is nested deeper than `limit`. Does not recurse, so it can be asked of anything. */
export function isTooDeep(value: unknown, limit: number = MAX_DEPTH): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item)) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return false;
}

export interface ValidateOptions {
  /** Where `value` stands in the document; put before every path. */
  readonly at?: Path;
  /** The schema is known to use supported keywords only, and a type or a combination in each node, never both: looking for more is spared. */
  readonly isKnownGood?: boolean;
}

class SchemaWalk implements Walk {
  readonly #root: JsonSchemaNode;
  readonly #path: (string | number)[];
  readonly #patterns = new Map<string, RegExp>();
  readonly #known = new WeakSet<object>();
  readonly #isKnownGood: boolean;
  #issues: Issue[] = [];
  #nesting = 0;
  #steps = 0;

  constructor(root: JsonSchemaNode, { at = [], isKnownGood = false }: ValidateOptions) {
    this.#root = root;
    this.#path = [...at];
    this.#isKnownGood = isKnownGood;
  }

  get isFull(): boolean {
    return this.#issues.length >= MAX_ISSUES;
  }

  get depth(): number {
    return this.#path.length;
  }

  run(value: unknown): Issue[] {
    const at = [...this.#path];
    this.visit(this.#root, value);
    const last = this.#issues.at(-1);
    if (last && this.isFull) this.#issues.push({ path: last.path, code: "more", message: "there are more issues; fix these first", severity: "error" });
    // Said here and not where it happened: inside a union the report could be dropped with its branch.
    if (this.#steps > MAX_STEPS) this.#issues.push({ path: at, code: "depth", message: "is too large to be checked; make it smaller", severity: "error" });
    return this.#issues;
  }

  report(finding: Finding, ...below: (string | number)[]): void {
    this.#issues.push({ path: [...this.#path, ...below], ...finding, severity: "error" });
  }

  attempt(schema: JsonSchemaNode, value: unknown): readonly Issue[] {
    const before = this.#issues;
    this.#issues = [];
    this.visit(schema, value);
    const found = this.#issues;
    this.#issues = before;
    return found;
  }

  descend(key: string | number, schema: JsonSchemaNode, value: unknown): void {
    this.#path.push(key);
    this.visit(schema, value);
    this.#path.pop();
  }

  hidden(schema: JsonSchema): boolean {
    const key = this.#path.findLast((part) => typeof part === "string");
    return schema["x-sensitive"] === true || (key !== undefined && isSecretKey(key));
  }

  pattern(source: string): RegExp | undefined {
    let pattern = this.#patterns.get(source);
    if (pattern) return pattern;
    for (const flags of ["u", ""]) {
      try {
        pattern = new RegExp(source, flags);
        this.#patterns.set(source, pattern);
        return pattern;
      } catch {
        // Patterns written for other engines may only compile without the flag; when neither does, the schema is at fault.
      }
    }
    this.report({ code: "schema", message: `cannot be checked: its schema has the pattern ${source}, which is not a regular expression` });
    return undefined;
  }

  resolve(schema: JsonSchemaNode): JsonSchemaNode | undefined {
    let node: JsonSchemaNode | undefined = schema;
    for (let hops = 0; isObject(node) && typeof node["$ref"] === "string"; hops += 1) {
      const ref: string = node["$ref"];
      node = hops > MAX_DEPTH ? undefined : followRef(this.#root, ref);
      if (node === undefined) this.report({ code: "schema", message: `cannot be checked: its schema refers to ${ref}, which is not in it` });
    }
    return node;
  }

  visit(schema: JsonSchemaNode, value: unknown): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) return;
    if (this.#nesting > MAX_DEPTH * 4) return this.report({ code: "depth", message: `is nested more than ${MAX_DEPTH} levels deep` });
    const node = this.resolve(schema);
    if (node === undefined || node === true) return;
    if (node === false) return this.report({ code: "type", message: "no value is allowed here; remove it" });
    this.#nesting += 1;
    this.#check(node, value);
    this.#nesting -= 1;
  }

  #check(node: JsonSchema, value: unknown): void {
    this.#checkKeywords(node);
    if (!checkType(this, node, value) || !checkListed(this, node, value)) return;
    if (typeof value === "number") checkNumber(this, node, value);
    else if (typeof value === "string") checkString(this, node, value);
    else if (Array.isArray(value)) checkArray(this, node, value);
    else if (isObject(value)) checkObject(this, node, value);
    if (this.#isKnownGood && node.type !== undefined) return;
    // Asking each node for each combinator costs more than all else: nodes have three keywords on average, and many shapes.
    for (const keyword in node) this.#combine(node, keyword, value);
  }

  #combine(node: JsonSchema, keyword: string, value: unknown): void {
    switch (keyword) {
      case "anyOf":
        return checkUnion(this, node, node.anyOf ?? [], value, false);
      case "oneOf":
        return checkUnion(this, node, node.oneOf ?? [], value, true);
      case "allOf":
        return node.allOf?.forEach((part) => this.visit(part, value));
      case "not":
        if (this.attempt(node.not ?? false, value).length === 0) this.report({ code: "rule", message: "has a form that is not allowed here" });
        return;
      case "if":
        return this.visit((this.attempt(node.if ?? true, value).length === 0 ? node.then : node.else) ?? true, value);
    }
  }

  #checkKeywords(node: JsonSchema): void {
    if (this.#isKnownGood || this.#known.has(node)) return;
    this.#known.add(node);
    const keyword = unsupportedKeyword(node);
    if (keyword === undefined) return;
    this.report({ code: "schema", message: `cannot be checked: its schema uses ${JSON.stringify(keyword)}, which is not supported` });
  }
}

/** Everything wrong with `value`, in document order. Total: any JSON value gives an answer, in bounded time and stack. */
export function validate(schema: JsonSchemaNode, value: unknown, options: ValidateOptions = {}): Issue[] {
  const at = options.at ?? [];
  if (isTooDeep(value)) return [{ path: at, code: "depth", message: `is nested more than ${MAX_DEPTH} levels deep`, severity: "error" }];
  return new SchemaWalk(schema, options).run(value);
}
