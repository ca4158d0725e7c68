import { readFileSync, statSync } from "node:fs";

/** A process that blocks writes to a file. */
export interface LockingProcess {
  readonly pid: number;
  /** The program's name, where visible. */
  readonly name?: string;
}

/** One line: `3: POSIX  ADVISORY  WRITE 6968 fe:00:2147009 120 120`. */
const LOCK = /^\d+: \S+\s+\S+\s+WRITE\s+(\d+)\s+\S+:(\d+) /;

const nameOf = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
};

/** Inodes of the database and of the file that its write lock is on. */
function inodesOf(file: string): ReadonlySet<string> {
  return new Set([file, `${file}-shm`].flatMap((path) => statSync(path, { throwIfNoEntry: false })?.ino.toString() ?? []));
}

/** Processes other than this one that currently hold a database for writing; undefined where the system does not say (Linux does). */
export function lockingProcesses(file: string, own: number = process.pid): readonly LockingProcess[] | undefined {
  let locks: string;
  try {
    locks = readFileSync("/proc/locks", "utf8");
  } catch {
    return undefined;
  }
  const inodes = inodesOf(file);
  const pids = locks.split("\n").flatMap((line) => {
    const [, pid = "", inode = ""] = LOCK.exec(line) ?? [];
    // A process of another container has id 0 here.
    return inodes.has(inode) && Number(pid) !== own ? [Number(pid)] : [];
  });
  return [...new Set(pids)].map((pid) => {
    const name = pid > 0 ? nameOf(pid) : undefined;
    return { pid, ...(name === undefined ? {} : { name }) };
  });
}

/** `process 12 (sqlite3)`, for messages. */
export function nameHolders(holders: readonly LockingProcess[] | undefined): string {
  const named = (holders ?? []).filter(({ pid }) => pid > 0).map(({ pid, name }) => `process ${pid}${name === undefined ? "" : ` (${name})`}`);
  return named.length === 0 ? "another process" : named.join(", ");
}
