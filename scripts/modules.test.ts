import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { drawModules } from "./modules/drawing.ts";
import { cycles, figuresOf } from "./modules/figures.ts";
import { readSources } from "./modules/sources.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "modules-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

test("imports of every kind count, and tests do not", () => {
  write("src/a/index.ts", `import { b } from "../b/index.ts";\nexport type C = import("./c.ts").C;\nexport const d = () => import("./d.ts");\nb();\n`);
  write("src/a/c.ts", "export interface C {}\n");
  write("src/a/d.ts", "");
  write("src/a/a.test.ts", `import "./d.ts";\n`);
  write("src/b/index.ts", "export const b = () => {};\n");
  const files = readSources(root, "src");
  expect(files.map(({ path }) => path)).toEqual(["src/a/c.ts", "src/a/d.ts", "src/a/index.ts", "src/b/index.ts"]);
  expect(files.find(({ path }) => path === "src/a/index.ts")?.imports.toSorted()).toEqual(["src/a/c.ts", "src/a/d.ts", "src/b/index.ts"]);
});

test("assertions are counted without `as const`, and so is state that a file keeps", () => {
  write(
    "src/a/index.ts",
    `const x = [1] as const;\nexport const y = x as unknown as string;\nexport const z = y!;\nlet count = 0;\nconst cache = new Map<string, string>();\nconst NONE: ReadonlySet<string> = new Set();\nconst TABLE = new Map([["a", 1]]);\nexport { count, cache, NONE, TABLE };\n`,
  );
  const [file] = readSources(root, "src");
  expect(file?.assertions).toBe(3);
  expect(file?.mutable).toEqual(["count", "cache"]);
});

test("two folders that import each other are a cycle, wherever their parent is", () => {
  const files = [
    { path: "src/m/a/x.ts", imports: ["src/m/b/y.ts"] },
    { path: "src/m/b/deep/z.ts", imports: ["src/m/a/x.ts", "src/m/index.ts"] },
    { path: "src/m/c.ts", imports: ["src/m/a/x.ts"] },
  ];
  expect(cycles(files)).toEqual(["src/m: a ↔ b"]);
});

test("small files with one importer are named, and the drawing shows every module", () => {
  write("src/a/index.ts", `import "./only.ts";\nimport "../b/index.ts";\n`);
  write("src/a/only.ts", "");
  write("src/b/index.ts", "");
  const files = readSources(root, "src");
  expect(figuresOf(root, files, [])[0]).toMatchObject({ value: 2, found: ["src/a/only.ts", "src/b/index.ts"] });
  const drawing = drawModules(files, [["b"], ["a"]]);
  expect(drawing).toContain("<title>a → b: 1 files</title>");
});
