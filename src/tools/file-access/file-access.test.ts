import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import type { ApprovalRequest } from "../approvals/approvals.ts";
import type { ApprovalDecision } from "../broker/approval.ts";
import { findTool } from "../builtin/search/find.ts";
import { grepTool } from "../builtin/search/grep.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { createFileAccess, type FileAccess, type FileAccessDeps, type FileRules } from "./file-access.ts";
import { createFolderGrants } from "./grants.ts";
import { IN_HOME, OF_MACHINE } from "./known-places.ts";

let home: string;
let state: string;
let configFile: string;
let rules: FileRules;
let answer: ApprovalDecision;
let asked: ApprovalRequest[];
let nobody: string | undefined;
let skillsDecide: boolean;
const ids = createIds(seededRandom(1));

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "file-access-")));
  state = join(home, "state");
  configFile = join(home, "openclaw.json");
  mkdirSync(join(state, "workspace"), { recursive: true });
  rules = { workspaceOnly: false, outside: "ask", unseal: [] };
  answer = "deny";
  asked = [];
  nobody = undefined;
  skillsDecide = false;
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function access(over: Partial<FileAccessDeps> = {}): FileAccess {
  const own = {
    state,
    configFiles: [configFile, join(home, "policy.json5")],
    secrets: [],
    programs: [join(home, "program")],
    modules: [join(home, "node_modules")],
    searched: [join(home, "tools/bin")],
    records: [join(home, "log")],
    skills: [join(home, ".agents/skills")],
    homes: [home],
  };
  return createFileAccess({
    own: () => own,
    rules: () => rules,
    shared: [join(state, "media")],
    skillsDecide: () => skillsDecide,
    grants: createFolderGrants({ path: join(state, "file-approvals.json"), clock: systemClock, ids, log: silentLogger, homes: [home] }),
    approvals: {
      request: (request) => {
        asked.push(request);
        return Promise.resolve({ id: "1", createdAt: 0, expiresAt: 1, decision: Promise.resolve(answer) });
      },
    },
    unasked: () => nobody,
    log: silentLogger,
    ignoreCase: false,
    ...over,
  });
}

const caller = (workspaceDir: string): ToolContext => ({
  agentId: "main",
  sessionKey: "agent:main:main",
  sessionId: "s",
  runId: "r",
  workspaceDir,
  owner: true,
});

function filesOf(workspaceDir: string, over: Partial<FileAccessDeps> = {}): RootedFiles {
  return createRootedFiles({ check: access(over).check(caller(workspaceDir), { tool: "write" }), unique: () => ids.hex(6) });
}
const put = (path: string, content = "mine"): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
};
const SEALED = /is sealed/;

test("the state and every file of the configuration are neither read nor written, whether they are there or not", async () => {
  const files = filesOf(join(state, "workspace"));
  const own = [
    configFile,
    join(home, "policy.json5"),
    ...["exec-approvals.json", "extensions/evil/index.js", "agents/main/agent/auth-profiles.json", "workspaces", "gateway.lock"].map((name) =>
      join(state, name),
    ),
  ];
  for (const path of own) await expect(files.write(path, "{}"), path).rejects.toThrow(SEALED);
  expect(existsSync(join(state, "extensions")), "no folder is left behind either").toBe(false);
  for (const path of own) {
    put(path);
    await expect(files.open(path), path).rejects.toThrow(SEALED);
    await expect(files.remove(path), path).rejects.toThrow(SEALED);
    expect(readFileSync(path, "utf8")).toBe("mine");
  }
  await expect(files.folder(join(state, "agents"))).rejects.toThrow(SEALED);
});

