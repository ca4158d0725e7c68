import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, systemClock } from "../../base/clock.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { createSkills, type Skills, type SkillsDeps } from "./create-skills.ts";
import { findPrograms } from "./programs.ts";
import { watchSkills, type WatchFolder } from "./watch-skills.ts";

let base: string;
let workspace: string;
let opened: Disposable[];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "openclaw-skills-"));
  workspace = join(base, "workspace");
  mkdirSync(workspace);
  opened = [];
});
afterEach(() => {
  for (const one of opened) one[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

function put(folder: string, description = "d", more = ""): void {
  mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, folder, "SKILL.md"), `---\ndescription: ${description}\n${more}---\n`);
}

/** Platform watching that a test drives. */
function handWatch(): { readonly watchFolder: WatchFolder; readonly folders: Map<string, (name?: string) => void> } {
  const folders = new Map<string, (name?: string) => void>();
  return {
    folders,
    watchFolder(folder, onChange) {
      folders.set(folder, onChange);
      return { [Symbol.dispose]: () => void folders.delete(folder) };
    },
  };
}

function open(over: Partial<SkillsDeps> = {}): Skills {
  const skills = createSkills({
    config: () => ({}),
    places: () => ({ home: base, stateFolder: join(base, "state") }),
    env: {},
    platform: "linux",
    clock: manualClock(),
    watchFolder: handWatch().watchFolder,
    ...over,
  });
  opened.push(skills);
  return skills;
}

test("the first turn builds a snapshot and later turns keep it", async () => {
  put("workspace/skills/a");
  const skills = open();
  const first = await skills.snapshot({ workspace });
  expect(first.skills).toEqual([{ name: "a" }]);
  put("workspace/skills/b");
  expect(await skills.snapshot({ workspace, stored: first })).toBe(first);
  expect((await skills.snapshot({ workspace })).skills).toEqual([{ name: "a" }, { name: "b" }]);
});

test("a snapshot from before a restart is rebuilt", async () => {
  const before = await open().snapshot({ workspace });
  put("workspace/skills/a");
  expect((await open({ clock: manualClock(1_800_000_000_000) }).snapshot({ workspace, stored: before })).skills).toEqual([{ name: "a" }]);
});

test("a changed file counts after the quiet time, and a turn after it looks again", async () => {
  put("workspace/skills/a", "old");
  const clock = manualClock();
  const { watchFolder, folders } = handWatch();
  const skills = open({ clock, watchFolder });
  const first = await skills.snapshot({ workspace });
  put("workspace/skills/a", "new words");
  folders.get(join(workspace, "skills", "a"))!("SKILL.md");
  clock.advance(249);
  expect(await skills.snapshot({ workspace, stored: first })).toBe(first);
  clock.advance(1);
  const second = await skills.snapshot({ workspace, stored: first });
  expect(second.prompt).toContain("new words");
  expect(second.version).toBeGreaterThan(first.version);
});

test("other files of a skill do not count", async () => {
  put("workspace/skills/a");
  const clock = manualClock();
  const { watchFolder, folders } = handWatch();
  const skills = open({ clock, watchFolder });
  const first = await skills.snapshot({ workspace });
  put("workspace/skills/a", "other");
  folders.get(join(workspace, "skills", "a"))!("notes.txt");
  clock.advance(10_000);
  expect(await skills.snapshot({ workspace, stored: first })).toBe(first);
});

test("nothing is watched before the first turn, nothing when watching is off, nothing after the end", async () => {
  const { watchFolder, folders } = handWatch();
  const off = open({ watchFolder, config: () => ({ skills: { load: { watch: false } } }) });
  await off.snapshot({ workspace });
  const skills = open({ watchFolder });
  expect(folders.size).toBe(0);
  await skills.snapshot({ workspace });
  expect(folders.size).toBeGreaterThan(0);
  skills[Symbol.dispose]();
  await skills.snapshot({ workspace });
  expect(folders.size).toBe(0);
});

test("a change of the configuration or of plugins is reported by the caller, and new folders are watched", async () => {
  put("plugin/skills/p");
  const { watchFolder, folders } = handWatch();
  let plugins: string[] = [];
  let config: OpenClawConfig = {};
  const skills = open({ watchFolder, config: () => config, places: () => ({ home: base, stateFolder: join(base, "state"), plugins }) });
  const first = await skills.snapshot({ workspace });
  plugins = [join(base, "plugin/skills")];
  skills.changed();
  const second = await skills.snapshot({ workspace, stored: first });
  expect(second.skills).toEqual([{ name: "p" }]);
  expect(folders.has(join(base, "plugin/skills"))).toBe(true);
  config = { skills: { entries: { p: { enabled: false } } } };
  skills.changed();
  expect((await skills.snapshot({ workspace, stored: second })).skills).toEqual([]);
});

test("every skill's status says what it lacks", async () => {
  put("workspace/skills/a", "d", "metadata: {openclaw: {requires: {bins: [no-such-program], env: [NOPE]}}}\n");
  put("workspace/skills/b");
  const { skills, problems } = await open().status(workspace);
  expect(skills.map(({ name, eligible, missing }) => [name, eligible, missing.bins, missing.env])).toEqual([
    ["a", false, ["no-such-program"], ["NOPE"]],
    ["b", true, [], []],
  ]);
  expect(problems).toEqual([]);
});

test.skipIf(process.platform === "win32")("programs are executable files on the path, and never paths themselves", async () => {
  for (const name of ["tool", "plain", "outside"]) writeFileSync(join(base, name), "#!/bin/sh\n");
  chmodSync(join(base, "tool"), 0o755);
  chmodSync(join(base, "outside"), 0o755);
  mkdirSync(join(base, "bin/folder"), { recursive: true });
  renameSync(join(base, "tool"), join(base, "bin/tool"));
  renameSync(join(base, "plain"), join(base, "bin/plain"));
  const found = await findPrograms(["tool", "plain", "folder", "../outside", "none"], { PATH: `/nowhere:${join(base, "bin")}` }, "linux");
  expect([...found]).toEqual(["tool"]);
});

test("what happens between the first look and the watching is not lost", async () => {
  put("skills/a", "old");
  let changes = 0;
  const watchFolder: WatchFolder = (folder) => {
    if (folder.endsWith("a")) put("skills/a", "new words");
    return { [Symbol.dispose]: () => {} };
  };
  const watch = watchSkills({
    roots: [join(base, "skills")],
    clock: manualClock(),
    debounceMs: 1,
    maxCandidates: 10,
    onChange: () => (changes += 1),
    watchFolder,
  });
  opened.push(watch);
  await watch.idle();
  expect(changes).toBe(1);
});

test("real changes of real folders are noticed, also below roots that were not there", async () => {
  const root = join(base, "later", "skills");
  let change = Promise.withResolvers<void>();
  const watch = watchSkills({ roots: [root], clock: systemClock, debounceMs: 1, maxCandidates: 10, onChange: () => change.resolve() });
  opened.push(watch);
  await watch.idle();
  const steps = [() => put("later/skills/a", "first"), () => put("later/skills/a", "another text"), () => rmSync(join(root, "a"), { recursive: true })];
  for (const step of steps) {
    change = Promise.withResolvers<void>();
    step();
    await change.promise;
    await watch.idle();
  }
});
