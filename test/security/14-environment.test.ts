/** 14: variables that make a program run foreign code, through a call or from the gateway's own environment. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inheritedEnvironment } from "../../src/base/inherited-environment.ts";
import { startChild } from "../../src/base/spawn.ts";
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
      /use letters, digits/,
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

test("a command inherits what is known to be harmless and nothing else", () => {
  const secrets = [
    "OPENCLAW_GATEWAY_TOKEN",
    "OPENCLAW_GATEWAY_PASSWORD",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY_2",
    "ANTHROPIC_OAUTH_TOKEN",
    "OPENROUTER_API_KEYS",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "TELEGRAM_BOT_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "DATABASE_URL",
    "MONKEY",
    "XDG_SECRET_TOKEN",
    "LC_API_KEY",
  ];
  const others = ["PATH", "HOME", "OPENCLAW_STATE_DIR", "LC_ALL", "XDG_RUNTIME_DIR", "https_proxy", "SSH_AUTH_SOCK", "JAVA_HOME", "AWS_PROFILE"];
  const env = Object.fromEntries([...secrets, ...others].map((name) => [name, "x"]));
  expect(Object.keys(inheritedEnvironment(env))).toEqual(others);
  expect(Object.keys(inheritedEnvironment(env, ["gh_token", "AWS_*", "*", ""]))).toEqual(["GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", ...others]);
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