test("what a restore or a reset leaves beside the state and the configuration is sealed like them", async () => {
  const time = "2026-02-19T10-00-00.000Z";
  const left = [
    ...["restore", "before-restore", "failed-restore"].map((kind) => join(`${state}.${kind}-${time}`, "openclaw.json")),
    `${configFile}.removed-${time}`,
    join(home, `.openclaw.before-restore-${time}`, "agents/main/agent/auth-profiles.json"),
    join(home, `.openclaw-work.failed-restore-${time}`, "openclaw.db"),
  ];
  const files = filesOf(join(state, "workspace"));
  for (const path of left) {
    put(path);
    await expect(files.open(path), path).rejects.toThrow(SEALED);
    await expect(files.write(path, "{}"), path).rejects.toThrow(SEALED);
  }
  const other = put(join(home, "state.txt"));
  await using opened = await files.open(other);
  expect(await opened.readFile("utf8")).toBe("mine");
});

test("what is there for agents stays reachable: workspaces, media, the agent's own session logs", async () => {
  const files = filesOf(join(state, "homes/main"));
  mkdirSync(join(state, "homes/main"), { recursive: true });
  for (const name of ["media/a", "homes/main/a"]) await files.write(join(state, name), "ok");
  expect(asked).toEqual([]);
  for (const name of ["workspace-other/a", "skills/x/SKILL.md", "agents/main/sessions/1.jsonl"]) {
    await using file = await files.open(put(join(state, name), "seen"));
    expect(String(await file.readFile())).toBe("seen");
  }
  await expect(files.write(join(state, "agents/main/sessions/1.jsonl"), "x")).rejects.toThrow(SEALED);
  await expect(files.open(put(join(state, "agents/other/sessions/1.jsonl")))).rejects.toThrow(SEALED);
  await expect(files.write(join(state, "homes/other/a"), "x")).rejects.toThrow(SEALED);
});

test("a write outside of the workspace is asked about, once for each folder of a call, and remembered when the answer is always", async () => {
  await expect(filesOf(join(state, "workspace")).write(join(home, "notes/a.txt"), "x")).rejects.toThrow(/refused.*denied/);
  expect(existsSync(join(home, "notes"))).toBe(false);
  answer = "allow-once";
  const files = filesOf(join(state, "workspace"));
  await files.write(join(home, "notes/a.txt"), "x");
  await files.write(join(home, "notes/b.txt"), "x");
  expect(asked).toHaveLength(2);
  expect(asked[1]!.request).toMatchObject({ title: `write ${join(home, "notes/a.txt")}`, cwd: join(home, "notes"), toolName: "write" });
  expect(String(asked[1]!.request["description"])).toContain(join(home, "notes"));
  answer = "allow-always";
  await filesOf(join(state, "workspace")).write(join(home, "notes/a.txt"), "y");
  answer = "deny";
  await filesOf(join(state, "workspace")).write(join(home, "notes/deep/c.txt"), "y");
  expect(asked).toHaveLength(3);
  await expect(filesOf(join(state, "workspace")).write(join(home, "other/c.txt"), "y")).rejects.toThrow(/denied/);
});

test("always in the home folder is about the files in it, not about everything below", async () => {
  answer = "allow-always";
  await filesOf(join(state, "workspace")).write(join(home, "a.txt"), "x");
  answer = "deny";
  await filesOf(join(state, "workspace")).write(join(home, "b.txt"), "x");
  await expect(filesOf(join(state, "workspace")).write(join(home, "below/b.txt"), "x")).rejects.toThrow(/denied/);
});

test("where nobody can be asked the write is refused and the reason given; allow and deny ask nobody", async () => {
  const path = join(home, "notes/a.txt");
  nobody = "approval is not possible during a scheduled run";
  await expect(filesOf(join(state, "workspace")).write(path, "x")).rejects.toThrow(/approval is not possible.*tools\.fs\.outside/);
  rules = { ...rules, outside: "allow" };
  await filesOf(join(state, "workspace")).write(path, "x");
  rules = { ...rules, outside: "deny" };
  await expect(filesOf(join(state, "workspace")).write(path, "x")).rejects.toThrow(/may not be written/);
  await using _ = await filesOf(join(state, "workspace")).open(path);
  rules = { ...rules, workspaceOnly: true };
  await expect(filesOf(join(state, "workspace")).open(path)).rejects.toThrow(/escapes/);
  expect(asked).toEqual([]);
});

