/** 41: "always allow" was stored for a program that can run others, or held for a script that was rewritten afterwards. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planCommand, pinPlan } from "../../src/tools/exec/plan.ts";
import { fixture, SOON, text, withStore, type Fixture } from "../../src/tools/exec/exec.fixture.ts";
import { pinnedFiles } from "../../src/tools/exec/remember/pins.ts";
import { rememberable } from "../../src/tools/exec/remember/rule.ts";
import { knownRunners } from "../../src/tools/exec/remember/runners.ts";
import { riskyAllowlistEntries } from "../../src/tools/index.ts";

withStore();
const bin = realpathSync(mkdtempSync(join(tmpdir(), "always-bin-")));

function program(path: string, body = "exit 0"): string {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
for (const name of knownRunners().filter((one) => /^[\w.+-]+$/.test(one))) program(join(bin, name));
program(join(bin, "mytool"));
program(join(bin, "python3.12"));

let houses = 0;
/** Each on an agent of its own: the store is shared. */
function place(rules?: unknown): Fixture & { always(command: string): Promise<void>; asks(command: string): Promise<boolean>; question(): Promise<string> } {
  const agentId = `agent-${(houses += 1)}`;
  const there = fixture({ tools: { exec: { host: "gateway" } } }, { env: { PATH: `${bin}:/usr/bin:/bin`, SHELL: "/bin/sh" } }, rules, agentId);
  const pending = (details: unknown): string | undefined => (details as { approvalId?: string }).approvalId;
  return {
    ...there,
    async always(command) {
      const id = pending((await there.exec({ command })).details);
      expect(id, `${command} is asked about`).toBeDefined();
      const before = there.announced.length;
      await there.approvals.resolve(id!, "allow-always");
      await expect.poll(() => there.announced.length, SOON).toBe(before + 1);
    },
    async asks(command) {
      const outcome = await there.exec({ command });
      const id = pending(outcome.details);
      if (id !== undefined) await there.approvals.resolve(id, "deny");
      else expect(outcome.details, text(outcome)).toMatchObject({ status: "completed" });
      return id !== undefined;
    },
    async question() {
      return JSON.stringify((await there.approvals.list()).map(({ request }) => (request as { always: string }).always));
    },
  };
}

test("every program of the corpus is stored with its exact arguments, or not at all", () => {
  expect(knownRunners().length).toBeGreaterThan(300);
  const folders = { workspace: bin, home: bin };
  for (const name of knownRunners().filter((one) => /^[\w.+-]+$/.test(one) && one !== "time")) {
    const plan = planCommand({ command: `${name} one`, cwd: bin, host: "gateway", path: bin });
    const [stored] = rememberable(pinPlan(plan, pinnedFiles(plan, bin)), folders);
    if (stored?.kind === "rule") expect(stored.rule, name).toMatchObject({ kind: "exact", args: ["one"], cwd: bin });
    else expect(stored, name).toMatchObject({ kind: "never", why: expect.stringMatching(/\w/) });
  }
});

test.each([
  ["git", "git status", "git status", "git -c alias.x=!id x", "git clone ext::id", "git commit"],
  ["tar", "tar tf a", "tar tf a --checkpoint=1 --checkpoint-action=exec=id", "tar xf a --to-command=id", "tar tf b"],
  ["make", "make test", "make test SHELL=/x", "make -f other"],
  ["sqlite3", "sqlite3 db .tables", "sqlite3 db '.shell id'"],
  ["zip", "zip -r a.zip d", "zip -r a.zip d -T -TT id"],
  ["gcc", "gcc a.c", "gcc -wrapper id a.c", "gcc a.c -fplugin=./x.so"],
  ["dpkg", "dpkg -l", "dpkg -i x.deb", "dpkg --pre-invoke=id -i x"],
  ["apt-get", "apt-get update", "apt-get update -o APT::Update::Pre-Invoke::=id"],
  ["rsync", "rsync a b", "rsync -e id a b"],
  ["find", "find .", "find . -exec id ;"],
  ["npm", "npm test", "npm exec id"],
  ["env", "env", "env id"],
  ["python3.12", "/usr/bin/env python3.12", "python3.12 -c x"],
])("%s: a harmless call that is always allowed lets no other one run", async (_, harmless, ...others) => {
  await using there = place();
  await there.always(harmless);
  for (const other of others) expect(await there.asks(other), other).toBe(true);
});

