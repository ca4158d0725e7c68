import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseDocument } from "./document/document.ts";
import { resolveIncludes } from "./include.ts";
import { createOrigins } from "./origin.ts";
import { diskFiles } from "./source-files.ts";

function load(files: Record<string, string>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "config-include-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const main = parseDocument(files["main.json"]!, join(folder, "main.json"));
  const included = resolveIncludes(main, diskFiles);
  return { folder, ...included, messages: included.issues.map((issue) => issue.message), origins: createOrigins(main, included.documents) };
}

test("an object becomes the file it names, any value", () => {
  expect(load({ "main.json": '{ a: { $include: "./a.json" }, b: { $include: "list.json" } }', "a.json": "{ x: 1 }", "list.json": "[1, 2]" }).value).toEqual({
    a: { x: 1 },
    b: [1, 2],
  });
});

test("several files are merged in order: objects deep, lists one behind the other, otherwise the later; keys beside win", () => {
  const files = {
    "main.json": '{ $include: ["a.json", "b.json"], s: "main", o: { z: 3 } }',
    "a.json": '{ s: "a", l: [1], o: { x: 1, y: 1 }, t: [0] }',
    "b.json": '{ l: [2, 3], o: { y: 2 }, t: "text" }',
  };
  expect(load(files).value).toEqual({ s: "main", l: [1, 2, 3], o: { x: 1, y: 2, z: 3 }, t: "text" });
});

test("includes are relative to the file that has them", () => {
  const files = { "main.json": '{ $include: "sub/a.json" }', "sub/a.json": '{ b: { $include: "./b.json" } }', "sub/b.json": "{ deep: true }" };
  expect(load(files).value).toEqual({ b: { deep: true } });
});

test("keys beside a list are an error", () => {
  expect(load({ "main.json": '{ a: { $include: "l.json", k: 1 } }', "l.json": "[]" }).messages).toEqual([
    "Sibling keys require included content to be an object",
  ]);
});

test("a circle is shown with its files", () => {
  const { folder, messages } = load({ "main.json": '{ $include: "a.json" }', "a.json": '{ $include: "main.json" }' });
  expect(messages).toEqual([`Circular include detected: ${folder}/main.json -> ${folder}/a.json -> ${folder}/main.json`]);
});

test("ten levels are fine, the eleventh is not", () => {
  const chain = (levels: number) => {
    const files: Record<string, string> = { "main.json": '{ $include: "1.json" }' };
    for (let level = 1; level < levels; level += 1) files[`${level}.json`] = `{ $include: "${level + 1}.json" }`;
    return load({ ...files, [`${levels}.json`]: "{ end: true }" });
  };
  expect(chain(10).value).toEqual({ end: true });
  expect(chain(11).messages).toEqual(["Maximum include depth (10) exceeded at: 11.json"]);
});

test("files that include each other's lists many times are stopped", () => {
  const many = (name: string) => `{ $include: [${Array.from({ length: 8 }, () => `"${name}"`).join()}] }`;
  const { messages } = load({ "main.json": many("a"), a: many("b"), b: many("c"), c: many("d"), d: many("e"), e: "{}" });
  expect(messages[0]).toMatch(/^More than 1000 includes/);
});

test.each([
  ["../outside.json", "Include path escapes config directory: ../outside.json"],
  ["/etc/hostname", "Include path escapes config directory: /etc/hostname"],
  ["a/../../x", "Include path escapes config directory: a/../../x"],
])("%s is outside", (name, message) => {
  expect(load({ "main.json": `{ $include: ${JSON.stringify(name)} }` }).messages).toEqual([message]);
});

test("a link that leads outside is refused, one that stays inside is not", () => {
  const { folder } = load({ "main.json": "{}", "real.json": "{ ok: 1 }" });
  symlinkSync("/etc/hostname", join(folder, "out.json"));
  symlinkSync(join(folder, "real.json"), join(folder, "in.json"));
  const run = (text: string) => resolveIncludes(parseDocument(text, join(folder, "main.json")), diskFiles);
  expect(run('{ $include: "out.json" }').issues[0]?.message).toBe("Include path resolves outside config directory (symlink): out.json");
  expect(run('{ $include: "in.json" }').value).toEqual({ ok: 1 });
});

test("what cannot be read or parsed is named as written and as resolved", () => {
  const { folder, messages } = load({ "main.json": '{ a: { $include: "no.json" }, b: { $include: "bad.json" } }', "bad.json": "{ x: }" });
  expect(messages[0]).toMatch(`Failed to read include file: no.json (resolved: ${folder}/no.json)`);
  expect(messages[1]).toMatch(`Failed to parse include file: bad.json (resolved: ${folder}/bad.json): JSON5 parse failed: invalid character '}' at 1:6`);
});

test("$include takes a text or texts", () => {
  expect(load({ "main.json": "{ a: { $include: 5 }, b: { $include: ['x', 1] }, c: { $include: null } }" }).messages).toEqual([
    "Invalid $include value: expected string or array of strings, got number",
    "Invalid $include value: expected string or array of strings, got an array with number",
    "Invalid $include value: expected string or array of strings, got null",
  ]);
});

test("an included file changes no prototype", () => {
  const { value } = load({
    "main.json": '{ $include: ["a.json", "b.json"] }',
    "a.json": "{ x: {} }",
    "b.json": '{ "__proto__": { bad: 1 }, constructor: { prototype: { bad: 1 } }, x: { y: 1 } }',
  });
  expect(value).toEqual({ x: { y: 1 } });
  expect(({} as { bad?: number }).bad).toBeUndefined();
});

test("each value is found in its own file, on its own line", () => {
  const { origins, folder } = load({
    "main.json": '{\n  $include: ["a.json", "b.json"],\n  top: 1,\n}',
    "a.json": "{\n  list: [\n    { id: 1 },\n  ],\n  o: { x: 1 },\n}",
    "b.json": "{\n\n  list: [{ id: 2 }, {\n    id: 3 }],\n  o: {\n    y: 1 } }",
  });
  expect(origins.locate(["top"])).toEqual({ file: join(folder, "main.json"), line: 3, column: 3 });
  expect(origins.locate(["list", 0, "id"])).toEqual({ file: join(folder, "a.json"), line: 3, column: 7 });
  expect(origins.locate(["list", 2, "id"])).toEqual({ file: join(folder, "b.json"), line: 4, column: 5 });
  expect(origins.locate(["o", "x"])).toMatchObject({ file: join(folder, "a.json"), line: 5 });
  expect(origins.locate(["o", "y"])).toMatchObject({ file: join(folder, "b.json"), line: 6 });
  expect(origins.locate(["o", "y", "missing"])).toMatchObject({ file: join(folder, "b.json"), line: 6 });
  expect(origins.locate(["nowhere"])).toMatchObject({ file: join(folder, "main.json"), line: 1 });
});
