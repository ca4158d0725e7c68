import { readFileSync } from "node:fs";
import { systemCode } from "./errors.ts";

/** Distinguishes a process from every other that had or will have the same id. On systems without `/proc` only the id is known. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start of the process in clock ticks since boot (Linux). */
  readonly startTime?: number;
  /** The boot that `startTime` refers to: after a reboot the same id and ticks may come again. */
  readonly bootId?: string;
}

interface ProcessStat {
  readonly state: string;
  readonly startTime: number;
  readonly threads: number;
}

function statOf(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in parentheses, may contain anything; the fields after it are separated by single spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", startTime: Number(fields[19]), threads: Number(fields[17]) };
  } catch {
    return undefined;
  }
}

function currentBootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Identifies a running process, for a file that outlives it. */
export function identify(pid: number): ProcessIdentity {
  const startTime = statOf(pid)?.startTime;
  const bootId = startTime === undefined ? undefined : currentBootId();
  return { pid, ...(startTime === undefined ? {} : { startTime }), ...(bootId === undefined ? {} : { bootId }) };
}

/**
 * Whether that very process still runs. A zombie (ended, not reaped by its parent) holds nothing any more. When nothing can be found out about a
 * process, it counts as running.
 */
export function isRunning({ pid, startTime, bootId }: ProcessIdentity): boolean {
  if (bootId !== undefined && bootId !== (currentBootId() ?? bootId)) return false;
  const found = statOf(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
  }
  if (!found) return true;
  // A leader whose other threads are still writing has not ended yet.
  const isGone = /[Xx]/.test(found.state) || (found.state === "Z" && found.threads <= 1);
  return !isGone && (startTime === undefined || found.startTime === startTime);
}

/**
 * Blocks while the last threads of a killed process end: its leader is a zombie some milliseconds before they are gone. Returns at once for any
 * other process.
 */
export function waitWhileEnding(identity: ProcessIdentity, atMostMs: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + atMostMs;
  while (statOf(identity.pid)?.state === "Z" && isRunning(identity) && performance.now() < end) Atomics.wait(pause, 0, 0, 2);
}

/** True when a process is known to be stopped (SIGSTOP, a debugger). */
export function isStopped(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state === "T" || state === "t";
}
