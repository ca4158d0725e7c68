import { expect, test } from "vitest";
import { placeAt, subjectAt } from "./position.ts";
import { readTree } from "./tree.ts";

/** Where the cursor `|` of a text stands. */
function at(marked: string) {
  const offset = marked.indexOf("|");
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  const place = placeAt(text, readTree(text), offset);
  return place && { kind: place.kind, path: place.path.join("."), prefix: place.prefix, replaced: text.slice(place.from, place.to) };
}

test.each([
  ["{ | }", "key", "", "", ""],
  ["{ po| }", "key", "", "po", "po"],
  ["{ gateway: { po|rt: 1 } }", "key", "gateway", "po", "port"],
  ['{ "gateway": { "po|" } }', "key", "gateway", "po", '"po"'],
  ["{ gateway: { port: | } }", "value", "gateway.port", "", ""],
  ["{ gateway: { port: 18|789 } }", "value", "gateway.port", "18", "18789"],
  ['{ gateway: { bind: "lo|" } }', "value", "gateway.bind", "lo", '"lo"'],
  ["{ list: [ | ] }", "value", "list.0", "", ""],
  ['{ list: [ "a", | ] }', "value", "list.1", "", ""],
  ['{ list: [ { id: "a" }, { | } ] }', "key", "list.1", "", ""],
  ["{ a: 1, | }", "key", "", "", ""],
  ["{\n  a: 1\n  |\n}", "key", "", "", ""],
  ["|", "value", "", "", ""],
  ["// nothing yet\n|", "value", "", "", ""],
])("%s is a place for a %s", (marked, kind, path, prefix, replaced) => {
  expect(at(marked)).toEqual({ kind, path, prefix, replaced });
});

test.each(["{ // a |comment\n}", "{ /* a | comment */ }", "{ a: 1 } |", "{ a | : 1 }", "{ a: 1 | , b: 2 }", "{ // to the end|"])(
  "%s is a place for nothing",
  (marked) => {
    expect(at(marked)).toBeUndefined();
  },
);

test.each([
  // A bracket is missing: the next section is not in the one before it.
  ["{\n  gateway: {\n    port: 1,\n  agents: {\n    |\n  },\n}\n", "agents"],
  ["{\n  gateway: {\n    auth: {\n      |\n  agents: {},\n}\n", "gateway.auth"],
  ["{\n  gateway: {\n    auth: {\n      mode: 1\n    |\n  agents: {},\n", "gateway.auth"],
  // One too many.
  ["{\n  gateway: {\n    port: 1,\n  }\n  }\n  agents: {\n    |\n  }\n}", "agents"],
  // A value is missing, or a comma, or a quote.
  ["{\n  gateway: {\n    port:\n    bind: 'lan',\n    |\n  }\n}", "gateway"],
  ["{\n  gateway: {\n    port: 1\n    bind: 'lan'\n    |\n  }\n}", "gateway"],
  ['{\n  gateway: {\n    bind: "lan,\n    |\n  }\n}', "gateway"],
  ["{\n  a: [1, 2,\n  gateway: {\n    |\n  }\n}", "gateway"],
  ["{{{ gateway: { | ]]", "..gateway"],
])("in a broken text the cursor is still in its object: %s", (marked, path) => {
  expect(at(marked)).toMatchObject({ kind: "key", path });
});

test("every offset of every beginning of a text has a tree, whatever is missing", () => {
  const text = `{\n  // ports\n  gateway: { port: 1, "bind": 'lan', list: [1, [2, {}], "a\\"b"] },\n  /* x */ other: null,\n}\n`;
  for (let end = 0; end <= text.length; end += 1) {
    const part = text.slice(0, end);
    const tree = readTree(part);
    for (const offset of [0, end >> 1, end]) {
      const place = placeAt(part, tree, offset);
      if (place) expect(place.from).toBeLessThanOrEqual(place.to);
      subjectAt(tree, offset);
    }
  }
});

test("the key or value under the cursor is known with its path", () => {
  const text = '{ gateway: { port: 1, "a.b": [true] } }';
  const tree = readTree(text);
  const path = (what: string) => subjectAt(tree, text.indexOf(what) + 1)?.path;
  expect(path("gateway")).toEqual(["gateway"]);
  expect(path("port")).toEqual(["gateway", "port"]);
  expect(path(" 1,")).toEqual(["gateway", "port"]);
  expect(path("a.b")).toEqual(["gateway", "a.b"]);
  expect(path("true")).toEqual(["gateway", "a.b", 0]);
  expect(path("} }")).toBeUndefined();
});

test("deep and endless texts are read without a stack of their own depth", () => {
  const deep = "{a:".repeat(20_000);
  expect(placeAt(deep, readTree(deep), deep.length)).toBeDefined();
  const brackets = "[".repeat(50_000) + "}".repeat(50_000);
  expect(readTree(brackets).root?.kind).toBe("array");
  const line = `{ ${"a: 1, ".repeat(50_000)} }`;
  expect(readTree(line).root).toMatchObject({ closed: true });
});
