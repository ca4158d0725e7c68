/**
 * Loaded before a gateway with `NODE_OPTIONS=--import`: each SIGUSR2 writes how late its event loop was since the one before, in milliseconds, to
 * the file that `BENCH_LOOP_FILE` names. `cpu` is the most processor time that the thread used between two turns of the loop: unlike the delay, it does not
 * grow with what else the machine does. It is known to some 4 ms, the tick of the kernel. With `BENCH_COLLECT`, garbage is collected before the next measurement begins, so that each begins at rest.
 */
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const RESOLUTION_MS = 1;
/** After this the monitor has counted the collection itself. */
const SETTLED_MS = 5;
const file = process.env["BENCH_LOOP_FILE"];

function exposeCollect(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

if (isMainThread && file !== undefined) {
  const collect = process.env["BENCH_COLLECT"] === undefined ? undefined : exposeCollect();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  let mostCpu = 0;
  let used = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    mostCpu = Math.max(mostCpu, (now.user - used.user + now.system - used.system) / 1000);
    used = now;
  }, RESOLUTION_MS).unref();
  const begin = (report: string): void => {
    writeFileSync(`${file}.new`, report);
    delay.reset();
    mostCpu = 0;
    renameSync(`${file}.new`, file);
  };
  process.on("SIGUSR2", () => {
    const report = JSON.stringify({ p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max), cpu: mostCpu });
    if (!collect) return begin(report);
    collect();
    setTimeout(() => begin(report), SETTLED_MS);
  });
}
