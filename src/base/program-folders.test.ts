import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { docsFolder } from "./program-folders.ts";

test("the documentation is found from the sources and from a bundle, and missed where it was left out", () => {
  expect(existsSync(join(docsFolder()!, "agent/commands.md"))).toBe(true);
  const root = mkdtempSync(join(tmpdir(), "docs-folder-"));
  for (const folder of ["bin", "dist/chunks"]) mkdirSync(join(root, folder), { recursive: true });
  expect(docsFolder(join(root, "dist/chunks"))).toBeUndefined();
  writeFileSync(join(root, "bin/openclaw"), "");
  expect(docsFolder(join(root, "dist/chunks"))).toBeUndefined();
  mkdirSync(join(root, "docs/agent"), { recursive: true });
  writeFileSync(join(root, "docs/agent/README.md"), "");
  expect(docsFolder(join(root, "dist/chunks"))).toBe(join(root, "docs"));
});
