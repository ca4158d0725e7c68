/** What a large state costs from outside: a start without cached files, and the memory of a command. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import type { BenchContext, Row } from "../row.ts";
import { median, round } from "../stats.ts";

/** Forgets all cached files; false where that is not permitted. */
function dropCaches(): boolean {
  try {
    execFileSync("sync");
    writeFileSync("/proc/sys/vm/drop_caches", "3");
    return true;
  } catch {
    return false;
  }
}

export async function coldRow(context: BenchContext, empty: BenchPlace, large: BenchPlace): Promise<Row> {
  const times = { empty: [] as number[], large: [] as number[] };
  let isCold = true;
  for (let n = 0; n < (context.quick ? 1 : 5); n += 1) {
    for (const [name, place] of [
      ["empty", empty],
      ["large", large],
    ] as const) {
      // Beside other work, as in the tests, everything else would be slowed down with it.
      isCold = !context.quick && dropCaches() && isCold;
      await using gateway = await place.start();
      times[name].push(gateway.ready.readyMs);
    }
  }
  return {
    name: "growth: cold start with many sessions / with none",
    value: round(median(times.large) / median(times.empty)),
    unit: "×",
    bar: 1.5,
    better: "lower",
    facts: { "large ms": round(median(times.large)), "empty ms": round(median(times.empty)), caches: isCold ? "dropped" : "not dropped" },
  };
}

/** Highest memory of a command, in MB. */
async function peakOf(context: BenchContext, name: string, args: readonly string[]): Promise<{ readonly mb: number; readonly bytes: number }> {
  const folder = join(context.folder, name);
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    OPENCLAW_STATE_DIR: join(folder, "state"),
    OPENCLAW_CONFIG_PATH: join(folder, "openclaw.json"),
    NO_COLOR: "1",
  };
  const child = spawn(context.node, [join(folder, "start.cjs"), ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.on("close", resolve);
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
  let peak = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = existsSync(`/proc/${child.pid}/status`) ? readFileSync(`/proc/${child.pid}/status`, "utf8") : "";
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    await wait(2);
  }
  await ended;
  if (child.exitCode !== 0) throw new Error(`${args.join(" ")} ended with ${child.exitCode ?? child.signalCode}`);
  return { mb: peak, bytes };
}

/** What the command takes for many sessions beyond what it takes for none. */
export async function commandRow(context: BenchContext, empty: string, large: string): Promise<Row> {
  const args = ["sessions", "--json"];
  const few = await peakOf(context, empty, args);
  const many = await peakOf(context, large, args);
  return {
    name: "growth: memory of openclaw sessions --json",
    value: round(Math.max(0, many.mb - few.mb), 1),
    unit: "MB",
    bar: 50,
    better: "lower",
    facts: { "peak MB": round(many.mb, 1), "without sessions MB": round(few.mb, 1), "printed MB": round(many.bytes / 1e6, 1) },
  };
}
