import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { lintConfig, loadLintConfig, type Row } from "./lint-rules.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ROWS: Row[] = JSON.parse(readFileSync(join(ROOT, "rooms.json"), "utf8"));

/** Each case is one file of a made-up house; what is allowed gives no finding, what is forbidden gives one. */
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
  "store/past-the-door.ts": `import { x } from "../config/load.ts"; export const y = x;`,
  "store/type-past-the-door.ts": `import type { X } from "../config/load.ts"; export type Y = X;`,
  "store/sqlite/deep-up.ts": `import { x } from "../../gateway/index.ts"; export const y = x;`,
  "store/a/b/c/d/deepest-up.ts": `import { x } from "../../../../../gateway/index.ts"; export const y = x;`,
  "store/a/b/c/d/e/too-deep.ts": `import { x } from "../x.ts"; export const y = x;`,
  "store/detour.ts": `import { x } from "./sqlite/../../gateway/index.ts"; export const y = x;`,
  "store/outside.ts": `import { x } from "../../scripts/build.ts"; export const y = x;`,
  "gateway/heavy-http.ts": `import { createServer } from "node:http"; export const y = createServer;`,
  "base/up.ts": `import { x } from "../protocol/index.ts"; export const y = x;`,
};

function lint(files: Record<string, string>): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-rooms-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "src", path)), { recursive: true });
    writeFileSync(join(folder, "src", path), text);
  }
  writeFileSync(join(folder, ".oxlintrc.json"), lintConfig(ROWS, {}));
  const result = spawnSync(process.execPath, [join(ROOT, "node_modules/oxlint/bin/oxlint"), "-f", "json"], { cwd: folder, encoding: "utf8" });
  const { diagnostics } = JSON.parse(result.stdout) as { diagnostics: { filename: string; code: string }[] };
  return new Set(diagnostics.filter(({ code }) => code.includes("no-restricted-imports")).map(({ filename }) => filename.replace(/^.*src\//, "")));
}

let found: Set<string>;
beforeAll(() => {
  found = lint({ ...ALLOWED, ...FORBIDDEN });
});

test.each(Object.keys(ALLOWED))("a room may import lower rooms through their door: %s", (path) => {
  expect(found.has(path)).toBe(false);
});

test.each(Object.keys(FORBIDDEN))("a forbidden import fails the build: %s", (path) => {
  expect(found.has(path)).toBe(true);
});

test("the committed lint configuration is the one that the room list makes", () => {
  expect(readFileSync(join(ROOT, ".oxlintrc.json"), "utf8")).toBe(loadLintConfig());
});
