import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseFrontMatter } from "./front-matter.ts";

const fields = (...lines: string[]): unknown => parseFrontMatter(["---", ...lines, "---", "# Body"].join("\n"))?.fields;

test("text that does not begin with a block has no front matter", () => {
  for (const text of ["", "# Title\n---\nname: a\n---", "---\nname: a", "----\nname: a\n----"]) expect(parseFrontMatter(text)).toBeUndefined();
});

test("plain values are strings, numbers, booleans or null", () => {
  expect(fields("name: weather", "n: 3", "f: -1.5", "yes: true", "no: False", "empty:", "none: ~", "version: 1.2.3")).toEqual({
    name: "weather",
    n: 3,
    f: -1.5,
    yes: true,
    no: false,
    empty: null,
    none: null,
    version: "1.2.3",
  });
});

test("ignores comments, blank lines, Windows line endings and a byte order mark", () => {
  expect(parseFrontMatter("\uFEFF---\r\n# c\r\n\r\nname: a # b\r\nurl: http://x/#y\r\n---\r\n")?.fields).toEqual({ name: "a", url: "http://x/#y" });
});

test("a plain description may contain a colon", () => {
  expect(fields("description: Use when: it rains. Not: when dry", "name: a")).toEqual({ description: "Use when: it rains. Not: when dry", name: "a" });
});

test("quoted strings keep colons, comment signs and escapes", () => {
  expect(fields(`a: "x: \\"y\\" # z\\n"`, "b: 'it''s'", `"c d": 'e' # f`)).toEqual({ a: 'x: "y" # z\n', b: "it's", "c d": "e" });
});

test("long strings continue on indented lines, folded or literal", () => {
  expect(fields("a: one", "  two", "b: >-", "  three", "  four", "", "  five", "c: |", "  six", "    seven", "d: end", 'e: "eight', '  nine"')).toEqual({
    a: "one two",
    b: "three four\nfive",
    c: "six\n  seven\n",
    d: "end",
    e: "eight nine",
  });
});

test("maps and lists nest by indentation", () => {
  expect(
    fields(
      "metadata:",
      "  openclaw:",
      "    os:",
      "    - darwin",
      "    - linux",
      "    requires:",
      "      bins: [curl, 'jq']",
      "    install:",
      "      - id: brew",
      "        kind: brew",
      "      - id: node",
      "name: a",
    ),
  ).toEqual({
    metadata: { openclaw: { os: ["darwin", "linux"], requires: { bins: ["curl", "jq"] }, install: [{ id: "brew", kind: "brew" }, { id: "node" }] } },
    name: "a",
  });
});

test("braces hold JSON5, on one or more lines", () => {
  const value = { openclaw: { emoji: "☔", requires: { bins: ["curl"] } } };
  expect(fields('metadata: {"openclaw":{"emoji":"☔","requires":{"bins":["curl"]}}}', "name: a")).toEqual({ metadata: value, name: "a" });
  const many = [
    "metadata:",
    "  {",
    '    "openclaw":',
    "      {",
    '        "emoji": "☔", // rain',
    "        requires: { bins: ['curl',] },",
    "      },",
    "  }",
    "name: a",
  ];
  expect(fields(...many)).toEqual({ metadata: value, name: "a" });
});

test("braces may also hold YAML", () => {
  expect(fields("a: {os: [darwin, linux], url: http://x, n: 3, e: }")).toEqual({ a: { os: ["darwin", "linux"], url: "http://x", n: 3, e: null } });
});

test("reports an invalid line and reads the others", () => {
  const front = parseFrontMatter("---\nname: a\nnonsense\nmeta: {broken\ndescription: d\n---");
  expect(front?.fields).toMatchObject({ name: "a", description: "d" });
  expect(front?.problems).toEqual(['line 3: expected "key: value"', "line 4: the value that begins with { is not JSON5 and not YAML"]);
});

test("a field cannot reach a prototype", () => {
  const parsed = fields("__proto__:", "  polluted: true", "a: {__proto__: {polluted: true}}") as Record<string, unknown>;
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect((parsed["a"] as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("no input makes it throw or hang", () => {
  const piece = fc.constantFrom("a", ":", " ", "\n", "-", "- ", "  ", "{", "}", "[", "]", '"', "'", ",", "|", ">", "#", "\\", "a: ", "\t");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      expect(parseFrontMatter(`---\n${pieces.join("")}\n---\n`)?.fields ?? {}).toBeTypeOf("object");
    }),
    { numRuns: 2000 },
  );
  for (const part of ["[", "{", "{a:", "- ", '"', "a: "]) expect(parseFrontMatter(`---\nx: ${part.repeat(20_000)}\n---`)).toBeDefined();
});