test("the same command line runs unasked again, with other options it is asked about", async () => {
  await using there = place();
  await there.always("tar tf a");
  expect(await there.asks("tar tf a")).toBe(false);
  await there.always("mytool sync --all");
  expect(await there.asks("mytool sync --all")).toBe(false);
  for (const other of ["mytool sync", "mytool --all sync", "mytool sync --all x", "mytool run id", "mytool"]) expect(await there.asks(other), other).toBe(true);
});

test("programs that only read take other operands, inside the workspace and with the same options", async () => {
  await using there = place();
  writeFileSync(join(there.workspace, "a"), "a");
  writeFileSync(join(there.workspace, "b"), "b");
  symlinkSync("/etc", join(there.workspace, "link"));
  await there.always("ls -l a");
  for (const other of ["ls -l b", "ls -l", "ls -l a b", "ls -l -- a"].slice(0, 3)) expect(await there.asks(other), other).toBe(false);
  for (const other of ["ls a", "ls -lR a", "ls -l /etc/passwd", "ls -l ../x", "ls -l link/passwd", "ls -l link/../passwd", "ls -l -- a"])
    expect(await there.asks(other), other).toBe(true);
});

test("what reads commands from its input is asked about, whatever was allowed before", async () => {
  await using there = place();
  await there.always("sqlite3 db .tables");
  await there.always("echo .tables");
  await there.always("mytool");
  expect(await there.asks("echo .shell | mytool")).toBe(true);
  expect(await there.asks("echo .shell | sqlite3 db .tables")).toBe(true);
  expect(await there.asks("mytool <<'E'\nx\nE")).toBe(true);
});

test("a script that was rewritten, replaced or linked elsewhere after it was allowed is asked about again", async () => {
  await using there = place();
  const script = program(join(there.workspace, "build.sh"), "echo built");
  await there.always("./build.sh --fast");
  expect(await there.asks("./build.sh --fast")).toBe(false);
  program(script, "touch stolen");
  expect(await there.asks("./build.sh --fast")).toBe(true);
  program(script, "echo built");
  expect(await there.asks("./build.sh --fast"), "as it was allowed").toBe(false);
  rmSync(script);
  symlinkSync(program(join(there.workspace, "evil.sh"), "touch stolen"), script);
  expect(await there.asks("./build.sh --fast")).toBe(true);
  expect(existsSync(join(there.workspace, "stolen"))).toBe(false);
});

test("a script that another program is given counts too", async () => {
  await using there = place();
  const script = program(join(there.workspace, "job.sh"), "echo job");
  await there.always("mytool job.sh");
  expect(await there.asks("mytool job.sh")).toBe(false);
  program(script, "touch stolen");
  expect(await there.asks("mytool job.sh")).toBe(true);
});

test.each([
  ["an interpreter that can be rewritten", "#!%ws/interp\necho hi\n"],
  ["an interpreter with options of env", "#!/usr/bin/env -S %ws/interp\necho hi\n"],
  ["a language that loads modules from its folder", "#!/usr/bin/python3\nimport helper\n"],
  ["a file that it sources", "#!/bin/sh\n. ./lib.sh\n"],
  ["a program beside it", "#!/bin/sh\n./other\n"],
  ["a file that is there, by its bare name", "#!/bin/sh\nsh lib.sh\n"],
  ["a program that runs what files say", "#!/bin/sh\ncd sub && make\n"],
  ["a repository", "#!/bin/sh\ngit status\n"],
])("a script is not remembered when it uses %s", async (_, text) => {
  await using there = place();
  for (const name of ["interp", "lib.sh", "other"]) program(join(there.workspace, name), "echo ok");
  program(join(there.workspace, "s.sh"), "");
  writeFileSync(join(there.workspace, "s.sh"), text.replaceAll("%ws", there.workspace));
  await there.always("./s.sh");
  expect(await there.asks("./s.sh")).toBe(true);
});

