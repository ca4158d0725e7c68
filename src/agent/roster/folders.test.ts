import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { OpenClawConfig } from "../../config/index.ts";
import { checkWorkspace } from "./folders.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "openclaw-workspaces-")));
  mkdirSync(join(root, "ops", "notes"), { recursive: true });
  writeFileSync(join(root, "file"), "");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function refusal(folder: string): string | undefined {
  const config: OpenClawConfig = {
    agents: {
      list: [
        { id: "main", workspace: join(root, "main") },
        { id: "ops", workspace: join(root, "ops") },
      ],
    },
  };
  const context = { env: { HOME: root }, exists: () => false, osHome: root, cwd: root };
  try {
    checkWorkspace(folder, { config, context, own: [root, join(root, "state")] });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test("a folder of its own is fine, there or not", () => {
  expect([refusal(join(root, "new")), refusal(join(root, "deep", "er"))]).toEqual([undefined, undefined]);
  mkdirSync(join(root, "there"));
  expect(refusal(join(root, "there"))).toBeUndefined();
});

test("a file is none, nor is what would be below one", () => {
  expect(refusal(join(root, "file"))).toContain("is a file");
  expect(refusal(join(root, "file", "x"))).toContain(`${join(root, "file")} is a file`);
});

test("two agents do not share a folder, and neither is inside the other's", () => {
  expect(refusal(join(root, "ops"))).toContain('is the workspace of agent "ops"');
  expect(refusal(join(root, "ops", "notes", "deeper"))).toContain('is inside that of agent "ops"');
});

test("a link into another agent's folder is inside it", () => {
  symlinkSync(join(root, "ops", "notes"), join(root, "link"));
  expect(refusal(join(root, "link"))).toContain('is inside that of agent "ops"');
  expect(refusal(join(root, "link", "new"))).toContain('is inside that of agent "ops"');
});

test("a folder that contains the state or the home folder is refused", () => {
  expect(refusal(root)).toContain("would contain");
  expect(refusal(join(root, ".."))).toContain("would contain");
});