test("sealed places stay sealed whatever is allowed; the configuration opens single ones by their path", async () => {
  rules = { ...rules, outside: "allow" };
  for (const name of [".ssh/authorized_keys", ".bashrc", ".config/autostart/x.desktop", "program/dist/cli.js"])
    await expect(filesOf(home).write(join(home, name), "x"), name).rejects.toThrow(SEALED);
  await expect(filesOf(home).open(put(join(home, ".ssh/id_ed25519")))).rejects.toThrow(SEALED);
  await using _ = await filesOf(home).open(put(join(home, ".bashrc")));
  rules = { ...rules, unseal: ["/", home, join(home, ".bashrc"), join(home, ".ssh/id_ed25519"), state] };
  await filesOf(home).write(join(home, ".bashrc"), "x");
  await using key = await filesOf(home).open(join(home, ".ssh/id_ed25519"));
  expect(String(await key.readFile())).toBe("mine");
  await expect(filesOf(home).write(join(home, ".ssh/authorized_keys"), "x")).rejects.toThrow(SEALED);
  await expect(filesOf(home).write(configFile, "x"), "a folder around it does not open a file of the configuration").rejects.toThrow(SEALED);
});

test("links, hard links and other spellings do not lead there, and a workspace around the state does not open it", async () => {
  rules = { ...rules, outside: "allow" };
  symlinkSync(state, join(home, "link"));
  put(join(state, "exec-approvals.json"));
  symlinkSync(join(state, "exec-approvals.json"), join(home, "notes.json"));
  for (const name of ["link/exec-approvals.json", "link/new/file", "notes.json", "state/x"])
    await expect(filesOf(home).write(join(home, name), "{}"), name).rejects.toThrow(SEALED);
  expect(readFileSync(join(state, "exec-approvals.json"), "utf8")).toBe("mine");
  await expect(filesOf(state).write(join(state, "exec-approvals.json"), "{}")).rejects.toThrow(SEALED);
  linkSync(put(join(home, ".ssh/id_rsa")), join(home, "innocent.txt"));
  await expect(filesOf(home).open(join(home, "innocent.txt"))).rejects.toThrow(SEALED);
  await expect(filesOf(home, { ignoreCase: true }).write(join(home, ".SSH/Authorized_Keys"), "x")).rejects.toThrow(SEALED);
});

test("skills that decide which programs run unasked are not an agent's to write", async () => {
  answer = "allow-once";
  skillsDecide = true;
  await expect(filesOf(join(state, "workspace")).write(join(state, "skills/x/SKILL.md"), "x")).rejects.toThrow(SEALED);
  await filesOf(join(state, "workspace")).write(join(state, "workspace/skills/x/SKILL.md"), "x");
  skillsDecide = false;
  await filesOf(join(state, "workspace")).write(join(state, "skills/x/SKILL.md"), "x");
});

test("the decision can be explained without asking anybody, and a path is checked before it is handed on", async () => {
  const one = access();
  const who = caller(join(state, "workspace"));
  expect(one.explainFile(who, join(state, "workspace/a")).write.decision).toBe("allow");
  expect(one.explainFile(who, join(home, "a")).write.decision).toBe("ask");
  expect(one.explainFile(who, join(home, "a")).read.decision).toBe("allow");
  expect(one.explainFile(who, join(home, ".netrc")).read).toMatchObject({
    decision: "deny",
    why: expect.stringContaining("credentials of a code host") as string,
  });
  put(configFile);
  for (const path of [
    configFile,
    `file://${configFile}`,
    "~/openclaw.json",
    "../../openclaw.json",
    `MEDIA: ${configFile}`,
    `file://${configFile.replace("openclaw.json", "%6Fpenclaw.json")}`,
    join(home, "x/../openclaw.json"),
  ])
    await expect(one.mayRead(who, path), path).rejects.toThrow(SEALED);
  for (const path of ["https://example.com/a.png", join(home, "a.png"), "data:image/png;base64,xx"]) await one.mayRead(who, path);
  expect(asked).toEqual([]);
});

