import * as fc from "fast-check";
import { expect, test } from "vitest";
import { mergePatch, withoutPath, withValue } from "../value.ts";
import { elementAt, parseDocument, type ValuePath } from "./document.ts";
import { rewriteDocument, rewriteText } from "./edit.ts";
import { commentEnd, scanString } from "./scan.ts";

const set = (text: string, path: ValuePath, value: unknown) => rewriteText(text, withValue(parseDocument(text).value, path, value)!.value);
const unset = (text: string, path: ValuePath) => rewriteText(text, withoutPath(parseDocument(text).value, path));
const patch = (text: string, change: unknown) => rewriteText(text, mergePatch(parseDocument(text).value, change));

const FILE = `// my gateway
{
  gateway: {
    port: 18789, // the usual one
    mode: 'local',
  },
  /* people */
  "channels": {
    telegram: { enabled: true, allowFrom: ["1", "2"] },
  },
}
`;

test("setting a value changes that value and nothing else", () => {
  expect(set(FILE, ["gateway", "port"], 1)).toBe(FILE.replace("18789", "1"));
  expect(set(FILE, ["gateway", "mode"], "remote")).toBe(FILE.replace("'local'", "'remote'"));
  expect(set(FILE, ["gateway", "port"], 18789)).toBe(FILE);
});

test("a new key comes last in its object, indented and quoted like its neighbours", () => {
  expect(set(FILE, ["gateway", "bind"], "lan")).toBe(FILE.replace("mode: 'local',\n", "mode: 'local',\n    bind: \"lan\",\n"));
  expect(set(FILE, ["channels", "telegram", "name"], "t")).toBe(FILE.replace('"2"] }', '"2"], name: "t" }'));
  expect(set(FILE, ["logging", "level"], "debug")).toBe(FILE.replace("  },\n}\n", '  },\n  logging: {\n    level: "debug",\n  },\n}\n'));
});

test("a remark behind the last member stays with it when another is added", () => {
  expect(set("{\n  a: 1 // one\n  // the end\n}", ["b"], 2)).toBe("{\n  a: 1, // one\n  b: 2\n  // the end\n}");
});

test("removing a key takes its line and leaves the remarks", () => {
  expect(unset(FILE, ["gateway", "mode"])).toBe(FILE.replace("    mode: 'local',\n", ""));
  expect(unset(FILE, ["gateway", "port"])).toBe(FILE.replace("port: 18789, ", ""));
  expect(unset(FILE, ["channels", "telegram", "allowFrom", 0])).toBe(FILE.replace('"1", ', ""));
});

test("plain JSON stays plain JSON", () => {
  const json = `${JSON.stringify({ a: { b: 1, c: [1, 2] }, d: "x" }, null, 4)}\n`;
  const changed = patch(json, { a: { b: null, e: { f: true } }, d: null, g: [1] });
  expect(JSON.parse(changed)).toEqual({ a: { c: [1, 2], e: { f: true } }, g: [1] });
  expect(changed).toBe(`${JSON.stringify(JSON.parse(changed), null, 4)}\n`);
});

test("CR LF and tabs are kept", () => {
  expect(set("{\r\n\ta: {\r\n\t\tb: 1\r\n\t}\r\n}\r\n", ["a", "c"], { d: 1 })).toBe(
    "{\r\n\ta: {\r\n\t\tb: 1,\r\n\t\tc: {\r\n\t\t\td: 1\r\n\t\t}\r\n\t}\r\n}\r\n",
  );
});

test("an empty file becomes a readable one", () => {
  expect(set("{}\n", ["gateway", "port"], 1)).toBe('{\n  "gateway": {\n    "port": 1\n  }\n}\n');
  expect(set("{\n  // nothing yet\n}", ["a"], 1)).toBe('{\n  "a": 1\n  // nothing yet\n}');
});

test("lists are edited in place: kept items keep their remarks", () => {
  const text = "{\n  list: [\n    1, // one\n    2, // two\n    3, // three\n  ],\n}";
  expect(rewriteText(text, { list: [1, 3] })).toBe("{\n  list: [\n    1, // one\n    // two\n    3, // three\n  ],\n}");
  expect(rewriteText(text, { list: [1, 2, 9, 3] })).toBe("{\n  list: [\n    1, // one\n    2, // two\n    9,\n    3, // three\n  ],\n}");
  expect(rewriteText(text, { list: [0, 1, 2, 3] })).toBe("{\n  list: [\n    0,\n    1, // one\n    2, // two\n    3, // three\n  ],\n}");
});

test("removing a key that is given twice removes both", () => {
  expect(parseDocument(unset("{ a: 1, b: 2, a: 3 }", ["a"])).value).toEqual({ b: 2 });
});

/** The time that the processor spends on `work`, in milliseconds: how busy the machine is makes no difference. */
function took(work: () => unknown): number {
  const from = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(from).user / 1000;
}

