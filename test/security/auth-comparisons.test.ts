import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../../src/gateway");

const COMPARISON = /(typeof\s+)?([\w.?!()[\]]+|"")\s*[!=]==?\s*([\w.?!()[\]]+|"")/g;
const SECRET = /(?:token|password|secret|bearer|credential|authorization)s?[!()]*$/i;
const CONSTANT = /^(?:""|undefined|null|true|false|\d+)\)*$/;

/** Lines that compare something named like a secret with anything but a constant. */
function comparisonsIn(text: string): string[] {
  return text.split("\n").filter((line) => {
    if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) return false;
    const bare = line.replaceAll(/\["(\w+)"\]/g, ".$1").replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '""');
    return [...bare.matchAll(COMPARISON)].some(
      ([, type, left = "", right = ""]) => !type && (SECRET.test(left) || SECRET.test(right)) && !CONSTANT.test(left) && !CONSTANT.test(right),
    );
  });
}

test("secrets of the gateway are compared nowhere in it: base has the one comparison", () => {
  const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  expect(files).toContain("auth/credentials.ts");
  const found = files.flatMap((name) => comparisonsIn(readFileSync(join(ROOT, name), "utf8")).map((line) => `${name}: ${line.trim()}`));
  expect(found).toEqual([]);
});

test.each([
  "if (token === expected) return true;",
  "return presented !== settings.token;",
  "if (auth?.password == given) {",
  "if (headers.authorization !== wanted) {",
  "const ok = row.token === input.token;",
  'return request.headers["authorization"] === `Bearer ${token}` || other === request.headers["authorization"];',
  "return wanted == bearerToken(request) || wanted === secret();",
])("the search finds %s", (line) => {
  expect(comparisonsIn(line)).toHaveLength(1);
});

test.each([
  "if (token === undefined) return;",
  'if (mode === "token") {',
  "if (settings.token !== null) {",
  'return method === "password";',
  'if (token === "") {',
])("the search leaves %s alone", (line) => {
  expect(comparisonsIn(line)).toEqual([]);
});
