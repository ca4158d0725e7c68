import * as fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { createCheck, type JsonSchema } from "./check.ts";
import { ConnectParamsSchema } from "./connect.ts";
import { DECLARED_EVENTS } from "./events.ts";
import { RequestFrameSchema } from "./frames.ts";
import { DECLARED_METHODS } from "./methods/index.ts";

const shapes: readonly (readonly [string, JsonSchema])[] = [
  ["request frame", RequestFrameSchema],
  ["connect", ConnectParamsSchema],
  ...Object.entries(DECLARED_METHODS).map(([name, spec]) => [`${name} params`, spec.params] as const),
  ...Object.entries(DECLARED_METHODS).map(([name, spec]) => [`${name} result`, spec.result] as const),
  ...Object.entries(DECLARED_EVENTS).map(([name, spec]) => [`event ${name}`, spec.payload] as const),
].map(([name, schema]) => [name as string, schema as JsonSchema]);

const DAY = fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));

/** Values that a schema takes. */
function valid(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "string":
      if (schema.pattern !== undefined) return DAY;
      return fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 20, 20) });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "integer":
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1_000_000 });
    case "number":
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e12, noNaN: true, noDefaultInfinity: true });
    case "array":
      return fc.array(schema.items ? valid(schema.items) : fc.jsonValue(), { minLength: schema.minItems ?? 0, maxLength: (schema.minItems ?? 0) + 2 });
    case "object":
      return validObject(schema);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function validObject({ properties = {}, required = [], additionalProperties }: JsonSchema): fc.Arbitrary<unknown> {
  const known = fc.record(Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, valid(schema)])), { requiredKeys: [...required] });
  if (additionalProperties === false) return known;
  const value = typeof additionalProperties === "object" ? valid(additionalProperties) : fc.jsonValue({ maxDepth: 1 });
  const more = fc.dictionary(
    fc.string({ maxLength: 8 }).filter((key) => key !== "__proto__" && !Object.hasOwn(properties, key)),
    value,
    { maxKeys: 2 },
  );
  return fc.tuple(known, more).map(([one, other]) => ({ ...other, ...(one as object) }));
}

/** A copy with one place replaced: mostly wrong, sometimes right; the oracle knows. */
function mutated(value: unknown, path: readonly number[], replacement: unknown): unknown {
  if (typeof value !== "object" || value === null || path.length === 0) return replacement;
  const keys = Object.keys(value);
  const [at = 0, ...deeper] = path;
  if (keys.length === 0 || at % 7 === 6) return Array.isArray(value) ? [...value, replacement] : { ...value, surplus: replacement };
  const key = keys[at % keys.length]!;
  const child = (value as Record<string, unknown>)[key];
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? mutated(item, deeper, replacement) : item));
  if (at % 5 === 4) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  return { ...value, [key]: mutated(child, deeper, replacement) };
}

test("what fits is taken, for every shape of the wire", () => {
  for (const [name, schema] of shapes) {
    const check = createCheck(schema);
    const property = fc.property(valid(schema), (value) => {
      expect(check(value), name).toBeUndefined();
    });
    fc.assert(property, { numRuns: 15 });
  }
});

test("a change anywhere is judged as the schema library judges it, for every shape of the wire", () => {
  let refused = 0;
  for (const [name, schema] of shapes) {
    const check = createCheck(schema);
    const change = fc.tuple(valid(schema), fc.array(fc.nat(34), { maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }));
    const property = fc.property(change, ([value, path, replacement]) => {
      const changed = mutated(value, path, replacement);
      const said = check(changed);
      if (said) refused += 1;
      expect(said === undefined, `${name}: ${JSON.stringify({ changed, said })}`).toBe(Value.Check(schema as never, changed));
    });
    fc.assert(property, { numRuns: 25 });
  }
  expect(refused).toBeGreaterThan(1000);
});

test("no JSON value makes a check throw", () => {
  const checks = shapes.map(([, schema]) => createCheck(schema));
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const check of checks) check(value);
    }),
    { numRuns: 50 },
  );
});

test("nesting without end is looked at no deeper than the schema goes", () => {
  const deep: unknown = JSON.parse("[".repeat(10_000) + "]".repeat(10_000));
  const nested: unknown = JSON.parse('{"client":'.repeat(10_000) + "1" + "}".repeat(10_000));
  for (const [, schema] of shapes) {
    const check = createCheck(schema);
    check(deep);
    check(nested);
  }
  expect(createCheck(shapes[1]![1])(nested)).toContain("at /client: unexpected property 'client'");
});

test("keys that objects inherit are neither found nor let in", () => {
  const check = createCheck({ type: "object", properties: { toString: { type: "string" } }, required: ["toString"], additionalProperties: false });
  expect(check({})).toEqual(["must have required property 'toString'"]);
  expect(check(JSON.parse('{"toString":"x","__proto__":{"a":1}}'))).toEqual(["at root: unexpected property '__proto__'"]);
  expect(check(JSON.parse('{"toString":"x","constructor":1}'))).toEqual(["at root: unexpected property 'constructor'"]);
});

test("a pointer escapes what JSON pointers escape", () => {
  const check = createCheck({ type: "object", additionalProperties: { type: "boolean" } });
  expect(check({ "a/b~c": 1 })).toEqual(["at /a~1b~0c: must be boolean"]);
});

test("a value that is wrong in very many places gives few texts, and long keys are cut", () => {
  const check = createCheck({ type: "object", additionalProperties: false });
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key ${index} ${"x".repeat(1000)}`, 1]));
  const said = check(many)!;
  expect(said).toHaveLength(20);
  expect(Math.max(...said.map((text) => text.length))).toBeLessThan(150);
});

test("of several kinds the one that was meant is explained", () => {
  const schedule = (DECLARED_METHODS["cron.add"].params as JsonSchema).properties!["schedule"]!;
  expect(createCheck(schedule)({ kind: "every", everyMs: 0 })).toEqual(["at /everyMs: must be >= 1"]);
  expect(createCheck(schedule)({ kind: "never" })).toEqual(['at /kind: must be one of "at", "every", "cron"']);
  expect(createCheck(schedule)({})).toEqual(["must have required property 'kind'"]);
  const nullable: JsonSchema = { anyOf: [{ type: "object", properties: { a: { type: "string" } }, additionalProperties: false }, { type: "null" }] };
  expect(createCheck(nullable)({ a: 1, b: 2 })).toEqual(["at /a: must be string", "at root: unexpected property 'b'"]);
  expect(createCheck(nullable)(5)).toEqual(["must be object or null"]);
});

test("lengths count characters, not code units", () => {
  const check = createCheck({ type: "string", maxLength: 2 });
  expect(check("🦞🦞")).toBeUndefined();
  expect(check("🦞🦞🦞")).toEqual(["must NOT have more than 2 characters"]);
});

test("a schema with a keyword that no check is written for is refused", () => {
  expect(() => createCheck({ type: "object", patternProperties: {} } as JsonSchema)).toThrow("patternProperties");
  expect(() => createCheck({ type: "date" })).toThrow("date");
});
