import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { injectFiles } from "../prompt/injected-files.ts";
import { belongsTo, readBootstrapFiles } from "./bootstrap-files.ts";
import { agentWorkspace } from "../../config/index.ts";

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openclaw-workspace-"));
  folder = join(root, "workspace");
  mkdirSync(folder);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (name: string, text = name): void => writeFileSync(join(folder, name), text);
const names = async (which: "all" | "shared" | "few"): Promise<string[]> => (await readBootstrapFiles({ folder, which })).map((file) => file.name);
const one = async (name: string) => (await readBootstrapFiles({ folder, which: "all" })).find((file) => file.name === name);

test("files come in their order, with those that are missing", async () => {
  put("USER.md", "Ada");
  const files = await readBootstrapFiles({ folder, which: "all" });
  expect(files.map((file) => [file.name, file.missing])).toEqual([
    ["AGENTS.md", true],
    ["SOUL.md", true],
    ["TOOLS.md", true],
    ["IDENTITY.md", true],
    ["USER.md", false],
    ["HEARTBEAT.md", true],
  ]);
  expect(files[4]).toEqual({ name: "USER.md", path: join(folder, "USER.md"), content: "Ada", missing: false });
});

test("BOOTSTRAP.md and memory are there only where they exist", async () => {
  for (const name of ["BOOTSTRAP.md", "MEMORY.md"]) put(name);
  expect((await names("all")).slice(-2)).toEqual(["BOOTSTRAP.md", "MEMORY.md"]);
});

test("both spellings of memory are read, one file under two names once", async () => {
  put("MEMORY.md", "long");
  if (!existsSync(join(folder, "memory.md"))) put("memory.md", "other");
  const both = (await names("all")).filter((name) => name.toLowerCase() === "memory.md");
  expect(both[0]).toBe("MEMORY.md");
  rmSync(join(folder, "memory.md"));
  symlinkSync("MEMORY.md", join(folder, "memory.md"));
  expect((await names("all")).filter((name) => name.toLowerCase() === "memory.md")).toEqual(["MEMORY.md"]);
});

test("sub-agents and jobs see the rules and the tools, groups everything but memory", async () => {
  put("MEMORY.md");
  expect(await names("few")).toEqual(["AGENTS.md", "TOOLS.md"]);
  expect(await names("shared")).not.toContain("MEMORY.md");
  expect(await names("shared")).toContain("SOUL.md");
});

test("what a hook adds is held to the same rule", () => {
  expect(["AGENTS.md", "SOUL.md"].map((name) => belongsTo("few", name))).toEqual([true, false]);
  expect(["SOUL.md", "MEMORY.md", "memory.md"].map((name) => belongsTo("shared", name))).toEqual([true, false, false]);
  expect(belongsTo("all", "MEMORY.md")).toBe(true);
});

test("a link out of the workspace is not read", async () => {
  writeFileSync(join(root, "secret.md"), "SECRET");
  symlinkSync(join(root, "secret.md"), join(folder, "USER.md"));
  const file = await one("USER.md");
  expect(file).toMatchObject({ missing: false, refused: expect.stringContaining("outside the workspace") });
  expect(JSON.stringify(injectFiles(await readBootstrapFiles({ folder, which: "all" })))).not.toContain("SECRET");
});

test("a link inside the workspace is followed, and so is one to the workspace itself", async () => {
  put("people.md", "Ada");
  symlinkSync("people.md", join(folder, "USER.md"));
  expect((await one("USER.md"))?.content).toBe("Ada");
  symlinkSync(folder, join(root, "link"));
  const files = await readBootstrapFiles({ folder: join(root, "link"), which: "all" });
  expect(files.find((file) => file.name === "USER.md")?.content).toBe("Ada");
});

test.skipIf(process.platform === "win32")("a pipe or a folder in place of a file holds nothing up", async () => {
  execFileSync("mkfifo", [join(folder, "SOUL.md")]);
  mkdirSync(join(folder, "TOOLS.md"));
  expect([await one("SOUL.md"), await one("TOOLS.md")]).toEqual([
    expect.objectContaining({ refused: "it is not a regular file" }),
    expect.objectContaining({ refused: "it is not a regular file" }),
  ]);
});

test("of a huge file only the ends are read", async () => {
  put("TOOLS.md", `first${" ".repeat(3_000_000)}last`);
  const file = (await one("TOOLS.md"))!;
  expect(file.rawChars).toBe(3_000_009);
  expect(file.content!.length).toBeLessThan(600_000);
  const [shown] = injectFiles([file]).files;
  expect(shown).toMatchObject({ rawChars: 3_000_009, truncated: true, text: expect.stringMatching(/^first[^]*left out here[^]*last$/) });
});

test("each agent has its own folder", () => {
  const context = { env: { OPENCLAW_STATE_DIR: "/s" }, exists: () => true, osHome: "/home/me", cwd: "/" };
  const config = { agents: { defaults: { workspace: "~/d" }, list: [{ id: "main", default: true }, { id: "ops" }, { id: "dev", workspace: "~/dev" }] } };
  expect(["main", "ops", "dev"].map((id) => agentWorkspace(config, context, id))).toEqual(["/home/me/d", "/s/workspace-ops", "/home/me/dev"]);
  expect(agentWorkspace({}, context, "main")).toBe("/s/workspace");
  expect(agentWorkspace({}, context, "other")).toBe("/s/workspace-other");
});
