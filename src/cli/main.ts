import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, basename, dirname } from "node:path";
import { configFile, stateFolder, profileEnv } from "../config/index.ts";
import { type PluginCommands, dispatch } from "./dispatch.ts";
import type { Io } from "./io.ts";
import { programName, withProgram } from "../base/program-name.ts";
import { parseGlobals } from "./arguments.ts";
import { COMMANDS } from "./commands/index.ts";
import { showFailure } from "./failure.ts";
import { rootHelp } from "./help.ts";
import { createStandardOutput } from "./standard-output.ts";
import { escapeControls } from "../base/printable.ts";

/** Commands that plugins bring. Nothing of plugins is loaded until one is asked for, or, for the help, while none seems to be there. */
function pluginCommands(io: Io): PluginCommands {
  return {
    async listed() {
      if (!seemsToHavePlugins(io)) return [];
      const { listCommands } = await import("./plugin-commands/declared.ts");
      return listCommands(io);
    },
    async run(args) {
      const { runPluginCommand } = await import("./plugin-commands/run.ts");
      return runPluginCommand(args, io, (rest) => dispatch(COMMANDS, ["memory", ...rest], io));
    },
  };
}

/** Two reads of the disk: something is installed, or the configuration mentions plugins. */
function seemsToHavePlugins({ env, cwd }: Io): boolean {
  const paths = { env, cwd, exists: existsSync, osHome: homedir() };
  try {
    if (readdirSync(join(stateFolder(paths), "extensions")).length > 0) return true;
  } catch {
    // Nothing was ever installed.
  }
  try {
    return /plugins|\$include/.test(readFileSync(configFile(paths), "utf8"));
  } catch {
    return false; // No configuration, or none that can be read: commands say so.
  }
}

/** The styles that our own output has (`createStyle`, the console log): colours, bold, dim and the end of them. Nothing that moves, hides or blinks. */
// eslint-disable-next-line no-control-regex -- styles are control sequences
const STYLE = /(\x1b\[(?:0|1|2|3[0-7]|9[0-7])m)/;

/**
 * What a terminal is sent for a text of a command: the one place that everything printed goes through. Styles of ours stay where there are colours, everything
 * else that would act on a terminal is written as an escape.
 */
export function terminalText(text: string, color: boolean): string {
  if (!text.includes("\x1b") || !color) return escapeControls(text);
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join("");
}

/** Begins the current line of a terminal again, with nothing on it. */
const redrawn = (text: string, color: boolean): string => `\r\x1b[K${terminalText(text, color)}`;

function packageVersion(): string {
  // `dist/cli.js` and `src/cli/main.ts` lie at different depths below the package.
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      return (JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as { version: string }).version;
    } catch {
      // The other depth.
    }
  }
  return "unknown";
}

async function confirm(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${terminalText(question, false)} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}

function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

function createIo(env: Io["env"], noColor: boolean): Io {
  const output = createStandardOutput();
  // Opened on demand: standard input alone takes 4 ms.
  const interactive = (): boolean => process.stdin.isTTY && process.stderr.isTTY;
  // A search along the PATH: only for texts that name a command.
  let found: string | undefined;
  const program = (): string => (found ??= programName({ from: import.meta.dirname, path: env["PATH"], profile: env["OPENCLAW_PROFILE"], cwd: process.cwd() }));
  const runnable = (text: string): string => (text.includes("openclaw ") ? withProgram(text, program()) : text);
  const color = !noColor && !env["NO_COLOR"] && env["TERM"] !== "dumb" && output.isTerminal;
  return {
    env,
    cwd: process.cwd(),
    version: packageVersion(),
    out: (text) => output.write(terminalText(text, color)),
    err: (text) => void process.stderr.write(terminalText(runnable(text), color)),
    get program() {
      return program();
    },
    runnable,
    redraw: (text) => (interactive() ? void process.stderr.write(redrawn(text, color)) : undefined),
    color,
    get interactive() {
      return interactive();
    },
    get columns() {
      return output.columns ?? 120;
    },
    now: () => Date.now(),
    confirm: (question) => (interactive() ? confirm(question) : Promise.resolve(false)),
    endSoon: () => void setTimeout(() => process.exit(), LINGER_MS).unref(),
    signal: interruptSignal,
  };
}

/** A restore that died between its two moves left no state folder: it is completed before anything creates a new one. */
async function endRestore({ env, cwd }: Io): Promise<void> {
  const state = stateFolder({ env, cwd, exists: existsSync, osHome: homedir() });
  if (existsSync(state) || !namesIn(dirname(state)).some((name) => name.startsWith(`${basename(state)}.restore-`))) return;
  const { loadBackup } = await import("../store/index.ts");
  (await loadBackup()).finishRestore(state);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Missing or unreadable: then nothing was restored into it.
  }
}

const LINGER_MS = 500;
const MOST_ROUNDS = 20;

/** A command that awaits what can never happen ends with the process: that is a failure, and one that is visible. */
function guardUnfinished(): Disposable {
  let rounds = 0;
  const onBeforeExit = (): void => {
    rounds += 1;
    // Another listener may still end what is awaited; that takes a turn of the event loop.
    if (process.listenerCount("beforeExit") > 1 && rounds < MOST_ROUNDS) return void setImmediate(() => {});
    process.off("beforeExit", onBeforeExit);
    if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1;
    process.stderr.write("error: the command ended early because something it waited for cannot happen anymore\n");
  };
  process.on("beforeExit", onBeforeExit);
  return { [Symbol.dispose]: () => void process.off("beforeExit", onBeforeExit) };
}

/** The program. Sets the exit code and lets the process end by itself, so that nothing written is cut off. */
export async function main(args: readonly string[]): Promise<void> {
  const json = args.includes("--json");
  const profile = profileEnv(args, process.env, { osHome: homedir(), cwd: process.cwd() });
  if (!profile.ok) {
    process.stderr.write(`${profile.message}\n`);
    process.exitCode = 2;
    return;
  }
  const globals = parseGlobals(profile.args);
  using _unfinished = guardUnfinished();
  const io = createIo({ ...process.env, ...profile.set }, globals.noColor || args.includes("--no-color"));
  try {
    if (globals.version) io.out(`${io.version}\n`);
    else if (globals.help) io.out(rootHelp(COMMANDS, io, await pluginCommands(io).listed()));
    else {
      await endRestore(io);
      process.exitCode = await dispatch(COMMANDS, globals.rest, io, pluginCommands(io));
    }
  } catch (error) {
    process.exitCode = showFailure(error, io, json);
  }
}
