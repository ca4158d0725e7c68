import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isInside, writeAtomic } from "./files.ts";

const folder = () => mkdtempSync(join(tmpdir(), "openclaw-files-"));

test("a file is replaced whole and only its owner may read it", () => {
  const dir = folder();
  const path = join(dir, "a.json");
  writeFileSync(path, "old");
  writeAtomic(path, "new", { temporary: `${path}.tmp` });
  expect(readFileSync(path, "utf8")).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(["a.json"]);
});

test("a write that fails leaves the old file and no temporary one, and says which path", () => {
  const dir = folder();
  mkdirSync(join(dir, "a.json"));
  chmodSync(dir, 0o700);
  expect(() => writeAtomic(join(dir, "a.json"), "new", { temporary: join(dir, "a.tmp") })).toThrow(/could not write: .*a\.json/);
  expect(readdirSync(dir)).toEqual(["a.json"]);
});

test("inside means inside, whatever the path looks like", () => {
  expect(["/a/b", "/a/b/c", "/a/b/../b/c", "/a/b/..c"].every((path) => isInside("/a/b", path))).toBe(true);
  expect(["/a", "/a/bc", "/a/b/../c", "/"].some((path) => isInside("/a/b", path))).toBe(false);
});