/** Paths below a home folder that are neither read nor written, and those that are only not written. */
const HOME_SECRETS = `
  .cache/huggingface/token .kaggle/kaggle.json .config/sops/age/keys.txt .config/borg/keys/x .local/share/com.vercel.cli/auth.json .config/netlify/config.json .nuget/NuGet/NuGet.Config
  .subversion/auth/svn.simple/x .thunderbird/p/logins.json .config/Slack/Cookies .config/discord/Local&Storage/leveldb/1.log .config/solana/id.json .bitcoin/wallet.dat .electrum/wallets/default_wallet
  .Xauthority .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .rediscli_history .sqlite_history .irb-history .local/share/fish/fish_history
  Library/Keychains/login.keychain-db AppData/Roaming/Microsoft/Protect/x .claude/.credentials.json .codex/auth.json
  .env .env.local .doppler/.doppler.yaml .infisical/infisical-config.json .config/doppler/x .config/infisical/x .mc/config.json .mcli/config.json .config/mc/config.json .rclone.conf .cursor/mcp.json .mcp.json .expo/state.json
  .config/opencode/auth.json .dropbox/host.db .ansible/vault_pass .ansible/vault_pass.txt .vagrant.d/insecure_private_key .vagrant.d/insecure_private_keys/vagrant.key.ed25519 .config/atuin/key .config/pulumi/x .pulumi/credentials.json
  .config/rbw/config.json .config/.jira/.config.yml .config/linear/x .config/Claude/claude_desktop_config.json
`;
const HOME_PROGRAMS = `
  .bashrc.d/x.sh .local/bin/git bin/git .nvm/nvm.sh .pyenv/shims/python .asdf/asdf.sh .local/lib/python3.12/site-packages/usercustomize.py usercustomize.py sitecustomize.py .forward .procmailrc .Rprofile
  .irbrc .psqlrc .sqliterc .curlrc .wgetrc .envrc .claude/settings.json .cursor/hooks.json .config/mc/ini .ansible/x.py .vagrant.d/Vagrantfile .config/atuin/config.toml .config/Code/User/settings.json .config/Code/User/tasks.json .vscode/tasks.json .config/kitty/kitty.conf
  .config/alacritty/alacritty.toml .wezterm.lua .codex/config.toml .subversion/config Documents/PowerShell/profile.ps1
`;
const named = (text: string): readonly string[] =>
  text
    .trim()
    .split(/\s+/)
    .map((name) => name.replaceAll("&", " "));

test("credentials and start files of known programs are sealed in every home folder, whatever the case where that means nothing", () => {
  rules = { ...rules, outside: "allow" };
  for (const [at, one] of [
    [home, access()],
    ["/home/someone", access()],
    ["/mnt/c/Users/someone", access()],
    ["/Users/Someone", access({ ignoreCase: true })],
  ] as const) {
    const who = caller(join(state, "workspace"));
    for (const name of named(HOME_SECRETS)) {
      const found = one.explainFile(who, join(at, name));
      expect([found.read.decision, found.write.decision], `${at}/${name}`).toEqual(["deny", "deny"]);
    }
    for (const name of named(HOME_PROGRAMS)) {
      const found = one.explainFile(who, join(at, name));
      expect([found.read.decision, found.write.decision], `${at}/${name}`).toEqual(["allow", "deny"]);
    }
    for (const name of ["notes.txt", ".cache/x", "project/.envrc", "project/.vscode/tasks.json", "project/bin/x", "history.txt"])
      expect(one.explainFile(who, join(at, name)).write.decision, `${at}/${name}`).toBe("allow");
  }
  for (const path of ["/usr/local/bin/x", "/usr/local/sbin/x", "/etc/tmpfiles.d/x.conf", "/etc/binfmt.d/x.conf", "/etc/python3.12/sitecustomize.py"])
    expect(access().explainFile(caller(join(state, "workspace")), path), path).toMatchObject({ read: { decision: "allow" }, write: { decision: "deny" } });
  expect(access().explainFile(caller(join(state, "workspace")), "/etc/ssh/ssh_host_rsa_key").read.decision).toBe("deny");
});

