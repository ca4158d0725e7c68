import { readdirSync, readFileSync } from "node:fs";

type Signal = "SIGTERM" | "SIGKILL";

/** What runs in a terminal, which is a session of its own: the group of the program that holds the terminal does not reach it. */
export interface TerminalSession {
  /** Sends a signal to everything that runs in it; false when nothing does, or it cannot be told on this system. */
  signal(name: Signal): boolean;
}

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** The terminal that the process `holder` holds. */
export function terminalSession(holder: number): TerminalSession {
  // Kept: after the holder's end nobody knows whose child the first one was, and what is left in its session must still be found.
  let first: number | undefined;
  return {
    signal(name) {
      const running = processTable();
      first ??= running.find(({ pid, parent, session }) => parent === holder && session === pid)?.pid;
      if (first === undefined) return false;
      return running
        .filter(({ session }) => session === first)
        .map(({ pid }) => sent(pid, name))
        .some(Boolean);
    },
  };
}

function sent(pid: number, name: Signal): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Empty where there is no /proc. */
function processTable(): readonly Running[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statusOf(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

function statusOf(pid: number): Running | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in parentheses and may hold any character; after it: state, parent, group, session.
    const [, parent, , session] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(parent), session: Number(session) };
  } catch {
    return undefined;
  }
}
