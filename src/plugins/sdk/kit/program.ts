/** A program that a channel needs while it runs, such as a platform's daemon: no shell, a filtered environment, ended with its whole process group. */
import { setTimeout as delay } from "node:timers/promises";
import { identify, isRunning, type ProcessIdentity } from "../../../base/process-identity.ts";
import { createLines, openChild } from "./child.ts";
import { fieldsOf, textOf, wholeOf } from "./fields.ts";

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
  /** Names this very process, also after a restart of the gateway: for `endLeftover`. */
  readonly identity: Readonly<Record<string, string | number>>;
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
    identity: { ...identify(child.pid) },
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

const POLL_MS = 20;

/** An id alone may be another process by now: nothing is ended without a time of its start. */
function identityOf(stored: unknown): ProcessIdentity | undefined {
  const fields = fieldsOf(stored) ?? {};
  const [pid, startTime, bootId] = [wholeOf(fields["pid"]), wholeOf(fields["startTime"]), textOf(fields["bootId"])];
  return pid === undefined || pid <= 1 || startTime === undefined || bootId === undefined ? undefined : { pid, startTime, bootId };
}

/** Ends a program that a gateway which was killed left behind, by its stored `identity`. False: it does not run any more, or nobody can tell. */
export async function endLeftover(stored: unknown, graceMs = GRACE_MS): Promise<boolean> {
  const identity = identityOf(stored);
  if (!identity || !isRunning(identity)) return false;
  const signal = (name: "SIGTERM" | "SIGKILL"): void => {
    try {
      process.kill(-identity.pid, name);
    } catch {
      // It has ended.
    }
  };
  signal("SIGTERM");
  for (const end = performance.now() + graceMs; isRunning(identity); await delay(POLL_MS)) if (performance.now() > end) signal("SIGKILL");
  return true;
}