test.each([
  ["one line", ", "],
  ["a line each", ",\n  "],
  ["one line behind many blanks", `,${" ".repeat(40)}`],
])("20,000 keys on %s are added to, changed and removed well under a second", (_, glue) => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_item, n) => [`key${n}`, n]));
  const document = parseDocument(
    `{${" ".repeat(100_000)}${Object.entries(many)
      .map(([name, value]) => `"${name}": ${value}`)
      .join(glue)} }`,
  );
  expect(took(() => rewriteDocument(document, { ...many, meta: { touched: true } }))).toBeLessThan(1000);
  expect(took(() => rewriteDocument(document, Object.fromEntries(Object.keys(many).map((name) => [name, "other"]))))).toBeLessThan(1000);
  expect(took(() => rewriteDocument(document, {}))).toBeLessThan(1000);
  expect(took(() => Object.keys(many).map((name) => document.locate([name])))).toBeLessThan(1000);
});

// --- properties -----------------------------------------------------------------------------------------------------------------------------

/** Every comment of a text, in order. */
function commentsOf(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    if (text[at] === '"' || text[at] === "'") at = scanString(text, at).end;
    else if (text[at] === "/") {
      const end = commentEnd(text, at)!;
      found.push(text.slice(at, end));
      at = end;
    } else at += 1;
  }
  return found;
}

let serial = 0;
const blank = fc
  .array(fc.constantFrom("", " ", "\n", "\n  ", "/*", "//"), { maxLength: 3 })
  .map((parts) => parts.map((part) => (part === "/*" ? `/* c${(serial += 1)} */` : part === "//" ? `// c${(serial += 1)}\n` : part)).join(""));
const key = fc.constantFrom("a", "b", "c", "d e", "f");
const keyText = (name: string, style: number) => (style === 0 && name !== "d e" ? name : style === 1 ? `'${name}'` : `"${name}"`);
const scalar = fc.constantFrom("1", "-0.5", "0x1F", "true", "null", "'s'", '"it\'s"', "'// no comment'", "Infinity");

/** Texts of random JSON5 values with comments and blanks anywhere they may stand. */
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    scalar,
    fc.tuple(fc.array(fc.tuple(blank, tie("tree"), blank), { maxLength: 4 }), blank, fc.boolean()).map(([items, end, trailing]) => {
      return `[${items.map(([before, item, after]) => before + item + after).join(",")}${trailing && items.length > 0 ? "," : ""}${end}]`;
    }),
    fc
      .tuple(fc.uniqueArray(fc.tuple(key, fc.nat(2), blank, blank, tie("tree"), blank), { maxLength: 4, selector: ([name]) => name }), blank, fc.boolean())
      .map(([members, end, trailing]) => {
        const texts = members.map(([name, style, before, between, value, after]) => `${before}${keyText(name, style)}:${between}${value}${after}`);
        return `{${texts.join(",")}${trailing && texts.length > 0 ? "," : ""}${end}}`;
      }),
  ),
}));
const text = fc.tuple(blank, tree, blank).map(([before, body, after]) => before + body + after);
const plain = fc.jsonValue({ depthSize: "small", stringUnit: fc.constantFrom("a", "b", "'", '"', "\\", "\n", "\u2028") });

test("whatever the text and whatever the new value: the result parses to it", () => {
  fc.assert(
    fc.property(text, plain, (before, value) => {
      fc.pre(!JSON.stringify(value).includes("__proto__"));
      expect(parseDocument(rewriteText(before, value)).value).toEqual(value);
    }),
    { numRuns: 1000 },
  );
});

test("setting or removing at any path does just that, and keeps every comment outside of the old value", () => {
  const path = fc.array(fc.oneof(key, fc.nat(3)), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(text, path, fc.option(plain, { nil: undefined }), (before, at, value) => {
      const document = parseDocument(before);
      const wanted = value === undefined ? { value: withoutPath(document.value, at) } : withValue(document.value, at, value);
      fc.pre(wanted !== undefined && !JSON.stringify(wanted).includes("__proto__"));
      const after = rewriteText(before, wanted.value);
      expect(parseDocument(after).value).toEqual(wanted.value);
      const removed = replacedText(before, at);
      const lost = new Set(commentsOf(removed));
      expect(commentsOf(after).filter((comment) => !lost.has(comment))).toEqual(commentsOf(before).filter((comment) => !lost.has(comment)));
    }),
    { numRuns: 2000 },
  );
});

/** The text that an edit at `path` may replace. Of equal items in an array either may go, so there it is the whole array. */
function replacedText(before: string, path: ValuePath): string {
  const { root } = parseDocument(before);
  const element = elementAt(root!, path);
  if (!element) return "";
  const parent = elementAt(root!, path.slice(0, -1))!;
  return parent.node.kind === "array" ? before.slice(parent.node.start, parent.node.end) : before.slice(element.start, element.node.end);
}
