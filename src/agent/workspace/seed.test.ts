import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BOOTSTRAP_NAMES } from "./bootstrap-names.ts";
import { initRepository } from "./repository.ts";
import { seedWorkspace } from "../seed-workspace.ts";
import type { SeedOptions } from "./seed.ts";
import { FIRST_FILES } from "./first-files.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openclaw-workspace-"));
  folder = join(root, "workspace");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (...parts: string[]): string => join(folder, ...parts);
const read = (name: string): string => readFileSync(at(name), "utf8");
const state = (): unknown => JSON.parse(read(".openclaw/workspace-state.json"));
let made = 0;
const seed = (over: Partial<SeedOptions> = {}) => seedWorkspace({ folder, now: () => Date.UTC(2026, 0, 2), unique: () => `t${(made += 1)}`, ...over });
const NOW = "2026-01-02T00:00:00.000Z";
const ALL_BUT_BOOTSTRAP = BOOTSTRAP_NAMES.filter((name) => name !== "BOOTSTRAP.md");

test("a new workspace gets all its files and the stamp of the first conversation", async () => {
  expect(await seed()).toEqual({ made: [...ALL_BUT_BOOTSTRAP, "BOOTSTRAP.md"], brandNew: true });
  for (const name of BOOTSTRAP_NAMES) expect(read(name)).toBe(FIRST_FILES[name]);
  expect(state()).toEqual({ version: 1, bootstrapSeededAt: NOW });
});

test("seeding again makes and changes nothing", async () => {
  await seed();
  expect(await seed({ now: () => 0 })).toEqual({ made: [], brandNew: false });
  expect(state()).toEqual({ version: 1, bootstrapSeededAt: NOW });
});

test("a file of a template that is deleted comes back as the template's, not as the personal one", async () => {
  const facts = { id: "coder", name: "Ada", emoji: "🛠", theme: "exact" };
  await seed({ template: { id: "coder", facts } });
  const [agents, identity] = [read("AGENTS.md"), read("IDENTITY.md")];
  expect(agents).not.toBe(FIRST_FILES["AGENTS.md"]);
  for (const name of ["AGENTS.md", "IDENTITY.md"]) rmSync(at(name));
  // The gateway seeds without knowing of a template.
  expect(await seed()).toEqual({ made: ["AGENTS.md", "IDENTITY.md"], brandNew: false });
  expect([read("AGENTS.md"), read("IDENTITY.md")]).toEqual([agents, identity]);
  expect(identity).toContain("Ada");
  // One that this version does not know counts as none.
  writeFileSync(at(".openclaw/workspace-state.json"), JSON.stringify({ version: 1, template: { id: "of-the-future", facts } }));
  rmSync(at("SOUL.md"));
  await seed();
  expect(read("SOUL.md")).toBe(FIRST_FILES["SOUL.md"]);
});

test("a file that is there is never overwritten, a missing one comes back", async () => {
  await seed();
  writeFileSync(at("SOUL.md"), "mine");
  rmSync(at("TOOLS.md"));
  expect((await seed()).made).toEqual(["TOOLS.md"]);
  expect(read("SOUL.md")).toBe("mine");
});

test("a link is left alone even if it leads nowhere, and nothing is made where it points", async () => {
  mkdirSync(folder);
  symlinkSync(join(root, "outside.md"), at("SOUL.md"));
  expect((await seed()).made).not.toContain("SOUL.md");
  expect(existsSync(join(root, "outside.md"))).toBe(false);
});

test("with skipBootstrap only the folder is made", async () => {
  expect(await seed({ skipBootstrap: true })).toEqual({ made: [], brandNew: true });
  expect(readdirSync(folder)).toEqual([]);
});

test("once BOOTSTRAP.md is deleted, the first conversation is over and the file does not come back", async () => {
  await seed();
  rmSync(at("BOOTSTRAP.md"));
  expect((await seed()).made).toEqual([]);
  expect(state()).toEqual({ version: 1, bootstrapSeededAt: NOW, onboardingCompletedAt: NOW });
  expect((await seed()).made).toEqual([]);
  expect(existsSync(at("BOOTSTRAP.md"))).toBe(false);
});

test.each(["IDENTITY.md", "USER.md"])("a workspace whose %s is filled in has had its first conversation", async (name) => {
  mkdirSync(folder);
  writeFileSync(at(name), "- **Name:** Ada");
  expect((await seed()).made).not.toContain("BOOTSTRAP.md");
  expect(state()).toEqual({ version: 1, onboardingCompletedAt: NOW });
});

test("a workspace with other files but no identity yet gets the first conversation", async () => {
  mkdirSync(folder);
  writeFileSync(at("AGENTS.md"), "rules");
  expect(await seed()).toEqual({ made: [...ALL_BUT_BOOTSTRAP.filter((name) => name !== "AGENTS.md"), "BOOTSTRAP.md"], brandNew: false });
});

test("after a crash between the file and its stamp the stamp is made up for", async () => {
  await seed();
  rmSync(at(".openclaw"), { recursive: true });
  expect((await seed()).made).toEqual([]);
  expect(state()).toEqual({ version: 1, bootstrapSeededAt: NOW });
});

test("a state that cannot be read brings nothing back and stays as it is", async () => {
  await seed();
  rmSync(at("BOOTSTRAP.md"));
  writeFileSync(at(".openclaw/workspace-state.json"), "{ broken");
  expect((await seed()).made).toEqual([]);
  expect(read(".openclaw/workspace-state.json")).toBe("{ broken");
});

test("a state folder that leads out of the workspace is not written to", async () => {
  mkdirSync(folder);
  mkdirSync(join(root, "outside"));
  symlinkSync(join(root, "outside"), at(".openclaw"));
  await expect(seed()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(readdirSync(join(root, "outside"))).toEqual([]);
});

test("only a brand-new workspace becomes a repository", async () => {
  const asked: string[] = [];
  const git = async (where: string): Promise<void> => void asked.push(where);
  await seed({ initRepository: git });
  await seed({ initRepository: git });
  expect(asked).toEqual([folder]);
});

test("the repository is made in the workspace, whatever repository we were started from", async () => {
  mkdirSync(folder);
  const other = join(root, "other");
  const done = await initRepository(folder, { PATH: process.env["PATH"], HOME: root, GIT_DIR: other });
  expect(existsSync(at(".git"))).toBe(done);
  expect(existsSync(other)).toBe(false);
});

test("without git there is no repository and no failure", async () => {
  mkdirSync(folder);
  expect(await initRepository(folder, { PATH: root })).toBe(false);
  expect(existsSync(at(".git"))).toBe(false);
});

test("the templates are short, need no front matter and leave heartbeats with nothing to do", () => {
  for (const [name, text] of Object.entries(FIRST_FILES)) {
    expect(text.length, name).toBeLessThan(3500);
    expect(text, name).toMatch(/^# .*\n[^]*[^\n]\n$/);
  }
  expect(FIRST_FILES["HEARTBEAT.md"].split("\n").every((line) => line === "" || line.startsWith("#"))).toBe(true);
});
