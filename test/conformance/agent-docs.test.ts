import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { compactionSettings, OVERFLOW_TEXT } from "../../src/agent/compaction/index.ts";
import { compactionSizes } from "../../src/agent/compaction/settings.ts";
import { BOOTSTRAP_MAX_CHARS, BOOTSTRAP_TOTAL_MAX_CHARS } from "../../src/agent/prompt/injected-files.ts";
import type { PromptFacts, PromptMode } from "../../src/agent/prompt/facts.ts";
import { buildSystemPrompt } from "../../src/agent/prompt/system-prompt.ts";
import { skillLimits } from "../../src/agent/skills/limits.ts";
import { skillRoots } from "../../src/agent/skills/roots.ts";
import { parseSkill } from "../../src/agent/skills/skill.ts";
import { INTERRUPTED, NOT_STARTED } from "../../src/agent/turn/tools.ts";
import { belongsTo } from "../../src/agent/workspace/bootstrap-files.ts";
import { BOOTSTRAP_NAMES, MEMORY_NAMES } from "../../src/agent/workspace/bootstrap-names.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadConfig, type OpenClawConfig } from "../../src/config/index.ts";
import { HOOKS, type HookName } from "../../src/hooks/index.ts";
import { parseCommandLine } from "../../src/tools/exec/command-line.ts";
import { judgePlan } from "../../src/tools/exec/judge.ts";
import { execSettings, type ExecAsk, type ExecSecurity } from "../../src/tools/exec/settings.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";
import { createExecRules } from "../../src/tools/exec/rules-file.ts";
import { DEFAULT_SAFE_BINS } from "../../src/tools/exec/safe-bins.ts";
import { textOutcome, type Tool } from "../../src/tools/index.ts";
import { openAgentFixture } from "../harness/agent-fixture.ts";
import { ROOT } from "../harness/gateway-process.ts";

