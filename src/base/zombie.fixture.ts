import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** A process whose parent does not reap it, as in a container without an init. */
export interface Orphan extends AsyncDisposable {
  readonly pid: number;
  /** Kills it and waits until it is a zombie. */
  kill(): Promise<void>;
}

const stateOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat[stat.lastIndexOf(")") + 2]!;
};

/** Starts a Node process, which has several threads, under a parent that never asks for its end. Linux only. */
export async function startUnreaped(script = "process.stdin.resume(); console.log('up')", args: readonly string[] = []): Promise<Orphan> {
  // The shell becomes `sleep`, which does not know about the child that it inherits.
  const parent = spawn("sh", ["-c", 'exec 3<&0; "$@" <&3 & echo "$!"; exec sleep 600', "sh", process.execPath, "-e", script, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface(parent.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  await lines.next();
  return {
    pid,
    async kill() {
      process.kill(pid, "SIGKILL");
      // Its other threads may end a moment after the first one.
      while (stateOf(pid) !== "Z" || readdirSync(`/proc/${pid}/task`).length > 1) await new Promise((resolve) => setTimeout(resolve, 2));
    },
    async [Symbol.asyncDispose]() {
      const gone = once(parent, "exit");
      parent.kill("SIGKILL");
      await gone;
    },
  };
}
