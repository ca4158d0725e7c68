import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import { homeFolder, stateFolder } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { GLOBAL_OPTIONS } from "../../help.ts";
import { printJson, type Io } from "../../io.ts";
import { EXTENSIONS, scriptFor, SHELLS, type Shell } from "./scripts.ts";
import { placesOf } from "./tree.ts";

function shellOf(asked: string | undefined, io: Io): Shell {
  const name = asked ?? (io.env["SHELL"]?.split("/").at(-1) || "zsh");
  const found = SHELLS.find((shell) => shell === name);
  if (found) return found;
  if (asked === undefined) return "zsh";
  throw new AppError("INVALID_INPUT", `--shell takes ${SHELLS.join(", ")}, not "${asked}"`);
}

async function scriptOf(shell: Shell): Promise<string> {
  const { COMMANDS } = await import("../index.ts");
  return scriptFor(
    shell,
    await placesOf(
      COMMANDS.filter(({ isAlias }) => !isAlias),
      GLOBAL_OPTIONS,
      [],
    ),
  );
}

interface Places {
  readonly state: string;
  readonly home: string;
}

function placesOfUser(io: Io): Places {
  const paths = { env: io.env, cwd: io.cwd, exists: existsSync, osHome: homedir() };
  return { state: stateFolder(paths), home: homeFolder(paths) };
}

const scriptFile = ({ state }: Places, shell: Shell): string => join(state, "completions", `openclaw.${EXTENSIONS[shell]}`);

/** The file that a shell reads when it starts. Fish reads a folder of its own, and needs no line. */
function startFile({ home }: Places, shell: Shell, io: Io): string {
  const settings = io.env["XDG_CONFIG_HOME"] || join(home, ".config");
  const files: Readonly<Record<Shell, string>> = {
    zsh: join(io.env["ZDOTDIR"] || home, ".zshrc"),
    bash: join(home, process.platform === "darwin" ? ".bash_profile" : ".bashrc"),
    fish: join(settings, "fish", "completions", "openclaw.fish"),
    powershell: join(process.platform === "win32" ? join(home, "Documents", "PowerShell") : join(settings, "powershell"), "Microsoft.PowerShell_profile.ps1"),
  };
  return files[shell];
}

const MARK = "# OpenClaw completion";

/** The start file with our line at its end; one that an earlier installation wrote is replaced. */
function withLine(text: string, shell: Shell, script: string): string {
  const lines = text.split("\n");
  const at = lines.indexOf(MARK);
  const others = (at === -1 ? lines : lines.toSpliced(at, 2)).join("\n").replace(/\n*$/, "");
  const quoted = shell === "powershell" ? `'${script.replaceAll("'", "''")}'` : `'${script.replaceAll("'", String.raw`'\''`)}'`;
  const line = shell === "powershell" ? `if (Test-Path ${quoted}) { . ${quoted} }` : `[ -f ${quoted} ] && source ${quoted}`;
  return `${others}${others === "" ? "" : "\n\n"}${MARK}\n${line}\n`;
}

function write(file: string, text: string): void {
  ensureFolder(dirname(file));
  writeAtomic(file, text, { temporary: `${file}.${process.pid}.new`, mode: 0o644 });
}

async function install(io: Io, shell: Shell, { yes }: { readonly yes: boolean }): Promise<{ readonly file: string; readonly start?: string } | undefined> {
  const places = placesOfUser(io);
  const start = startFile(places, shell, io);
  const question = shell === "fish" ? `Write ${start}?` : `Add a line to ${start}?`;
  if (!yes && !io.interactive) throw new AppError("INVALID_INPUT", `this changes ${start}; use --yes to confirm`);
  if (!yes && !(await io.confirm(question))) return undefined;
  const script = await scriptOf(shell);
  if (shell === "fish") {
    write(start, script);
    return { file: start };
  }
  const file = scriptFile(places, shell);
  write(file, script);
  write(start, withLine(existsSync(start) ? readFileSync(start, "utf8") : "", shell, file));
  return { file, start };
}

export const completion = defineCommand({
  options: {
    shell: { type: "string", short: "s", value: "name", help: `${SHELLS.join(", ")} (default: from $SHELL)` },
    install: { type: "boolean", short: "i", help: "Load it in every new shell" },
    "write-state": { type: "boolean", help: "Write the scripts for all shells to the state folder" },
    yes: { type: "boolean", short: "y", help: "Change the shell's start file without asking" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw completion --shell bash", does: "Print the script" },
    { line: "openclaw completion --shell bash --install --yes", does: "Load it in every new shell" },
  ],
  async run({ io, values }) {
    const shell = shellOf(values.shell, io);
    if (values["write-state"]) {
      const places = placesOfUser(io);
      for (const one of SHELLS) write(scriptFile(places, one), await scriptOf(one));
      if (values.json) printJson(io, { ok: true, folder: dirname(scriptFile(places, shell)) });
      if (!values.install) return 0;
    }
    if (!values.install) {
      if (values.json) printJson(io, { shell, script: await scriptOf(shell) });
      else io.out(await scriptOf(shell));
      return 0;
    }
    const done = await install(io, shell, { yes: values.yes === true });
    if (values.json) printJson(io, { ok: done !== undefined, shell, ...done });
    else if (done) io.out(`Completion for ${shell} is installed (${done.start ?? done.file}). Open a new shell to use it.\n`);
    else io.err("No changes made\n");
    return 0;
  },
});
