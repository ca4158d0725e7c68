/** What Linux knows of a process and its children. */
import { readdirSync, readFileSync } from "node:fs";

function quietly<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined; // It ended meanwhile.
  }
}

const statFields = (pid: number | string): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
};

/** A process and everything below it. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const parent = quietly(() => Number(statFields(name)[1]));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root);
}

/** Resident memory of a process and its children, in MB. */
export function residentMb(pid: number): number {
  const kilobytes = processTree(pid).map((each) => quietly(() => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1] ?? 0)) ?? 0);
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** Processor time of a process and its children, in seconds, in steps of 10 ms. */
export function cpuSeconds(pid: number): number {
  const ticks = processTree(pid).map((each) => quietly(() => Number(statFields(each)[11]) + Number(statFields(each)[12])) ?? 0);
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** Processor time of all threads of a process, in milliseconds, exactly. */
export function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map(
    (id) => quietly(() => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0])) ?? 0,
  );
  return threads.reduce((sum, each) => sum + each, 0) / 1e6;
}
