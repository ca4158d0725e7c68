import { parse as oracle, evaluate as oracleValue } from "@humanwhocodes/momoa";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseDocument } from "./document.ts";

const valueOf = (text: string) => parseDocument(text).value;
const firstIssue = (source: string | Uint8Array) => parseDocument(source).issues[0];

test("JSON5 is read: comments, bare keys, single quotes, trailing commas, hexadecimal, signs, line continuations", () => {
  const text = "// top\n{a: 0x1F, 'b c': -.5, \"d\": +1, e: [5., Infinity, -Infinity,], /* in */ f: 'it\\'s \\u0041\\x42\\\n!', $g_1: null, h: true,}";
  expect(valueOf(text)).toEqual({ a: 31, "b c": -0.5, d: 1, e: [5, Infinity, -Infinity], f: "it's AB!", $g_1: null, h: true });
});

test("a byte order mark, CR LF and odd blanks are no obstacle", () => {
  const document = parseDocument(Buffer.from("\uFEFF{\r\n\u00a0 a: 1,\r\n  b: 2\r\n}\r\n"));
  expect(document.value).toEqual({ a: 1, b: 2 });
  expect(document.locate(["b"])).toEqual({ line: 3, column: 3 });
});

test("each path has the line and column of its key and of its value", () => {
  const document = parseDocument('{\n  a: {\n    "list": [1, { deep: "x" }],\n  },\n}');
  expect(document.locate(["a", "list"])).toEqual({ line: 3, column: 5 });
  expect(document.locate(["a", "list"], "value")).toEqual({ line: 3, column: 13 });
  expect(document.locate(["a", "list", 1, "deep"])).toEqual({ line: 3, column: 19 });
  expect(document.locate([])).toEqual({ line: 1, column: 1 });
  expect(document.locate(["a", "none"])).toBeUndefined();
});

test.each([
  ["{\n  a: 1\n  b: 2\n}", 3, 3, "invalid character 'b' at 3:3; expected a comma or '}'"],
  ["{ a: yes }", 1, 6, "invalid character 'y' at 1:6; expected a value (text needs quotes)"],
  ["{ a: 'x\n' }", 1, 6, "not closed on its line"],
  ["{ a: [1, 2", 1, 11, "invalid end of input"],
  ["{ a", 1, 4, "expected ':' after the key \"a\""],
  ["{} {}", 1, 4, "expected the end of the text"],
  ["", 1, 1, "the text is empty"],
  ["  // only a remark\n", 2, 1, "the text is empty"],
  ["/* never", 1, 1, "never closed"],
  ["{ a: 012 }", 1, 7, "the end of the number"],
  ["{ a: '\\u12' }", 1, 9, "4 hexadecimal digits"],
  ["\0\x01\x02", 1, 1, "U+0000"],
])("the text %j fails with its line, its column and what was expected", (text, line, column, message) => {
  const issue = firstIssue(text);
  expect(issue).toMatchObject({ code: "syntax", severity: "error", path: [], line, column });
  expect(issue?.message).toMatch(/^JSON5 parse failed: /);
  expect(issue?.message).toContain(message);
});

test("bytes that are not UTF-8 are named with their line and column", () => {
  const bytes = Buffer.concat([Buffer.from('{\n  a: "ä€😀", b: "'), Buffer.from([0xc3, 0x28]), Buffer.from('" }')]);
  expect(firstIssue(bytes)).toMatchObject({ line: 2, column: 18, message: expect.stringContaining("byte 0xc3 is not UTF-8") });
  expect(firstIssue(Buffer.from([0xff, 0xfe, 0x7b, 0]))?.message).toContain("UTF-16");
});

test("ten thousand levels of nesting are refused, not a crash", () => {
  expect(firstIssue("[".repeat(10_000))?.message).toContain("nested deeper than 200 levels at 1:201");
  expect(firstIssue('{"a":'.repeat(10_000))?.message).toContain("nested deeper");
});

test("a key given twice: the later one holds, and a warning says where", () => {
  const document = parseDocument("{\n  a: 1,\n  a: 2,\n}");
  expect(document.value).toEqual({ a: 2 });
  expect(document.issues).toMatchObject([{ code: "duplicate_key", severity: "warning", path: ["a"], line: 3, column: 3 }]);
  expect(document.locate(["a"])).toEqual({ line: 3, column: 3 });
});

test("__proto__ reaches no prototype, however it is spelled", () => {
  for (const key of ["__proto__", '"__proto__"', "'__proto__'", "\\u005f_proto__", '"\\x5f_proto__"']) {
    const document = parseDocument(`{ ${key}: { polluted: true }, a: 1 }`);
    expect(document.value).toEqual({ a: 1 });
    expect(Object.getPrototypeOf(document.value)).toBe(Object.prototype);
    expect(document.issues).toMatchObject([{ code: "forbidden_key", severity: "warning" }]);
  }
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test("a file full of repeated keys costs little", () => {
  const document = parseDocument(`{${"a:1,".repeat(200_000)}}`);
  expect(document.value).toEqual({ a: 1 });
  expect(document.issues).toHaveLength(100);
});

test("what it reads is what another JSON5 parser reads", () => {
  const json = fc.jsonValue({ depthSize: "small" }).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(json, (text) => {
      fc.pre(!text.includes("__proto__"));
      expect(valueOf(text)).toEqual(oracleValue(oracle(text, { mode: "json5", allowTrailingCommas: true })));
    }),
  );
});

test("no text and no bytes make it throw", () => {
  const piece = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "'",
    '"',
    "a",
    "1",
    "//",
    "/*",
    "*/",
    "\n",
    "\\",
    "\\u",
    "0x",
    "-",
    ".",
    "e",
    " ",
    "\u2028",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => void parseDocument(pieces.join(""))),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void parseDocument(bytes)),
    { numRuns: 1000 },
  );
});
