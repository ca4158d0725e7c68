import { readFileSync } from "node:fs";

/**
 * How long the main thread of a process has worked, in milliseconds: what others wait for, on however busy a machine. Where only the clock can be asked, the time.
 */
export function busyMs(pid: number): number {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