test("a search over a home folder shows nothing of the sealed files in it, by content or by name of what lies in sealed folders", async () => {
  rules = { ...rules, outside: "allow" };
  for (const name of [...named(HOME_SECRETS), "notes.txt", ".ansible/hosts"]) put(join(home, name), `canary of ${name}`);
  const workspaceDir = join(state, "workspace");
  const deps = { ids, home, clock: systemClock, workspaceOnly: () => false, access: access() };
  const search = async (tool: Tool, params: Record<string, unknown>): Promise<string> => {
    const context = caller(workspaceDir);
    const { content } = await tool.run({ id: "c", params: { path: home, ...params }, signal: new AbortController().signal, update: () => undefined, context });
    return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  };
  const lines = await search(grepTool.create(deps), { pattern: "canary", limit: 1000 });
  expect(lines.match(/canary of \S+/g)?.sort()).toEqual(["canary of .ansible/hosts", "canary of notes.txt"]);
  const found = await search(findTool.create(deps), { pattern: "**/*", limit: 1000 });
  expect(found).toContain("notes.txt");
  expect(found).not.toMatch(/\.doppler\.yaml|host\.db|wallet\.dat|infisical-config/);
});

test("every known place has one reason, is written once, and stays inside of its tree", () => {
  for (const [table, isRoot] of [
    [IN_HOME, false],
    [OF_MACHINE, true],
  ] as const) {
    const paths = table.flatMap(([, , text]) => text.split(/\s+/));
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
    for (const path of paths) expect(path.startsWith("/"), path).toBe(isRoot);
    for (const path of paths) expect(path, path).not.toMatch(/\/$|\/\/|(?:^|\/)\.\.?(?:\/|$)/);
    for (const [, because] of table) expect(because).toMatch(/^(?:holds|is|lets|keeps|makes|runs|decides) .*[a-z]$/);
  }
});

test("a second name of a sealed file is sealed for commands and for what is handed on, and a folder that holds sealed files is known", async () => {
  const one = access();
  const workspace = join(state, "workspace");
  const who = caller(workspace);
  const plain = put(join(workspace, "plain.txt"));
  linkSync(plain, join(workspace, "twin.txt"));
  expect([plain, join(workspace, "twin.txt")].map((path) => one.isSealed(who, path))).toEqual([false, false]);
  expect(one.holdsSealed(who, workspace)).toBe(false);
  expect([state, home, "/"].map((folder) => one.holdsSealed(who, folder))).toEqual([false, true, true]);
  put(join(state, "exec-approvals.json"));
  expect(one.holdsSealed(who, state)).toBe(true);
  linkSync(put(join(home, ".kaggle/kaggle.json")), join(workspace, "innocent.txt"));
  expect(one.isSealed(who, join(workspace, "innocent.txt"))).toBe(true);
  expect(one.holdsSealed(who, workspace), "it may be anywhere in there").toBe(true);
  await expect(one.mayRead(who, join(workspace, "innocent.txt"))).rejects.toThrow(SEALED);
  expect(one.explainFile(who, join(workspace, "innocent.txt")).read.decision).toBe("deny");
  rules = { ...rules, unseal: [join(home, ".kaggle/kaggle.json")] };
  expect(one.isSealed(who, join(workspace, "innocent.txt"))).toBe(false);
});

test("folders that code and programs are taken from are not written, and neither is the log; skills elsewhere are code while they decide", () => {
  rules = { ...rules, outside: "allow" };
  const who = caller(join(state, "workspace"));
  for (const name of ["node_modules/x.js", "tools/bin/git", "log/today.log"])
    expect(access().explainFile(who, join(home, name)), name).toMatchObject({ read: { decision: "allow" }, write: { decision: "deny" } });
  expect(access().explainFile(who, join(home, ".agents/skills/x/SKILL.md")).write.decision).toBe("allow");
  skillsDecide = true;
  expect(access().explainFile(who, join(home, ".agents/skills/x/SKILL.md")).write.decision).toBe("deny");
});
