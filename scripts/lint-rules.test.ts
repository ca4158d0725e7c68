import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { lintConfig, type Layer } from "./lint-rules.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LAYERS: Layer[] = JSON.parse(readFileSync(join(ROOT, "layers.json"), "utf8"));

/** Each case is one file of a made-up code base: an allowed import gives no finding, a forbidden one does. */
const ALLOWED: Record<string, string> = {
  "store/a.ts": `import { x } from "../config/index.ts"; export const y = x;`,
  "store/b.ts": `import { x } from "../base/errors.ts"; export const y = x;`,
  "store/sqlite/c.ts": `import { x } from "../../protocol/index.ts"; import { z } from "../a.ts"; export const y = [x, z];`,
  "gateway/sessions/d.ts": `export const d = 1;`,
  "gateway/e.ts": `import { d } from "./sessions/d.ts"; export const e = d;`,
  "gateway/http-types.ts": `import type { Server } from "node:http"; export type S = Server;`,
  "cli/f.ts": `export const f = () => import("../app/index.ts");`,
};

const FORBIDDEN: Record<string, string> = {
  "store/static-up.ts": `import { x } from "../gateway/index.ts"; export const y = x;`,
  "store/type-up.ts": `import type { X } from "../agent/index.ts"; export type Y = X;`,
  "store/reexport-up.ts": `export { x } from "../app/index.ts";`,
  "store/reexport-all-up.ts": `export * from "../app/index.ts";`,
  "store/dynamic-up.ts": `export const y = () => import("../cli/index.ts");`,
  "store/neighbour.ts": `import { x } from "../hooks/index.ts"; export const y = x;`,
  "store/past-the-entry-point.ts": `import { x } from "../config/load.ts"; export const y = x;`,
  "store/type-past-the-entry-point.ts": `import type { X } from "../config/load.ts"; export type Y = X;`,
  "store/sqlite/deep-up.ts": `import { x } from "../../gateway/index.ts"; export const y = x;`,
  "store/a/b/c/d/deepest-up.ts": `import { x } from "../../../../../gateway/index.ts"; export const y = x;`,
  "store/a/b/c/d/e/too-deep.ts": `import { x } from "../x.ts"; export const y = x;`,
  "store/detour.ts": `import { x } from "./sqlite/../../gateway/index.ts"; export const y = x;`,
  "store/outside.ts": `import { x } from "../../scripts/build.ts"; export const y = x;`,
  "gateway/heavy-http.ts": `import { createServer } from "node:http"; export const y = createServer;`,
  "base/up.ts": `import { x } from "../protocol/index.ts"; export const y = x;`,
};

function lint(files: Record<string, string>): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-layers-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "src", path)), { recursive: true });
    writeFileSync(join(folder, "src", path), text);
  }
  writeFileSync(join(folder, ".oxlintrc.json"), lintConfig(LAYERS, {}));
  const result = spawnSync(process.execPath, [join(ROOT, "node_modules/oxlint/bin/oxlint"), "-f", "json"], { cwd: folder, encoding: "utf8" });
  const { diagnostics } = JSON.parse(result.stdout) as { diagnostics: { filename: string; code: string }[] };
  return new Set(diagnostics.filter(({ code }) => code.includes("no-restricted-imports")).map(({ filename }) => filename.replace(/^.*src\//, "")));
}

let found: Set<string>;
beforeAll(() => {
  found = lint({ ...ALLOWED, ...FORBIDDEN });
});

test.each(Object.keys(ALLOWED))("a module may import lower modules through their index.ts: %s", (path) => {
  expect(found.has(path)).toBe(false);
});

test.each(Object.keys(FORBIDDEN))("a forbidden import fails the build: %s", (path) => {
  expect(found.has(path)).toBe(true);
});

test("every folder of src stands in one layer", () => {
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(LAYERS.flatMap(({ modules }) => modules).toSorted()).toEqual(folders.map(({ name }) => name).toSorted());
});
