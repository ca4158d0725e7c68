import { readdirSync, readFileSync } from "node:fs";
import type { Child } from "../../base/spawn.ts";

type Signal = "SIGTERM" | "SIGKILL";

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/**
 * Sends signals to everything that runs in the terminal that a child holds. A terminal is a session of its own, which the child's group does not
 * reach. The child itself is only killed: it ends when the command does, and on a signal to end it would print. False when nobody was reached.
 */
export function terminalSignals(holder: Pick<Child, "pid" | "signal">): (name: Signal) => boolean {
  // Kept: after the holder's end nobody knows whose child the first one was, and what is left in its session must still be found.
  let first: number | undefined;

  function signalInside(name: Signal): boolean {
    const running = processTable();
    first ??= running.find(({ pid, parent, session }) => parent === holder.pid && session === pid)?.pid;
    const inside = first === undefined ? [] : running.filter(({ session }) => session === first);
    return inside.map(({ pid }) => sent(pid, name)).some(Boolean);
  }

  return (name) => {
    const reached = signalInside(name);
    return reached && name === "SIGTERM" ? true : holder.signal("SIGKILL") || reached;
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
