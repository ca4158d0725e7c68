/** `openclaw skills` without a gateway: lists, checks, installs, writes. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { skills as command } from "../../src/cli/commands/groups.ts";
import { startLoopbackServer } from "../../src/base/loopback-server.fixture.ts";
import { zipOf } from "../harness/archives.ts";
import { openCommandLine, type CommandLineOptions } from "../harness/command-line.ts";
import { fakePrograms } from "../setup/fake-programs.ts";
import { SKILL } from "./place.ts";

type Json = Record<string, unknown> & { skills: Record<string, unknown>[] };

function commandLine(options: CommandLineOptions = {}) {
  const here = openCommandLine<Json>("skills", command, options);
  const write = (path: string, content: string | Buffer): string => {
    const full = join(here.home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  };
  return { ...here, write };
}

const NEEDY =
  'metadata: {openclaw: {requires: {bins: ["jq-of-nobody"], env: ["MY_KEY"]}, install: [{kind: "node", package: "jq-of-nobody", bins: ["jq-of-nobody"]}]}}\n';

test("list: rows as documented, and a table for people", async () => {
  const here = commandLine({ config: JSON.stringify({ skills: { entries: { off: { enabled: false } } } }) });
  here.write("state/skills/needy/SKILL.md", SKILL("needy", NEEDY));
  here.write("state/skills/off/SKILL.md", SKILL("off"));
  here.write("state/workspace/skills/own/SKILL.md", SKILL("own"));
  const { json } = await here.run("list", "--json");
  expect(json()).toMatchObject({ workspaceDir: join(here.stateDir, "workspace"), managedSkillsDir: join(here.stateDir, "skills") });
  expect(json().skills).toEqual([
    {
      name: "needy",
      description: "Something useful.",
      eligible: false,
      disabled: false,
      blockedByAllowlist: false,
      source: "openclaw-managed",
      bundled: false,
      missing: { bins: ["jq-of-nobody"], anyBins: [], env: ["MY_KEY"], config: [], os: [] },
    },
    expect.objectContaining({ name: "off", disabled: true }),
    expect.objectContaining({ name: "own", eligible: true, source: "openclaw-workspace" }),
  ]);
  const table = await here.run();
  expect(table.out).toMatch(
    /Skill +Status +Source +About\nneedy +missing +managed +needs jq-of-nobody, \$MY_KEY\noff +off +managed .*\nown +ready +workspace +Something useful\.\n1 of 3 ready/,
  );
  expect((await here.run("list", "--eligible", "--json")).json().skills).toHaveLength(1);
  expect((await here.run("list", "-v")).out).toContain(join(here.stateDir, "skills/needy/SKILL.md"));
});

test("list of an agent with its own list of skills", async () => {
  const here = commandLine({ config: JSON.stringify({ agents: { list: [{ id: "main" }, { id: "work", skills: ["b"], workspace: "/none" }] } }) });
  for (const name of ["a", "b"]) here.write(`state/skills/${name}/SKILL.md`, SKILL(name));
  expect((await here.run("list", "--agent", "work", "--json")).json().skills).toMatchObject([
    { name: "a", blockedByAgent: true },
    { name: "b", eligible: true },
  ]);
  expect((await here.run("list", "--agent", "work", "--eligible", "--json")).json().skills).toHaveLength(1);
  expect(await here.run("list", "--agent", "nobody")).toMatchObject({ code: 1, err: expect.stringContaining('there is no agent "nobody"') });
});

test("info and check: what is needed, and how to get it", async () => {
  const here = commandLine();
  here.write("state/skills/needy/SKILL.md", SKILL("needy", NEEDY));
  here.write("state/skills/broken/SKILL.md", "---\nname: broken\n");
  expect((await here.run("info", "needy", "--json")).json()).toMatchObject({
    name: "needy",
    skillKey: "needy",
    requirements: { bins: ["jq-of-nobody"], env: ["MY_KEY"] },
    install: [{ id: "node-0", kind: "node", label: "Install jq-of-nobody (npm)", bins: ["jq-of-nobody"] }],
  });
  expect((await here.run("info", "needy")).out).toMatch(/needs +jq-of-nobody, \$MY_KEY[\s\S]*openclaw skills install needy/);
  expect(await here.run("info", "nothing")).toMatchObject({ code: 1, err: expect.stringContaining('skill "nothing" not found') });
  const check = await here.run("check", "--json");
  expect([check.code, check.json()]).toMatchObject([
    1,
    {
      summary: { total: 1, eligible: 0, disabled: 0, blocked: 0, missingRequirements: 1 },
      missingRequirements: [{ name: "needy", missing: { bins: ["jq-of-nobody"] } }],
      problems: [{ path: expect.stringContaining("broken") }],
    },
  ]);
  expect((await here.run("check")).out).toMatch(/0 of 1 skills are ready[\s\S]*needy: needs jq-of-nobody[\s\S]*problem .*broken/);
});

test("install of programs: shows the command, runs it only after a yes, reports how it went", async () => {
  const here = commandLine();
  here.write("state/skills/needy/SKILL.md", SKILL("needy", NEEDY.replace(', env: ["MY_KEY"]', "")));
  const machine = fakePrograms(here.home, {
    npm: 'echo added 1; printf "#!/bin/sh\\n" > "$(dirname "$0")/jq-of-nobody"; chmod +x "$(dirname "$0")/jq-of-nobody"',
  });
  const with_ = commandLine({ env: { HOME: here.home, OPENCLAW_STATE_DIR: here.stateDir, PATH: `${machine.folder}:/bin:/usr/bin` } });
  const command_ = "npm install --global --ignore-scripts jq-of-nobody";
  expect(await with_.run("install", "needy")).toMatchObject({
    code: 1,
    out: expect.stringContaining(command_),
    err: expect.stringContaining("use --yes to confirm"),
  });
  expect(await with_.run("install", "needy", "--dry-run")).toMatchObject({ code: 0, out: `Would run: ${command_}\n` });
  expect(machine.calls()).toEqual([]);
  expect(await with_.run("install", "needy", "--id", "other", "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("there are: node-0") });
  const done = await with_.run("install", "needy", "--yes", "--json");
  expect(done.json()).toMatchObject({ ok: true, message: "Installed", stdout: "added 1\n", code: 0, warnings: [] });
  expect(machine.calls()).toEqual([command_]);
  expect((await with_.run("install", "needy", "--yes")).out).toBe("needy has everything it needs\n");
});

test("install of programs that fails says so with its output", async () => {
  const here = commandLine();
  here.write("state/skills/needy/SKILL.md", SKILL("needy", NEEDY));
  const machine = fakePrograms(here.home, { npm: "echo EACCES >&2; exit 243" });
  const with_ = commandLine({ env: { HOME: here.home, OPENCLAW_STATE_DIR: here.stateDir, PATH: `${machine.folder}:/bin` } });
  expect(await with_.run("install", "needy", "--yes")).toMatchObject({ code: 1, out: expect.stringMatching(/failed needy: npm .*exit code 243: EACCES/) });
  const none = commandLine({ env: { HOME: here.home, OPENCLAW_STATE_DIR: here.stateDir, PATH: "/none" } });
  expect(await none.run("install", "needy", "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("npm is not installed") });
});

test("install of a skill: review, record, update, change, removal", async () => {
  const here = commandLine();
  const archive = here.write("pack.zip", zipOf([{ name: "notes/SKILL.md", content: SKILL("notes", "", "Then `sudo reboot`.\n") }]));
  expect(await here.run("install", "pack.zip")).toMatchObject({
    code: 1,
    out: expect.stringMatching(/notes: Something useful\.[\s\S]*warn SKILL\.md:6 uses sudo/),
    err: expect.stringContaining("--yes"),
  });
  expect(await here.run("install", "./pack.zip", "--dry-run")).toMatchObject({ code: 0, out: expect.stringContaining("No changes made") });
  expect(existsSync(join(here.stateDir, "skills/notes"))).toBe(false);
  expect(await here.run("install", "pack.zip", "--yes")).toMatchObject({
    code: 0,
    out: expect.stringContaining(`installed notes in ${join(here.stateDir, "skills/notes")}`),
  });
  expect((await here.run("info", "notes")).out).toContain(`from      ${archive}`);
  expect((await here.run("update", "--all", "--json")).json()).toMatchObject({ ok: true, outcomes: [{ name: "notes", status: "unchanged" }] });
  writeFileSync(join(here.stateDir, "skills/notes/SKILL.md"), SKILL("notes", "", "Mine.\n"));
  expect(await here.run("check")).toMatchObject({ code: 1, out: expect.stringContaining("notes: SKILL.md changed since it was installed") });
  here.write("pack.zip", zipOf([{ name: "notes/SKILL.md", content: SKILL("notes", "", "Newer.\n") }]));
  expect((await here.run("update", "notes", "--yes")).out).toContain("notes: skipped");
  expect((await here.run("update", "notes", "--yes", "--force")).out).toContain("notes: updated");
  expect(readFileSync(join(here.stateDir, "skills/notes/SKILL.md"), "utf8")).toContain("Newer.");
  expect(await here.run("remove", "notes")).toMatchObject({ code: 1, err: expect.stringContaining("--yes") });
  expect(await here.run("remove", "notes", "--yes")).toMatchObject({ code: 0, out: expect.stringMatching(/^Removed .*skills\/notes/) });
  expect(existsSync(join(here.stateDir, "skills/notes"))).toBe(false);
});

test("a skill goes where the flags say; a bundled name needs --force", async () => {
  const here = commandLine({ config: JSON.stringify({ agents: { list: [{ id: "main" }, { id: "work", workspace: "/tmp/x" }] } }) });
  here.write("from/notes/SKILL.md", SKILL("notes"));
  await here.run("install", "./from/notes", "--workspace", "--yes");
  expect(existsSync(join(here.stateDir, "workspace/skills/notes/SKILL.md"))).toBe(true);
  expect(await here.run("install", "./from/notes", "--managed", "--workspace", "--yes")).toMatchObject({
    code: 1,
    err: expect.stringContaining("exclude each other"),
  });
  const bundled = commandLine({ env: { OPENCLAW_BUNDLED_SKILLS_DIR: join(here.home, "from") } });
  bundled.write("notes/SKILL.md", SKILL("notes"));
  expect(await bundled.run("install", "./notes", "--yes")).toMatchObject({ code: 1, err: expect.stringContaining("comes with OpenClaw") });
  expect((await bundled.run("list", "--json")).json().skills).toMatchObject([{ name: "notes", bundled: true, source: "openclaw-bundled" }]);
});

test("an address that cannot be reached is no defect of the program", async () => {
  const here = commandLine();
  const server = await startLoopbackServer();
  const noTls = await here.run("install", `https://127.0.0.1:${server.port}/x.zip`, "--yes");
  expect(noTls).toMatchObject({ code: 1, err: expect.stringContaining("does not speak TLS") });
  await server[Symbol.asyncDispose]();
  const refused = await here.run("install", `https://127.0.0.1:${server.port}/x.zip`, "--yes");
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("refuses the connection") });
  for (const { err } of [noTls, refused]) expect(err).not.toMatch(/defect|report it|\n\s+at /);
});

test("create says when a bundled skill would not be used any more, and warns of a template that was not filled in", async () => {
  const here = commandLine({ env: { OPENCLAW_BUNDLED_SKILLS_DIR: join(commandLine().write("bundled/weather/SKILL.md", SKILL("weather")), "../..") } });
  expect(await here.run("create", "weather")).toMatchObject({ code: 1, err: expect.stringMatching(/comes with OpenClaw.*skills create weather --force/s) });
  expect(existsSync(join(here.stateDir, "workspace/skills/weather"))).toBe(false);
  expect(await here.run("create", "weather", "--dir", "elsewhere")).toMatchObject({ code: 0 });
  expect(await here.run("create", "weather", "--force")).toMatchObject({ code: 0, out: expect.stringContaining("It replaces the bundled skill weather") });
  expect(await here.run("create", "a".repeat(65))).toMatchObject({ code: 1, err: expect.stringMatching(/at most 64 .* it has 65 characters/) });
  const tested = await here.run("test", "weather", "--json");
  expect([tested.code, tested.json()["remarks"]]).toEqual([
    0,
    ["Describe in one line", "Describe when this skill", "replace this"].map((text) =>
      expect.objectContaining({ severity: "warning", message: expect.stringContaining(text), line: expect.any(Number) }),
    ),
  ]);
});

test("create makes a skill that test accepts; test finds what will not work", async () => {
  const here = commandLine();
  expect((await here.run("create", "release-notes", "--description", 'Write "release notes": all.')).out).toContain("skills test release-notes");
  expect(await here.run("test", "release-notes")).toMatchObject({ code: 0, out: expect.stringContaining("release-notes is ready") });
  expect(await here.run("create", "release-notes")).toMatchObject({ code: 1, err: expect.stringContaining("already exists") });
  expect(await here.run("create", "No Good")).toMatchObject({ code: 1, err: expect.stringContaining("cannot be the name") });
  here.write("bad/SKILL.md", SKILL("good", "", "See {baseDir}/scripts/none.sh\n\n```sh\nfrobnicate --all | sort\n```\n"));
  const bad = await here.run("test", "./bad", "--json");
  expect([bad.code, bad.json()]).toMatchObject([
    1,
    {
      ok: false,
      remarks: [
        { severity: "warning", message: expect.stringContaining("not that of its folder") },
        { severity: "error", message: "names {baseDir}/scripts/none.sh, which does not exist" },
        { severity: "error", message: "runs frobnicate, which is not in requires.bins", line: 9 },
      ],
    },
  ]);
});
