/** A program that a channel needs while it runs, such as a platform's daemon: no shell, a filtered environment, ended with its whole process group. */
import { createLines, openChild } from "./child.ts";

export interface ProgramOptions {
  /** A path, or a name on the search path. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to what commands inherit of the gateway's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: the gateway's state folder. */
  readonly cwd?: string | undefined;
  /** Each line that it writes, without its end. */
  readonly onLine?: ((line: string, stream: "stdout" | "stderr") => void) | undefined;
  /** Its input stays open for `write`. Default false. */
  readonly input?: boolean | undefined;
  /** How long it has to end once it is asked to, before it is killed. Default 5000. */
  readonly graceMs?: number | undefined;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Program {
  readonly pid: number;
  readonly exited: Promise<ProgramExit>;
  /** False where nobody reads it. */
  write(text: string): boolean;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

const GRACE_MS = 5000;
/** Longer lines are cut. */
const MAX_LINE = 64 * 1024;

/** Rejects with `permanent` where there is no such program. */
export async function startProgram({ command, args = [], env, cwd, onLine, input = false, graceMs = GRACE_MS }: ProgramOptions): Promise<Program> {
  const lines = {
    stdout: createLines(MAX_LINE, (line) => onLine?.(line, "stdout")),
    stderr: createLines(MAX_LINE, (line) => onLine?.(line, "stderr")),
  };
  const child = await openChild({
    command,
    args,
    cwd,
    env,
    input,
    onOutput(stream, chunk) {
      lines[stream](chunk);
      return undefined;
    },
  });
  let isOver = false;
  void child.exited.then(() => (isOver = true));
  return {
    pid: child.pid,
    exited: child.exited,
    write: (text) => child.write(text),
    async stop() {
      if (isOver) return;
      child.signal("SIGTERM");
      const killing = setTimeout(() => child.signal("SIGKILL"), graceMs);
      await child.exited;
      clearTimeout(killing);
    },
  };
}
