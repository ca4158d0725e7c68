import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRootedFiles, type RootedFiles } from "../../../base/rooted-files.ts";
import { ownFiles } from "./own-files.ts";

let home: string;
let state: string;
let configFile: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "own-files-")));
  state = join(home, "state");
  configFile = join(home, "openclaw.json");
  mkdirSync(join(state, "workspace"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function filesOf(workspaceDir: string): RootedFiles {
  let names = 0;
  return createRootedFiles({ sealed: ownFiles({ state, configFile, workspaceDir }), unique: () => String((names += 1)) });
}

const REFUSED = /one of the gateway's own files/;

test("the state and the configuration are not written or deleted, whether they are there or not", async () => {
  const files = filesOf(join(state, "workspace"));
  const own = [
    configFile,
    ...["exec-approvals.json", "extensions/evil/index.js", "agents/main/agent/auth-profiles.json", "workspaces"].map((name) => join(state, name)),
  ];
  for (const path of own) await expect(files.write(path, "{}"), path).rejects.toThrow(REFUSED);
  expect(existsSync(join(state, "extensions")), "no folder is left behind either").toBe(false);
  writeFileSync(configFile, "mine");
  await expect(files.write(configFile, "{}")).rejects.toThrow(REFUSED);
  await expect(files.remove(configFile)).rejects.toThrow(REFUSED);
  expect(readFileSync(configFile, "utf8")).toBe("mine");
});

test("what is there for agents is written: workspaces, skills, and everything elsewhere", async () => {
  const files = filesOf(join(state, "homes/main"));
  const free = ["workspace/a", "workspace-other/a", "skills/x/SKILL.md", "homes/main/a"].map((name) => join(state, name));
  mkdirSync(join(state, "homes/main"), { recursive: true });
  for (const path of [...free, join(home, "elsewhere/openclaw.json")]) await files.write(path, "ok");
  for (const path of free) expect(readFileSync(path, "utf8")).toBe("ok");
  await expect(files.write(join(state, "homes/other/a"), "x")).rejects.toThrow(REFUSED);
});

test("skills that decide which programs run unasked are not an agent's to write", async () => {
  let decide = true;
  const sealed = ownFiles({ state, configFile, workspaceDir: join(state, "workspace"), skillsDecide: () => decide });
  const files = createRootedFiles({ sealed, unique: () => "1" });
  await expect(files.write(join(state, "skills/x/SKILL.md"), "x")).rejects.toThrow(REFUSED);
  await files.write(join(state, "workspace/skills/x/SKILL.md"), "x");
  decide = false;
  await files.write(join(state, "skills/x/SKILL.md"), "x");
});

test("links do not lead there, and a workspace around the state does not open it", async () => {
  symlinkSync(state, join(home, "link"));
  writeFileSync(join(state, "exec-approvals.json"), "mine");
  symlinkSync(join(state, "exec-approvals.json"), join(home, "notes.json"));
  const files = filesOf(home);
  for (const name of ["link/exec-approvals.json", "link/new/file", "notes.json", "state/x"])
    await expect(files.write(join(home, name), "{}"), name).rejects.toThrow(REFUSED);
  expect(readFileSync(join(state, "exec-approvals.json"), "utf8")).toBe("mine");
  const same = filesOf(state);
  await expect(same.write(join(state, "exec-approvals.json"), "{}")).rejects.toThrow(REFUSED);
});
