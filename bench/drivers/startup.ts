/**
 * Starts a gateway's command several times: spawn to ready (connected, and `health` answered), memory, idle processor time, time to stop.
 * `node bench/drivers/startup.ts --url ws://127.0.0.1:PORT --token T --device [--runs 5] [--rss-at 5,30] [--idle-cpu-s 20] [--keep] [--log FILE] -- COMMAND …`
 */
import { execSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { openSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { round } from "../stats.ts";
import { connectBench, connectionOf, type BenchConnection } from "./client.ts";
import { CONNECTION, parseOptions } from "./options.ts";
import { cpuSeconds, processTree, residentMb } from "./process-facts.ts";
import { summary } from "./summary.ts";

export interface Ready {
  readonly readyMs: number;
  /** Until a connection was let in for the first time. */
  readonly connectedMs: number;
}

/** Tries to connect and to ask for `health` until both work. `started` is the moment of the spawn. */
export async function untilReady(
  to: BenchConnection,
  child: ChildProcess,
  started: number,
  limits: { readonly pollMs: number; readonly timeoutMs: number },
): Promise<Ready> {
  let connectedMs: number | undefined;
  let last: unknown;
  while (performance.now() - started < limits.timeoutMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the gateway ended with ${child.exitCode ?? child.signalCode}`, { cause: last });
    try {
      const client = await connectBench(to);
      connectedMs ??= performance.now() - started;
      await client.request("health");
      const readyMs = performance.now() - started;
      client.close();
      return { readyMs, connectedMs };
    } catch (error) {
      last = error;
      await wait(limits.pollMs);
    }
  }
  throw new Error(`the gateway was not ready within ${limits.timeoutMs} ms`, { cause: last });
}

/** Time of `node -e 0`: what everything is compared with. */
export function bareNodeMs(node: string): number {
  const started = performance.now();
  spawnSync(node, ["-e", "0"]);
  return performance.now() - started;
}

/** Asks a process to end and waits; after 30 s it is killed. */
export async function endProcess(child: ChildProcess): Promise<number> {
  const started = performance.now();
  child.kill("SIGTERM");
  while (child.exitCode === null && child.signalCode === null) {
    if (performance.now() - started > 30_000) child.kill("SIGKILL");
    await wait(10);
  }
  return performance.now() - started;
}

async function idleFacts(pid: number, rssAt: string, idleCpuS: number): Promise<Record<string, number>> {
  const facts: Record<string, number> = {};
  const ready = performance.now();
  for (const seconds of rssAt.split(",").filter(Boolean).map(Number)) {
    await wait(Math.max(0, seconds * 1000 - (performance.now() - ready)));
    facts[`rss${seconds}sMb`] = round(residentMb(pid), 1);
  }
  if (idleCpuS > 0) {
    const before = cpuSeconds(pid);
    await wait(idleCpuS * 1000);
    facts["idleCpuSecondsPer20s"] = round(((cpuSeconds(pid) - before) / idleCpuS) * 20, 3);
  }
  return { ...facts, cpuSecondsTotal: cpuSeconds(pid) };
}

async function main(): Promise<void> {
  const defaults = { ...CONNECTION, runs: 1, rssAt: "5,30", idleCpuS: 20, keep: false, log: "", prepare: "", pollMs: 20, timeoutS: 120 };
  const options = parseOptions(defaults, process.argv.slice(2), process.env);
  const to = connectionOf(options);
  const [command, ...args] = options.rest;
  if (command === undefined) throw new Error("expected the gateway's command behind --");
  const ready: number[] = [];
  const bare: number[] = [];
  for (let run = 0; run < options.runs; run += 1) {
    const lastRun = run === options.runs - 1;
    if (options.prepare) execSync(options.prepare, { stdio: "inherit" });
    bare.push(bareNodeMs(process.execPath));
    const output = options.log ? openSync(options.log, "a") : "ignore";
    const started = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", output, output], detached: options.keep });
    try {
      const seen = await untilReady(to, child, started, { pollMs: options.pollMs, timeoutMs: options.timeoutS * 1000 });
      ready.push(seen.readyMs);
      const pid = child.pid!;
      const facts = lastRun ? await idleFacts(pid, options.rssAt, options.idleCpuS) : {};
      console.log(
        JSON.stringify({ run, pid, readyMs: round(seen.readyMs, 1), connectedMs: round(seen.connectedMs, 1), bareNodeMs: round(bare.at(-1)!, 1), ...facts }),
      );
    } catch (error) {
      for (const pid of processTree(child.pid!)) process.kill(pid, "SIGKILL");
      throw error;
    }
    if (lastRun && options.keep) child.unref();
    else console.log(JSON.stringify({ run, stopMs: round(await endProcess(child), 1), exit: child.exitCode ?? child.signalCode }));
  }
  console.log(JSON.stringify({ ready: summary(ready), bareNode: summary(bare), ratioMedian: round(summary(ready).median / summary(bare).median, 1) }));
}

if (import.meta.main) await main();
