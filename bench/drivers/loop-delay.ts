/**
 * Loaded before a gateway with `NODE_OPTIONS=--import`: each SIGUSR2 writes how late its event loop was since the one before, in milliseconds, to
 * the file that `BENCH_LOOP_FILE` names.
 */
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const RESOLUTION_MS = 1;
const file = process.env["BENCH_LOOP_FILE"];

if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  process.on("SIGUSR2", () => {
    writeFileSync(`${file}.new`, JSON.stringify({ p50: late(delay.percentile(50)), p99: late(delay.percentile(99)), max: late(delay.max) }));
    renameSync(`${file}.new`, file);
    delay.reset();
  });
}
