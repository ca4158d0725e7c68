import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";
import { installPackage } from "../harness/packages.ts";

/** The shell, installed where this machine allows it. */
function shellAt(name: string): string | undefined {
  const path = `/usr/bin/${name}`;
  return existsSync(path) || (installPackage(name) && existsSync(path)) ? path : undefined;
}

const place = makePlace();

/** What a shell says that runs a script with the completion in `script`. */
function inShell(shell: string, script: string, args: readonly string[] = []): string {
  const made = place.cli("completion", "--shell", shell);
  expect(made.code).toBe(0);
  writeFileSync(join(place.home, "script"), made.stdout);
  const { stdout, stderr } = spawnSync(`/usr/bin/${shell}`, [...args, "-c", script], {
    cwd: place.home,
    env: { PATH: process.env["PATH"], HOME: place.home },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout;
}

test("bash completes commands, those below them and flags; the value of a flag is no command", () => {
  const words = (line: string): string => `set -- ${line}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _openclaw; echo "\${COMPREPLY[*]}";`;
  const lines = [
    "openclaw gat",
    "openclaw gateway st",
    "openclaw --profile nodes cro",
    "openclaw nodes camera ''",
    "openclaw cron add --na",
    "openclaw gateway --po",
  ];
  const said = inShell("bash", `source ./script; ${lines.map(words).join(" ")}`);
  expect(said.split("\n")).toEqual(["gateway", "status start stop", "cron", "list snap clip", "--name", "--port", ""]);
});

test("zsh completes them with what they mean", (context) => {
  if (!shellAt("zsh")) context.skip("needs zsh, as root on Debian: apt-get install zsh");
  // Instead of drawing a list, it is printed.
  const shown = `_describe() { [ "$1" = -o ] && shift; local -a list; list=("\${(@P)2}"); print -rl -- "$1" $list; }; _files() { print files; };`;
  const words = (line: string): string => `words=(${line}); CURRENT=$#words; _openclaw;`;
  const said = inShell("zsh", `compdef() { :; }; source ./script; ${shown} ${["openclaw devices ''", "openclaw gateway run --port ''"].map(words).join(" ")}`, [
    "-f",
  ]);
  expect(said.split("\n")).toEqual([
    "command",
    "list:List pending and paired devices",
    ...Array.from({ length: 6 }, () => expect.stringMatching(/^[a-z]+:./)),
    "files",
    "",
  ]);
});

test("fish completes them with what they mean", (context) => {
  if (!shellAt("fish")) context.skip("needs fish, as root on Debian: apt-get install fish");
  const said = inShell("fish", `source ./script; complete -C "openclaw gateway st"; complete -C "openclaw cron add --na"`, ["--no-config"]);
  expect(said.split("\n").map((line) => line.split("\t")[0])).toEqual(["start", "status", "stop", "--name", ""]);
});

test("--install adds one line to the shell's start file, once, and keeps what is there", () => {
  writeFileSync(join(place.home, ".bashrc"), "alias ll='ls -l'");
  for (let at = 0; at < 2; at += 1) expect(place.cli("completion", "--shell", "bash", "--install", "--yes").code).toBe(0);
  const file = join(place.stateDir, "completions", "openclaw.bash");
  expect(readFileSync(join(place.home, ".bashrc"), "utf8")).toBe(`alias ll='ls -l'\n\n# OpenClaw completion\n[ -f '${file}' ] && source '${file}'\n`);
  expect(readFileSync(file, "utf8")).toBe(place.cli("completion", "--shell", "bash").stdout);
  expect(place.cli("completion", "--shell", "zsh", "--install")).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  expect(place.cli("completion", "--shell", "ksh")).toMatchObject({ code: 1, stderr: expect.stringContaining("zsh, bash, fish, powershell") });
});

test("old names of commands work and are not listed", () => {
  const { stdout } = place.cli("--help");
  expect(stdout).not.toMatch(/daemon|clawbot|exec-approvals/);
  expect(place.cli("daemon", "install", "--print")).toMatchObject({ code: 0, stdout: place.cli("gateway", "install", "--print").stdout });
  expect(place.cli("exec-approvals", "get", "--json").code).toBe(0);
});
