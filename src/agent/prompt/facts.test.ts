import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repoRoot } from "./facts.ts";

test("the configured folder if it is there, else the repository that the workspace lies in", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "repo-root-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const workspace = join(folder, "repo/notes/workspace");
  mkdirSync(workspace, { recursive: true });
  expect(repoRoot(undefined, workspace)).toBeUndefined();
  mkdirSync(join(folder, "repo/.git"));
  expect(repoRoot(undefined, workspace)).toBe(join(folder, "repo"));
  expect(repoRoot(join(folder, "gone"), workspace)).toBe(join(folder, "repo"));
  expect(repoRoot(folder, workspace)).toBe(folder);
});
