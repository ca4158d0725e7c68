import { shellQuote } from "../../base/text.ts";
import { run } from "../../base/spawn.ts";
import type { Sandbox } from "../sandbox/sandboxes.ts";
import { resolveExecutable } from "../executables.ts";

type Env = Readonly<Record<string, string>>;

interface Argv {
  readonly argv: readonly [string, ...string[]];
  /** Variables on top of which the command's own are set. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A way to give commands a terminal. It is put around a plan when the plan is started, and is no part of it. */
export interface Terminal {
  /** The command inside of what holds its terminal. Its environment says how large the terminal is and what it understands. */
  around(command: Argv): { readonly argv: readonly [string, ...string[]]; readonly env: Env };
}

export interface Terminals {
  /** For commands on this machine, or in a sandbox; undefined where there is none. It is tried once, not guessed. */
  for(sandbox: Sandbox | undefined): Promise<Terminal | undefined>;
}

const SIZE = { COLUMNS: "120", LINES: "30" };
const TERM = "xterm-256color";
const SHELL = "/bin/sh";
const TRY = { timeoutMs: 10_000, maxOutputBytes: 64 * 1024 };

/**
 * Holds a terminal where `script` is missing: copies both ways until the command ends, then what it left, and ends as it did. What it left
 * running may hold the terminal open and is not waited for.
 */
const HOLDER = `
import os, pty, select, signal, sys
ends, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
def copy():
    try:
        data = os.read(fd, 65536)
    except OSError:
        return False
    more = len(data) > 0
    while data:
        data = data[os.write(1, data):]
    return more
status, inputs = None, [fd, 0, ends]
while status is None:
    ready = select.select(inputs, [], [])[0]
    if fd in ready and not copy():
        inputs.remove(fd)
    if 0 in ready:
        data = os.read(0, 65536)
        if not data:
            inputs.remove(0)
            data = b"\\x04"
        while data:
            data = data[os.write(fd, data):]
    if ends in ready:
        os.read(ends, 64)
        done, code = os.waitpid(pid, os.WNOHANG)
        status = code if done else None
while select.select([fd], [], [], 0)[0] and copy():
    pass
os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
`.trim();

/** How each program is made to run a line of the shell in a terminal. */
const HOLDERS: readonly { readonly program: string; readonly args: (line: string) => readonly string[] }[] = [
  // Of util-linux: quiet, written at once, ending as the command does, and nothing recorded. Others refuse these options when they are tried.
  { program: "script", args: (line) => ["-q", "-f", "-e", "-c", line, "/dev/null"] },
  { program: "python3", args: (line) => ["-I", "-S", "-c", HOLDER, SHELL, "-c", line] },
];

/** Looks for programs on `path`; in a sandbox that shows this machine's programs, on its own. */
export function createTerminals(path: string): Terminals {
  const tried = new Map<string, Promise<Terminal | undefined>>();
  return {
    for(sandbox) {
      if (sandbox && sandbox.hostPrograms !== true) return Promise.resolve(undefined);
      const key = sandbox?.name ?? "";
      const known = tried.get(key) ?? firstWorking(sandbox, path);
      tried.set(key, known);
      // One that did not work may have met a bad moment: the next command looks again.
      void known.then((terminal) => terminal === undefined && tried.delete(key));
      return known;
    },
  };
}

async function firstWorking(sandbox: Sandbox | undefined, hostPath: string): Promise<Terminal | undefined> {
  const path = sandbox?.path ?? hostPath;
  for (const { program, args } of HOLDERS) {
    const file = resolveExecutable(program, "/", path);
    if (file === undefined) continue;
    const terminal: Terminal = { around: (command) => around(command, (line) => [file, ...args(line)], resolveExecutable("stty", "/", path)) };
    if (await works(terminal, sandbox, path)) return terminal;
  }
  return undefined;
}

function around({ argv, env }: Argv, holder: (line: string) => readonly [string, ...string[]], stty: string | undefined): ReturnType<Terminal["around"]> {
  const size = { COLUMNS: count(env["COLUMNS"]) ?? SIZE.COLUMNS, LINES: count(env["LINES"]) ?? SIZE.LINES };
  const steps = [
    ...(stty === undefined ? [] : [`${shellQuote(stty)} cols ${size.COLUMNS} rows ${size.LINES} 2>/dev/null`]),
    // The holder starts its line with the shell that this names.
    env["SHELL"] === undefined ? "unset SHELL" : `export SHELL=${shellQuote(env["SHELL"])}`,
    `exec ${argv.map(shellQuote).join(" ")}`,
  ];
  return { argv: holder(steps.join("; ")), env: { ...size, TERM: env["TERM"] || TERM, SHELL } };
}

/** A size that is none is not taken. */
function count(written: string | undefined): string | undefined {
  return /^[1-9][0-9]{0,3}$/.test(written ?? "") ? written : undefined;
}

async function works(terminal: Terminal, sandbox: Sandbox | undefined, path: string): Promise<boolean> {
  const { argv, env } = terminal.around({ argv: [SHELL, "-c", "test -t 0 && test -t 1 && test -t 2"], env: {} });
  const [file, ...args] = argv;
  const outside = sandbox?.command({ argv, cwd: "/", env, path }) ?? { file, args, cwd: "/", env: { ...env, PATH: path } };
  try {
    return (await run(outside.file, { args: outside.args, cwd: outside.cwd, env: outside.env, ...TRY })).code === 0;
  } catch {
    return false;
  }
}
