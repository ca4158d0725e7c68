import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../../base/clock.ts";

const EVERY_MS = 50;

/**
 * Ends a sandbox that holds more than `most` processes. The kernel's own limit does not bind root, under whatever name it runs inside: this
 * does, a moment later.
 */
export function watchProcesses(pid: number, most: number, clock: Pick<Clock, "after">, kill: () => void): Disposable {
  let timer: Disposable | undefined;
  let first: string | undefined;
  const look = (): void => {
    first ??= firstInside(pid);
    if (first !== undefined && countInside(first) > most) return kill();
    timer = clock.after(EVERY_MS, look);
  };
  timer = clock.after(EVERY_MS, look);
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() };
}

/** The first process of the namespace, as this machine numbers it. */
function firstInside(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").find(Boolean);
  } catch {
    return undefined;
  }
}

/** What a look at the sandbox's own /proc counts. */
function countInside(first: string): number {
  try {
    return readdirSync(join("/proc", first, "root", "proc")).filter((name) => /^\d+$/.test(name)).length;
  } catch {
    return 0;
  }
}