test.each(["ps aux", "getent passwd", "docker inspect x"])(
  "%s: words behind it can be options or other databases, so nothing else is covered",
  async (line) => {
    await using there = place();
    await there.always(line);
    for (const more of [`${line}e`, `${line} e`, line.replace(/\S+$/, "shadow")]) expect(await there.asks(more), more).toBe(true);
  },
);

test("a line that rewrites an allowed script before its turn is asked about", async () => {
  await using there = place();
  program(join(there.workspace, "run.sh"), "echo ran");
  program(join(there.workspace, "evil.sh"), "touch stolen");
  await there.always("./run.sh");
  await there.always("cp evil.sh run.sh.new");
  expect(await there.asks("cp evil.sh run.sh.new && ./run.sh")).toBe(true);
  expect(await there.asks("./run.sh")).toBe(false);
});

test("an approval holds for the script that was asked about, not for what is in it when the answer comes", async () => {
  await using there = place();
  const script = program(join(there.workspace, "once.sh"), "echo harmless");
  const { approvalId } = (await there.exec({ command: "sh once.sh" })).details as { approvalId: string };
  program(script, "touch stolen");
  await there.approvals.resolve(approvalId, "allow-once");
  await expect.poll(() => there.announced[0], SOON).toMatch(/^Exec denied .*changed-since-asked.*once\.sh was changed/);
  expect(existsSync(join(there.workspace, "stolen"))).toBe(false);
});

test("the question says what always would remember", async () => {
  await using there = place();
  for (const command of ["mytool sync --all", "ls -l", "python3.12 x.py", "ls > x", "ls && npm test"]) await there.exec({ command });
  const said = await there.question();
  expect(said).toContain(`exactly ${join(bin, "mytool")} sync --all in ${there.workspace}`);
  expect(said).toMatch(/ls -l with any names or files in /);
  expect(said).toContain("Remembers nothing for python3.12: runs any program text it is given");
  expect(said).toContain("Remembers nothing: only the shell knows");
  expect(said).toContain("The whole line needs approval again next time.");
});

test("nothing goes into the file; what a user wrote there stays valid, and what is risky about it is named", async () => {
  const git = join(bin, "git");
  await using there = place({ version: 1, agents: { "*": { allowlist: [{ pattern: git }, { pattern: `${bin}/mytool` }, { pattern: `${bin}/*` }] } } });
  expect(await there.asks("git -c alias.x=y x")).toBe(false);
  const { agents } = JSON.parse(readFileSync(there.rulesPath, "utf8")) as { agents: Record<string, { allowlist: { pattern: string }[] }> };
  expect(agents["*"]!.allowlist.map(({ pattern }) => pattern)).toEqual([git, `${bin}/mytool`, `${bin}/*`]);
  const risky = riskyAllowlistEntries({ file: { agents }, safeBins: ["head", "jq", "git"], path: bin, home: bin });
  expect(risky).toMatchObject([
    { scope: "*", pattern: git, kind: "project", programs: [git], reason: expect.stringContaining("aliases") },
    { scope: "*", pattern: `${bin}/*`, kind: "project", reason: expect.stringMatching(/the wildcard covers programs that can start others: .* and \d+ more/) },
    { scope: "tools.exec.safeBins", pattern: "git" },
  ]);
  await using other = place({ version: 1 });
  await other.always("mytool x");
  expect(readFileSync(other.rulesPath, "utf8")).not.toContain("mytool");
});
