import { assert, constantFrom, jsonValue, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { configSchema } from "../schema/index.ts";
import { formatIssue, formatPath, validate, validateConfig, type JsonSchema, type JsonSchemaNode } from "./index.ts";

const messages = (schema: JsonSchemaNode, value: unknown) => validate(schema, value).map(formatIssue);

/** A JSON value that is `levels` objects deep, made without recursion. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? { a: value } : [value];
  return value;
}

describe("values", () => {
  test.each<[JsonSchema, unknown, string]>([
    [{ type: "integer", exclusiveMinimum: 0 }, "four", 'expected a whole number > 0, found the text "four"'],
    [{ type: "integer" }, 1.5, "expected a whole number, found the number 1.5"],
    [{ type: "number" }, Number.NaN, "expected a number, found the number NaN"],
    [{ type: "number", minimum: 1, exclusiveMaximum: 3 }, 3, "expected a number >= 1 and < 3, found the number 3"],
    [{ type: "number", multipleOf: 0.1 }, 0.25, "expected a multiple of 0.1, found the number 0.25"],
    [{ type: ["string", "null"] }, 5, "expected a text or null, found the number 5; put it in quotes"],
    [{ type: "boolean" }, "off", 'expected true or false, found the text "off"; write false'],
    [{ type: "string", minLength: 1 }, "", "expected a non-empty text, found an empty text"],
    [{ type: "string", maxLength: 2 }, "🦊🦊🦊", 'expected a text of at most 2 characters, found the text "🦊🦊🦊", which has 3'],
    [{ type: "string", format: "uri" }, "example.org", 'expected an address such as https://example.org, found the text "example.org"'],
    [{ type: "string", pattern: "^a+$" }, "b", 'expected a text that matches ^a+$, found the text "b"'],
    [{ const: "x" }, "y", 'expected "x", found the text "y"'],
    [{ enum: ["daily", 5, null] }, "daly", 'expected one of "daily", 5, null, found the text "daly"; did you mean "daily"?'],
    [{ enum: [{ a: [1] }] }, { a: [2] }, 'expected {"a":[1]}, found an object'],
    [{ type: "array" }, "x", "expected a list, found a text of 1 characters; put it in [ ]"],
    [{ type: "object" }, [1, 2], "expected an object, found a list of 2"],
    [{ not: { type: "string" } }, "x", "has a form that is not allowed here"],
    [{ type: "array", minItems: 1, maxItems: 2 }, [], "expected 1 to 2 entries, found 0"],
    [{ type: "array", uniqueItems: true }, [{ a: 1 }, { a: 1 }], "expected no entry twice"],
    [{ type: "object", maxProperties: 1 }, { a: 1, b: 2 }, "expected 0 to 1 keys, found 2"],
  ])("%j refuses %j", (schema, value, message) => {
    expect(messages(schema, value)).toEqual([`<root>: ${message}`]);
  });

  test("emoji count as one character, and texts of the right length pass", () => {
    expect(validate({ type: "string", minLength: 2, maxLength: 2 }, "🦊🦊")).toEqual([]);
    expect(validate({ type: "string", minLength: 2 }, "🦊")).toHaveLength(1);
  });

  test("bounds belong to the range unless they are exclusive", () => {
    for (const value of [1, 3]) expect(validate({ type: "number", minimum: 1, maximum: 3 }, value)).toEqual([]);
    for (const value of [1, 3]) expect(validate({ type: "number", exclusiveMinimum: 1, exclusiveMaximum: 3 }, value)).toHaveLength(1);
  });

  test("a long text is cut in the message", () => {
    const [issue] = validate({ type: "integer" }, "x".repeat(5000));
    expect(issue?.found).toBe(`the text "${"x".repeat(40)}…"`);
  });
});

describe("objects and lists", () => {
  const schema: JsonSchema = {
    type: "object",
    required: ["id"],
    additionalProperties: false,
    properties: { id: { type: "string" }, retries: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
    patternProperties: { "^x-": { type: "number" } },
  };

  test("all issues come at once, in the order of the document", () => {
    expect(messages(schema, { tags: ["a", 1, "b", {}], retires: 3, "x-a": "1", retries: "2" })).toEqual([
      '<root>: missing key "id": a text',
      "tags[1]: expected a text, found the number 1; put it in quotes",
      "tags[3]: expected a text, found an object",
      'retires: unknown key "retires"; did you mean "retries"?',
      'x-a: expected a number, found the text "1"; write it without quotes',
      'retries: expected a whole number, found the text "2"; write it without quotes',
    ]);
  });

  test("an unknown key's path is the key itself", () => {
    expect(validate(schema, { id: "a", retires: 1 }, { at: ["channels", "x"] })).toMatchObject([
      { path: ["channels", "x", "retires"], code: "unknown-key", suggestion: "retries" },
    ]);
  });

  test("keys that JavaScript knows are keys like all others", () => {
    const value = JSON.parse('{ "id": "a", "__proto__": 1, "constructor": 2, "toString": 3 }') as unknown;
    expect(validate(schema, value).map((issue) => issue.path.at(-1))).toEqual(["__proto__", "constructor", "toString"]);
  });

  test("tuples check each place", () => {
    const pair = { items: [{ type: "string" }, { type: "number" }], additionalItems: false };
    expect(messages(pair, ["a", "b", "c"])).toEqual(['[1]: expected a number, found the text "b"', "[2]: no value is allowed here; remove it"]);
  });

  test("names of keys can be bound to a pattern", () => {
    expect(messages({ type: "object", propertyNames: { type: "string", pattern: "^[a-z]+$" } }, { A: 1 })).toEqual([
      'A: the name "A" is not a text that matches ^[a-z]+$',
    ]);
  });
});

describe("alternatives", () => {
  const shape: JsonSchema = {
    anyOf: [
      { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } }, required: ["kind", "radius"], additionalProperties: false },
      { type: "object", properties: { kind: { const: "square" }, side: { type: "number" } }, required: ["kind", "side"], additionalProperties: false },
      { type: "string" },
    ],
  };

  test("the branch that was meant is the one that is reported", () => {
    expect(messages(shape, { kind: "square", side: "3" })).toEqual(['side: expected a number, found the text "3"; write it without quotes']);
    expect(messages(shape, { kind: "square", radius: 3 })).toEqual([
      '<root>: missing key "side": a number',
      'radius: unknown key "radius"; known here: kind, side',
    ]);
  });

  test("when no branch is near, all are named", () => {
    expect(messages(shape, 5)).toEqual(["<root>: expected an object or a text, found the number 5"]);
  });

  test("oneOf wants exactly one", () => {
    expect(messages({ oneOf: [{ type: "number" }, { type: "integer" }] }, 1)).toEqual(["<root>: fits 2 of the allowed forms at once; only one may fit"]);
    expect(messages({ oneOf: [{ type: "number" }, { type: "integer" }] }, 1.5)).toEqual([]);
  });

  test("allOf, if, then and else", () => {
    const json = '{ "allOf": [{ "required": ["a"] }], "if": { "required": ["b"] }, "then": { "required": ["c"] }, "else": { "required": ["d"] } }';
    const schema = JSON.parse(json) as JsonSchema;
    expect(messages(schema, { b: 1 })).toEqual(['<root>: missing key "a"', '<root>: missing key "c"']);
    expect(messages(schema, { a: 1 })).toEqual(['<root>: missing key "d"']);
  });

  test("local references are followed, also into themselves", () => {
    const tree: JsonSchema = {
      definitions: { node: { type: "object", properties: { child: { $ref: "#/definitions/node" }, n: { type: "integer" } }, additionalProperties: false } },
      $ref: "#/definitions/node",
    };
    expect(messages(tree, { child: { child: { n: "x" } } })).toEqual(['child.child.n: expected a whole number, found the text "x"']);
  });
});

describe("secrets", () => {
  test("a marked value shows only its kind and length", () => {
    expect(messages({ type: "number", "x-sensitive": true }, "hunter2")).toEqual(["<root>: expected a number, found a text of 7 characters"]);
    expect(messages({ enum: ["a"], "x-sensitive": true }, "hunter2")).toEqual(['<root>: expected "a", found a text of 7 characters']);
  });

  test("a key that is called like a secret hides its value in any schema", () => {
    expect(
      messages({ properties: { botToken: { type: "string" }, password: { type: "string", pattern: "^x" } } }, { botToken: 1234, password: "hunter2" }),
    ).toEqual(["botToken: expected a text, found a number; put it in quotes", "password: expected a text that matches ^x, found a text of 7 characters"]);
  });
});

describe("schemas that cannot be used", () => {
  test.each<[JsonSchema, string]>([
    [{ unevaluatedProperties: false }, '"unevaluatedProperties", which is not supported'],
    [{ type: "string", pattern: "(" }, "not a regular expression"],
    [{ $ref: "#/definitions/nowhere" }, "which is not in it"],
    [{ $ref: "https://example.org/schema" }, "which is not in it"],
  ])("%j is reported, not passed over", (schema, part) => {
    expect(validate(schema, "x")).toMatchObject([{ code: "schema", message: expect.stringContaining(part) }]);
  });

  test("a reference to itself ends", () => {
    expect(validate({ $ref: "#" }, 1)).toMatchObject([{ code: "schema" }]);
    expect(validate({ anyOf: [{ $ref: "#" }, { $ref: "#" }] }, 1).map((issue) => issue.code)).toContain("depth");
  });

  test("ours uses nothing that the walker would pass over", () => {
    const words = new Set<string>();
    const collect = (node: unknown): void => {
      if (typeof node !== "object" || node === null || Array.isArray(node)) return;
      for (const issue of validate(node as JsonSchema, {})) if (issue.code === "schema") words.add(issue.message);
      const { properties, additionalProperties, items, anyOf } = node as JsonSchema;
      [...Object.values(properties ?? {}), additionalProperties, items, ...(anyOf ?? [])].forEach(collect);
    };
    collect(configSchema);
    expect([...words]).toEqual([]);
  });
});

describe("hostile input", () => {
  test("ten thousand levels give one issue, not a crash", () => {
    for (const value of [nested(10_000), { channels: { x: nested(10_000) } }, { agents: { list: [nested(10_000)] } }]) {
      expect(validateConfig(value)).toMatchObject([{ code: "depth", path: [] }]);
    }
  });

  test("a hundred thousand unknown keys get an answer that ends", () => {
    const value = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]));
    const issues = validateConfig(value);
    expect(issues.length).toBe(501);
    expect(issues.at(-1)).toMatchObject({ code: "more" });
  });

  test("a recursive union and a value made for it end before the test's time is over", () => {
    const schema: JsonSchema = {
      anyOf: [
        { type: "object", properties: { a: { $ref: "#" } } },
        { type: "object", properties: { a: { $ref: "#" }, b: { type: "number" } } },
      ],
    };
    let value: unknown = "bottom";
    for (let i = 0; i < 60; i += 1) value = { a: value };
    expect(validate(schema, value).some((issue) => issue.code === "depth")).toBe(true);
  });

  test("any JSON value is answered, and every path of the answer is in the document", () => {
    assert(
      property(jsonValue({ maxDepth: 6 }), (value) => {
        for (const issue of validateConfig(value)) {
          expect(issue.message.length).toBeLessThan(1000);
          expect(formatPath(issue.path)).not.toBe("");
        }
      }),
      { numRuns: 300 },
    );
  });

  test("any JSON value in the place of any section is answered", () => {
    const top = (configSchema.properties ?? {}) as Record<string, JsonSchema>;
    assert(
      property(constantFrom(...Object.keys(top)), jsonValue({ maxDepth: 5 }), jsonValue({ maxDepth: 3 }), (section, value, inner) => {
        const known = Object.keys(top[section]?.properties ?? {});
        const filled = Object.fromEntries(known.map((key) => [key, inner]));
        for (const config of [{ [section]: value }, { [section]: filled }]) expect(Array.isArray(validateConfig(config))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
