import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseDotenv } from "./environment.ts";
import { addEnvBlock, readEnvironmentFiles, substitute, type MissingVariable } from "./environment.ts";
import { importShellVariables, SHELL_VARIABLES, shellImportTimeout } from "./shell-environment.ts";
import { diskFiles } from "./source-files.ts";

function folder(dotenv?: string): string {
  const path = mkdtempSync(join(tmpdir(), "config-env-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  if (dotenv !== undefined) writeFileSync(join(path, ".env"), dotenv);
  return path;
}

test(".env: export, remarks, quotes, line breaks in quotes", () => {
  const text = `# top\nA=1\nexport B = two # remark\nC='# kept $x'\nD="line\\nbreak \\"q\\""\nE=\nF="two\nlines"\nnot a line\nG=a#b\r\nH=\`x\``;
  expect(Object.fromEntries(parseDotenv(text))).toEqual({ A: "1", B: "two", C: "# kept $x", D: 'line\nbreak "q"', E: "", F: "two\nlines", G: "a#b", H: "x" });
});

test("process, then .env of the working folder, then of the state folder; what is set stays", () => {
  const cwd = folder("A=cwd\nB=cwd\nC=cwd");
  const state = folder("B=state\nD=state");
  const { env, files } = readEnvironmentFiles({ A: "process", E: "" }, { cwd, state }, diskFiles);
  expect(env).toEqual({ A: "process", B: "cwd", C: "cwd", D: "state", E: "" });
  expect(files).toEqual([join(cwd, ".env"), join(state, ".env")]);
});

test("the .env of a folder one happens to be in cannot choose our files, and no file can make programs load code", () => {
  const cwd = folder("OPENCLAW_CONFIG_PATH=/evil\nOPENCLAW_STATE_DIR=/evil\nLD_PRELOAD=/evil.so\nOPENAI_API_KEY=k");
  const state = folder("NODE_OPTIONS=--import=/evil.js\nOPENCLAW_GATEWAY_TOKEN=t");
  const { env, refused } = readEnvironmentFiles({}, { cwd, state }, diskFiles);
  expect(env).toEqual({ OPENAI_API_KEY: "k", OPENCLAW_GATEWAY_TOKEN: "t" });
  expect(refused.map((text) => text.split(" ")[0])).toEqual(["OPENCLAW_CONFIG_PATH", "OPENCLAW_STATE_DIR", "LD_PRELOAD", "NODE_OPTIONS"]);
});

test("the env block: vars and flat strings, the flat form wins, set variables stay, blank ones do not count as set", () => {
  const config = { env: { vars: { A: "vars", B: "vars", C: "vars" }, B: "flat", shellEnv: { enabled: true }, D: "${B}!" } };
  expect(addEnvBlock({ A: "set", C: " " }, config)).toEqual({ A: "set", B: "flat", C: "vars", D: "flat!" });
});

test("${VAR} is replaced in values, $${VAR} is literal, other text stays", () => {
  const missing: MissingVariable[] = [];
  const value = { a: "${X}/${Y}", "${X}": ["$${X}", "${lower}", "${}", "$X", "${X-default}"], n: 1 };
  expect(substitute(value, { X: "x", Y: "y" }, missing)).toEqual({ a: "x/y", "${X}": ["${X}", "${lower}", "${}", "$X", "${X-default}"], n: 1 });
  expect(missing).toEqual([]);
});

test("a variable that is unset or empty is named with its place", () => {
  const missing: MissingVariable[] = [];
  substitute({ a: { b: [{ c: "${X}" }] }, d: "${EMPTY}" }, { EMPTY: "" }, missing);
  expect(missing.map(({ message }) => message)).toEqual([
    'Missing env var "X" referenced at config path: a.b[0].c',
    'Missing env var "EMPTY" referenced at config path: d',
  ]);
});

test("the value of a variable is not searched for variables again", () => {
  expect(substitute("${A}", { A: "${B}", B: "b" }, [])).toBe("${B}");
});

test("the login shell is asked only when enabled, not deferred, and none of its variables is set", () => {
  const enabled = { env: { shellEnv: { enabled: true } } };
  expect(shellImportTimeout({}, {})).toBeUndefined();
  expect(shellImportTimeout(enabled, {})).toBe(15_000);
  expect(shellImportTimeout({}, { OPENCLAW_LOAD_SHELL_ENV: "yes", OPENCLAW_SHELL_ENV_TIMEOUT_MS: "50" })).toBe(50);
  expect(shellImportTimeout({ env: { shellEnv: { enabled: true, timeoutMs: 7 } } }, {})).toBe(7);
  expect(shellImportTimeout(enabled, { OPENCLAW_DEFER_SHELL_ENV_FALLBACK: "1" })).toBeUndefined();
  expect(shellImportTimeout(enabled, { SLACK_APP_TOKEN: "x" })).toBeUndefined();
});

test("only known variables that are missing are taken from the shell", async () => {
  const calls: unknown[] = [];
  const run = async (...call: unknown[]) => (calls.push(call), "banner\0OPENAI_API_KEY=k=1\0PATH=/x\0GEMINI_API_KEY=\0");
  expect(await importShellVariables({ SHELL: "/bin/zsh" }, 5, run)).toEqual({ OPENAI_API_KEY: "k=1" });
  expect(await importShellVariables({ SHELL: "zsh", OPENAI_API_KEY: "set" }, 5, run)).toEqual({});
  expect(calls).toEqual([
    ["/bin/zsh", ["-l", "-c", "env -0"], { timeoutMs: 5 }],
    ["/bin/sh", ["-l", "-c", "env -0"], { timeoutMs: 5 }],
  ]);
  expect(SHELL_VARIABLES).toHaveLength(16);
});
