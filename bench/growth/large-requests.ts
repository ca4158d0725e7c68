/** What single requests over a large state cost: how long they hold the gateway's loop, a start without cached files, and the memory of a command. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { BenchClient } from "../drivers/client.ts";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import type { BenchContext, Row } from "../row.ts";
import { median, round } from "../stats.ts";

/** Environment of a gateway whose loop is watched, with the file that it writes to. */
export function watchedLoop(context: BenchContext, name: string): { readonly env: Readonly<Record<string, string>>; readonly file: string } {
  const file = join(context.folder, `${name}-loop.json`);
  const driver = pathToFileURL(join(context.root, "bench/drivers/loop-delay.ts")).href;
  return { file, env: { NODE_OPTIONS: `--import=${driver}`, BENCH_LOOP_FILE: file } };
}

/** Longest time that the loop was held since this was last asked. */
async function longestHold(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await wait(5);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly max: number }).max;
}

const KEYS = Array.from({ length: 64 }, (_, n) => `agent:main:webchat:direct:${n * 3}`);
const SHOWN = { includeDerivedTitles: true, includeLastMessage: true, includeGlobal: true, includeUnknown: true };
const REQUESTS: readonly (readonly [name: string, method: string, params: Readonly<Record<string, unknown>>])[] = [
  ["list", "sessions.list", {}],
  ["list with titles", "sessions.list", { ...SHOWN, limit: 500 }],
  ["list from far", "sessions.list", { ...SHOWN, limit: 500, offset: 50_000 }],
  ["search", "sessions.list", { ...SHOWN, limit: 500, search: "mountain" }],
  ["short search", "sessions.list", { ...SHOWN, limit: 60, search: "ri" }],
  ["history", "chat.history", { sessionKey: KEYS[1], limit: 1000 }],
  ["preview", "sessions.preview", { keys: KEYS, limit: 50 }],
  ["cost", "usage.cost", { days: 3660 }],
  ["usage", "sessions.usage", { startDate: "2020-01-01", limit: 500 }],
];

/** Each request a few times; what it held the loop for at best counts, since other programs only ever add to it. */
export async function loopRow(context: BenchContext, client: BenchClient, watched: { readonly pid: number; readonly file: string }): Promise<Row> {
  const holds: [string, number][] = [];
  for (const [name, method, params] of REQUESTS) {
    let least = Infinity;
    for (let n = 0; n < (context.quick ? 2 : 5); n += 1) {
      await longestHold(watched.pid, watched.file);
      await client.request(method, params);
      least = Math.min(least, await longestHold(watched.pid, watched.file));
    }
    holds.push([`${name} ms`, round(least, 1)]);
  }
  const value = Math.max(...holds.map(([, ms]) => ms));
  return { name: "growth: longest hold of the loop by one request", value, unit: "ms", bar: 20, better: "lower", facts: Object.fromEntries(holds) };
}

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
