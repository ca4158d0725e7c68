import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "../../src/cli/command.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import { showFailure } from "../../src/cli/failure.ts";
import type { Io } from "../../src/cli/io.ts";

type Command = Awaited<ReturnType<Entry["load"]>>;

export interface CommandLineOptions {
  /** The text of the configuration. Null: there is no file. Default `{}`. */
  readonly config?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly color?: boolean;
  readonly columns?: number;
  readonly now?: number;
  /** What is answered to every question. */
  readonly confirms?: boolean;
}

export interface CommandResult<Json> {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  json(): Json;
}

/** Commands in this process, with a home of their own: they see nothing else. */
export interface CommandLine<Json> {
  readonly home: string;
  readonly stateDir: string;
  /** Of the configuration. */
  readonly path: string;
  /** Runs the command with these arguments. */
  run(...args: readonly string[]): Promise<CommandResult<Json>>;
  /** As if the gateway of this state folder listened there. */
  lock(url: string): void;
}

/** Runs a command in this process: without colour, on a wide terminal that nobody sits at, unless it is said otherwise. */
export async function runCommand<Json = unknown>(
  name: string,
  command: Command,
  args: readonly string[],
  over: Pick<Io, "env" | "cwd"> & Partial<Io>,
): Promise<CommandResult<Json>> {
  const written = { out: "", err: "" };
  const io: Io = {
    version: "9.9.9",
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    program: "openclaw",
    runnable: (text: string) => text,
    color: false,
    interactive: false,
    columns: 160,
    now: () => Date.now(),
    confirm: () => Promise.resolve(false),
    signal: () => new AbortController().signal,
    ...over,
  };
  const entry: Entry = { name, summary: "", load: () => Promise.resolve(command) };
  const code = await dispatch([entry], [name, ...args], io).catch((error: unknown) => showFailure(error, io, args.includes("--json")));
  return { code, ...written, json: () => JSON.parse(written.out) as Json };
}

export function openCommandLine<Json = Record<string, never>>(name: string, command: Command, options: CommandLineOptions = {}): CommandLine<Json> {
  const { config = "{}", color = false, columns = 160, now = 0, confirms = false } = options;
  const home = mkdtempSync(join(tmpdir(), `${name}-cli-`));
  const stateDir = join(home, "state");
  const path = join(home, "openclaw.json");
  if (config !== null) writeFileSync(path, config);
  return {
    home,
    stateDir,
    path,
    async run(...args) {
      const env = {
        HOME: home,
        OPENCLAW_STATE_DIR: stateDir,
        OPENCLAW_CONFIG_PATH: path,
        OPENCLAW_BUNDLED_SKILLS_DIR: join(home, "no-skills"),
        ...options.env,
      };
      return runCommand<Json>(name, command, args, { env, cwd: home, color, columns, now: () => now, confirm: () => Promise.resolve(confirms) });
    },
    lock(url) {
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      const port = Number(new URL(url).port);
      const holder = { pid: process.pid, createdAt: new Date(0).toISOString(), configPath: path, stateDir, port, runSecret: "a-secret-of-this-test" };
      writeFileSync(join(stateDir, "gateway.lock"), JSON.stringify(holder), { mode: 0o600 });
    },
  };
}
