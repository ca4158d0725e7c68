/** 14: variables that make a program run foreign code, through a call or from the gateway's own environment. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../../src/base/spawn.ts";
import { inheritedEnvironment } from "../../src/tools/exec/environment.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";

const DANGEROUS = [
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "LD_AUDIT",
  "DYLD_INSERT_LIBRARIES",
  "NODE_OPTIONS",
  "NODE_PATH",
  "PYTHONPATH",
  "PYTHONHOME",
  "PYTHONSTARTUP",
  "RUBYLIB",
  "RUBYOPT",
  "PERL5LIB",
  "PERL5OPT",
  "BASH_ENV",
  "ENV",
  "GCONV_PATH",
  "IFS",
  "SSLKEYLOGFILE",
  "ZDOTDIR",
  "PROMPT_COMMAND",
  "SHELLOPTS",
  "BASHOPTS",
  "ld_preload",
  "Node_Options",
];

test.each(["gateway", "sandbox", "node"] as const)("a call may not set them (host %s)", (host) => {
  for (const name of DANGEROUS) {
    expect(() => planCommand({ command: "true", cwd: "/", host, path: "/bin", env: { [name]: "x" } }), name).toThrow(/^Security Violation: /);
  }
});

test("names that are no names are refused: they could smuggle others", () => {
  for (const name of ["", "A=B", "BASH_FUNC_ls%%", "A B", "A\nLD_PRELOAD", "A\0"]) {
    expect(() => planCommand({ command: "true", cwd: "/", host: "gateway", path: "/bin", env: { [name]: "x" } }), JSON.stringify(name)).toThrow(
      /names are letters/,
    );
  }
  expect(() => planCommand({ command: "true", cwd: "/", host: "gateway", path: "/bin", env: { A: "x\0y" } })).toThrow(/null character/);
});

test("the gateway's own ones do not reach a child", async () => {
  let text = "";
  const env = { PATH: "/usr/bin:/bin", KEPT: "yes", ...Object.fromEntries(DANGEROUS.map((name) => [name, "x"])), "BASH_FUNC_env%%": "() { :; }" };
  const child = await startChild("/usr/bin/env", { args: [], cwd: tmpdir(), env, onOutput: (_, chunk) => void (text += chunk.toString()) });
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(text.trim().split("\n").sort()).toEqual(["KEPT=yes", "PATH=/usr/bin:/bin"]);
});

test("keys of providers and the gateway's own secrets do not reach a command; what else there is does", () => {
  const secrets = [
    "OPENCLAW_GATEWAY_TOKEN",
    "OPENCLAW_GATEWAY_PASSWORD",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY_2",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENROUTER_API_KEYS",
    "COPILOT_GITHUB_TOKEN",
  ];
  const others = ["PATH", "HOME", "GH_TOKEN", "OPENCLAW_STATE_DIR", "MONKEY", "API_KEYBOARD"];
  expect(Object.keys(inheritedEnvironment(Object.fromEntries([...secrets, ...others].map((name) => [name, "x"]))))).toEqual(others);
});

test("no other file of this program starts children", () => {
  const root = join(import.meta.dirname, "../../src");
  const starters = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter(
      (path) =>
        path.endsWith(".ts") &&
        !path.endsWith(".test.ts") &&
        /from "node:child_process"|import\("node:child_process"\)/.test(readFileSync(join(root, path), "utf8")),
    )
    .sort();
  expect(starters).toContain("base/spawn.ts");
  expect(starters.filter((path) => path.startsWith("tools/") || path.startsWith("agent/"))).toEqual([]);
});
