import { mkdirSync, mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSourceCache } from "./loader.ts";

const place = (): string => join(mkdtempSync(join(tmpdir(), "openclaw-cache-")), "cache");
const prepared = { code: "export default 1;\n", names: [] } as never;

test("what was kept is found by its text and its ending, for the owner alone", () => {
  const folder = place();
  const cache = createSourceCache(folder);
  cache.write("/p/index.ts", "export default 1 as number;", prepared);
  expect(cache.read("/elsewhere/index.ts", "export default 1 as number;")).toEqual(prepared);
  expect([cache.read("/p/index.mts", "export default 1 as number;"), cache.read("/p/index.ts", "export default 2;")]).toEqual([undefined, undefined]);
  expect([statSync(folder).mode & 0o77, ...readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o77)]).toEqual([0, 0]);
});

test("beyond some thousand entries the older half goes, once for a start", () => {
  const folder = place();
  mkdirSync(folder);
  for (let number = 0; number < 4001; number += 1) {
    const path = join(folder, `${number}.js`);
    writeFileSync(path, "");
    utimesSync(path, number, number);
  }
  const cache = createSourceCache(folder);
  cache.write("/p/a.ts", "a", prepared);
  const left = readdirSync(folder);
  expect([left.length, left.includes("1999.js"), left.includes("2000.js"), cache.read("/p/a.ts", "a")]).toEqual([2002, false, true, prepared]);
});

test("a folder that cannot be written, and an entry that is damaged, cost nothing but time", () => {
  const file = place();
  writeFileSync(file, "");
  const cache = createSourceCache(join(file, "below"));
  cache.write("/p/a.ts", "a", prepared);
  expect(cache.read("/p/a.ts", "a")).toBeUndefined();
  const folder = place();
  const kept = createSourceCache(folder);
  kept.write("/p/a.ts", "a", prepared);
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "{ not ours");
  expect(kept.read("/p/a.ts", "a")).toBeUndefined();
});