const read = (page: string): string => readFileSync(join(ROOT, "docs/agent", page), "utf8");
const ticked = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!.replaceAll("\\|", "|"));
const blocksOf = (page: string, language: string): readonly string[] =>
  [...read(page).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter((match) => match[1] === language).map((match) => match[2]!);

/** The rows of the table whose header begins so, cell by cell. */
function rowsOf(page: string, header: string): readonly (readonly string[])[] {
  const lines = read(page).split("\n");
  const at = lines.findIndex((line) => line.startsWith(header));
  expect(at, `${page} has a table ${header}`).toBeGreaterThan(-1);
  const rows = lines.slice(at + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end < 0 ? rows.length : end).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function configOf(page: string, word: string): OpenClawConfig {
  const folder = mkdtempSync(join(tmpdir(), "agent-docs-"));
  const path = join(folder, "openclaw.json");
  writeFileSync(
    path,
    blocksOf(page, "json5").find((text) => text.includes(word))!,
  );
  return loadConfig({ path, env: {}, osHome: folder, cwd: folder }).snapshot.config;
}

test("the page about turns has the words for calls that a crash interrupted", () => {
  expect(blocksOf("turn.md", "text")).toEqual([`${INTERRUPTED}\n${NOT_STARTED}\n`]);
});

describe("the page about the prompt", () => {
  test("says which files go where", () => {
    const shown = rowsOf("prompt.md", "| file |").flatMap(([names, , ...where]) => ticked(names!).map((name) => [name, where.map((cell) => cell === "yes")]));
    const seen = (name: string): readonly boolean[] => (["all", "shared", "few"] as const).map((which) => belongsTo(which, name));
    expect(shown).toEqual([...BOOTSTRAP_NAMES.filter((name) => name !== "BOOTSTRAP.md"), "BOOTSTRAP.md", ...MEMORY_NAMES].map((name) => [name, seen(name)]));
  });

  test("shows the limits of files", () => {
    const { bootstrapMaxChars, bootstrapTotalMaxChars } = configOf("prompt.md", "bootstrapMaxChars").agents!.defaults!;
    expect([bootstrapMaxChars, bootstrapTotalMaxChars]).toEqual([BOOTSTRAP_MAX_CHARS, BOOTSTRAP_TOTAL_MAX_CHARS]);
  });

  test.each(["full", "minimal"] as const)("has the sections of the %s prompt in their order", (mode) => {
    const { text } = buildSystemPrompt(everything(mode));
    const found = [...text.matchAll(/^##? (.+)$/gm)].map((match) =>
      match[1]!.replace("Subagent Context", "Group Chat Context").replace(/^Channel: .*/, "Channel: …"),
    );
    const rows = rowsOf("prompt.md", "| section |").filter(([name]) => (mode === "full" ? !name!.endsWith("◦") : /[•◦]$/u.test(name!)));
    expect(rows.flatMap(([name]) => ticked(name!))).toEqual(found.filter((heading) => heading !== "AGENTS.md"));
  });

  test("has a skill that is one, the places of skills and their limits", () => {
    const { skill, problems } = parseSkill(blocksOf("prompt.md", "md")[0]!, { filePath: "", baseDir: "", folderName: "x", source: "openclaw-workspace" });
    expect([skill?.name, skill?.requires.bins, skill?.os, problems]).toEqual(["pdf-tables", ["pdftotext"], ["linux", "darwin"], []]);
    const roots = skillRoots({ home: "/h", stateFolder: "/s", workspace: "/w", extra: ["/x"], bundled: "/b" });
    expect(rowsOf("prompt.md", "| place |").map(([, source]) => ticked(source!)[0])).toEqual(roots.map(({ source }) => source));
    const limits = rowsOf("prompt.md", "| key of `skills.limits` |").map(([key, value]) => [ticked(key!)[0], Number(value)]);
    expect(Object.fromEntries(limits)).toEqual(skillLimits({}));
  });
});

function everything(mode: PromptMode): PromptFacts {
  const tool = (name: string) => ({ name, description: "", parameters: {} });
  return {
    mode,
    agentId: "main",
    workspaceDir: "/w",
    tools: ["read", "gateway", "message", "memory_search"].map(tool),
    skillsPrompt: "<available_skills></available_skills>",
    modelAliases: [{ alias: "a", model: "b/c" }],
    docsPath: "/docs",
    sandbox: { mode: "all", sandboxed: true },
    owners: ["1"],
    timezone: "UTC",
    heartbeatPrompt: "Look around.",
    host: {},
    files: { files: [{ name: "AGENTS.md", path: "/w/AGENTS.md", missing: false, rawChars: 1, truncated: false, text: "x" }], maxChars: 1, totalMaxChars: 1 },
    turn: { channel: "telegram", reactions: "minimal", voiceHint: "v", thinkTags: true, inbound: "{}", instructions: "i" },
  };
}

describe("the page about compaction", () => {
  test("shows the defaults", () => {
    const { compaction } = configOf("compaction.md", "compaction").agents!.defaults!;
    expect(compactionSettings(compaction)).toEqual(compactionSettings());
    expect(compactionSettings()).toMatchObject(compaction!);
  });

  test("has the sizes for each window, and the text of an overflow", () => {
    const number = (cell: string): number => Number(cell.replaceAll(",", ""));
    for (const row of rowsOf("compaction.md", "| window |")) {
      const [window, ...shown] = row.map(number);
      const { limit, keep, summary } = compactionSizes(window!, compactionSettings());
      expect([window, ...shown]).toEqual([window, limit, keep, summary]);
    }
    expect(blocksOf("compaction.md", "text")).toEqual([`${OVERFLOW_TEXT}\n`]);
  });
});

describe("the page about commands", () => {
  const plan = planCommand({ command: "/bin/ls", cwd: "/", host: "gateway", path: "/bin" });
  const words = { run: "runs", ask: "asks", deny: "refused" };
  const levels = (cell: string): readonly ExecAsk[] => (cell === "any" ? ["off", "on-miss", "always"] : (ticked(cell) as ExecAsk[]));

  test.each(rowsOf("commands.md", "| `security` |"))("with security %s and ask %s", (security, asks, covered, not) => {
    const judged = (ask: ExecAsk, allowlist: { readonly pattern: string }[]): string =>
      words[judgePlan(plan, { security: ticked(security)[0] as ExecSecurity, ask, allowlist, home: "/h", ignoreCase: false }).kind];
    for (const ask of levels(asks)) expect([judged(ask, [{ pattern: "/bin/ls" }]), judged(ask, [])]).toEqual([covered, not]);
  });

  test("shows the defaults of `exec`", () => {
    const { host, security, ask } = execSettings({ tools: { exec: { host: "gateway" } } }, "main");
    expect({ host, security, ask }).toEqual(configOf("commands.md", "on-miss").tools!.exec);
    expect(execSettings({}, "main").host).toBe("sandbox");
    const shown = new Map(rowsOf("commands.md", "| key of `tools.exec`").map(([key, , value]) => [ticked(key!)[0]!, value!]));
    const { backgroundMs, timeoutMs, notifyOnExit, notifyOnExitEmptySuccess } = execSettings({}, "main");
    expect(ticked(shown.get("safeBins")!)).toEqual(DEFAULT_SAFE_BINS);
    expect([shown.get("backgroundMs"), Number(shown.get("timeoutSec")) * 1000]).toEqual([String(backgroundMs), timeoutMs]);
    expect([shown.get("notifyOnExit"), shown.get("notifyOnExitEmptySuccess")]).toEqual([String(notifyOnExit), String(notifyOnExitEmptySuccess)]);
  });

  test.each(rowsOf("commands.md", "| line |").map(([line, is]) => [ticked(line!)[0]!, is!]))("%s is read word by word: %s", (line, is) => {
    expect(parseCommandLine(line) === undefined ? "no" : "yes").toBe(is);
  });

  test("has rules that are taken as they stand there", () => {
    const path = join(mkdtempSync(join(tmpdir(), "agent-docs-")), "exec-approvals.json");
    const [text] = blocksOf("commands.md", "json");
    writeFileSync(path, text!);
    const rules = createExecRules({ path, clock: systemClock, ids: createIds(systemRandom), random: systemRandom });
    const { allowlist, askFallback, ...levelsOf } = rules.effective("main", { security: "full", ask: "off" });
    expect(levelsOf).toMatchObject({ security: "allowlist", ask: "on-miss" });
    expect([askFallback, allowlist.map(({ pattern }) => pattern).sort()]).toEqual(["deny", ["/usr/bin/git", "/usr/bin/uptime", "~/bin/*"]]);
  });
});

test("the page about hooks has the sequence of a turn with two calls", async () => {
  const steps: string[] = [];
  const tool = (name: string): Tool => ({
    name,
    description: "",
    parameters: { type: "object" },
    source: { kind: "core" },
    run: () => (steps.push("()"), Promise.resolve(textOutcome(name))),
  });
  const at = await openAgentFixture({
    says: [() => (steps.push("()"), { calls: [{ name: "one" }, { name: "two" }] }), () => (steps.push("()"), "done")],
    tools: ["one", "two"].map(tool),
  });
  onTestFinished(() => at[Symbol.asyncDispose]());
  const shown = blocksOf("hooks.md", "text")[0]!
    .trim()
    .split("\n")
    .map((line) => (line.startsWith(" ") ? "()" : line.split(" ")[0]!));
  for (const hook of Object.keys(HOOKS) as HookName[]) at.hooks.on(hook, () => void steps.push(hook), { pluginId: "test", trusted: true });
  await at.turn("go");
  await new Promise((resolve) => setImmediate(resolve));
  expect(shown).toEqual(steps);
});
