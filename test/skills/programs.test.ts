/** Installers, played by scripts on the path. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planInstall, waysOf } from "../../src/agent/index.ts";
import { systemClock } from "../../src/base/clock.ts";
import { loadSkillInstall, type InstallProgress, type ProgramDeps } from "../../src/plugins/index.ts";
import { fakePrograms } from "../setup/fake-programs.ts";
import { SKILL, skillPlace } from "./place.ts";

const { installHost, installProgram } = await loadSkillInstall();

async function install(
  option: object,
  scripts: Readonly<Record<string, string>>,
  over: { readonly env?: object; readonly timeoutMs?: number; readonly config?: object } = {},
) {
  const here = skillPlace();
  const machine = fakePrograms(here.home, scripts);
  const baseDir = here.write("skill", { "SKILL.md": SKILL("tool", "", "Use `sudo make`.\n") });
  const env = { PATH: `${machine.folder}:/usr/bin:/bin`, HOME: here.home, MY_TOKEN: "CANARY", ...over.env };
  const deps: ProgramDeps = { env, platform: "linux", toolsDir: join(here.home, "tools"), pid: process.pid, clock: systemClock, ids: here.deps.ids };
  // What the machine has beside the scripts does not count, and nobody is root here.
  const found = await installHost({ skills: { install: over.config ?? {} } }, { ...deps, env: { ...env, PATH: machine.folder } }, { withBrewBin: true });
  const host = { ...found, isRoot: false };
  const [way] = waysOf([option], "linux");
  const steps: InstallProgress[] = [];
  const outcome = await installProgram(
    {
      plan: planInstall(way!, host),
      skill: { name: "tool", key: "tool", baseDir },
      timeoutMs: over.timeoutMs,
      signal: new AbortController().signal,
      onProgress: (step) => steps.push(step),
    },
    deps,
  );
  return { outcome, steps, home: here.home, calls: machine.calls() };
}

const BREW = { kind: "brew", formula: "tool", bins: ["sh"] };
const NODE = { kind: "node", package: "@acme/tool" };

test("brew, with its output line by line and warnings about the skill", async () => {
  const { outcome, steps, calls } = await install(BREW, { brew: '[ "$1" = --prefix ] && echo /opt/brew; echo pouring' });
  expect(outcome).toEqual({ ok: true, message: "Installed", stdout: "pouring\n", stderr: "", code: 0, warnings: ["SKILL.md:6: uses sudo"] });
  expect(calls).toEqual(["brew --prefix", "brew install tool"]);
  expect(steps).toEqual([
    { step: 1, steps: 1, command: "brew install tool" },
    { step: 1, steps: 1, command: "brew install tool", text: "pouring" },
  ]);
});

test.each([
  ["npm", "npm install --global --ignore-scripts @acme/tool"],
  ["pnpm", "pnpm add --global --ignore-scripts @acme/tool"],
  ["yarn", "yarn global add --ignore-scripts @acme/tool"],
  ["bun", "bun add --global --ignore-scripts @acme/tool"],
])("%s runs no scripts and gets no secrets", async (nodeManager, command) => {
  const { outcome, calls, home } = await install(
    NODE,
    { [nodeManager]: 'export -p > "$HOME/seen"' },
    { config: { nodeManager }, env: { NODE_OPTIONS: "--require=/tmp/evil.js" } },
  );
  expect(outcome.ok).toBe(true);
  expect(calls).toEqual([command]);
  const seen = readFileSync(join(home, "seen"), "utf8");
  expect(seen).not.toMatch(/CANARY|NODE_OPTIONS/);
  expect(seen).toContain("npm_config_ignore_scripts");
});

test("go puts programs where Homebrew does, and comes from there when it is missing", async () => {
  const brew =
    'case "$1" in --prefix) echo /opt/brew;; install) printf "#!/bin/sh\\necho \\"go \\$* \\$GOBIN\\" > $HOME/go-ran\\n" > "$(dirname "$0")/go"; chmod +x "$(dirname "$0")/go";; esac';
  const { outcome, calls, home, steps } = await install({ kind: "go", module: "example.test/tool" }, { brew });
  expect(outcome).toMatchObject({ ok: true });
  expect(calls).toEqual(["brew --prefix", "brew install go"]);
  expect(steps.map(({ step, command }) => `${step} ${command}`)).toContain("2 GOBIN=/opt/brew/bin go install example.test/tool@latest");
  expect(readFileSync(join(home, "go-ran"), "utf8")).toContain("/opt/brew/bin");
});

test("uv, and what is installed but not on the path is said", async () => {
  const { outcome, calls } = await install({ kind: "uv", package: "tool", bins: ["tool-of-nobody"] }, { uv: "exit 0" });
  expect(calls).toEqual(["uv tool install tool"]);
  expect(outcome).toMatchObject({ ok: true, warnings: expect.arrayContaining([expect.stringContaining("tool-of-nobody cannot be found on PATH")]) });
});

test("a failure has the output and the code; the next step does not run", async () => {
  const { outcome, calls } = await install({ kind: "uv", package: "tool" }, { brew: '[ "$1" = --prefix ] || { echo no formula >&2; exit 3; }' });
  expect(outcome).toMatchObject({ ok: false, code: 3, stderr: "no formula\n", message: "brew install uv failed: exit code 3: no formula" });
  expect(calls).toEqual(["brew --prefix", "brew install uv"]);
});

test("an installer that takes too long is ended with everything it started", async () => {
  const { outcome } = await install(BREW, { brew: '[ "$1" = --prefix ] || sleep 600' }, { timeoutMs: 1000 });
  expect(outcome).toMatchObject({ ok: false, code: null, message: expect.stringContaining("did not end within") });
});

test("what cannot be run here is an outcome that says why", async () => {
  const { outcome } = await install(BREW, {});
  expect(outcome).toMatchObject({ ok: false, code: null, message: expect.stringContaining("https://brew.sh") });
});
