import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { median, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

const rssMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;

interface Start {
  readonly readyMs: number;
  readonly rssMb: number;
  readonly stopMs: number;
}

/** What the app without its hub says when it is there: the measures over WebSocket look at the whole gateway. */
const BARE_READY = "the configuration is loaded, the store is open";

/** One gateway from spawn to the line that says that its base is ready, and to its end. */
async function startOnce(context: BenchContext, index: number): Promise<Start> {
  const env = { PATH: process.env["PATH"], HOME: context.folder, OPENCLAW_STATE_DIR: join(context.folder, `app-${index % 2}`), NO_COLOR: "1" };
  const started = performance.now();
  const child = spawn(context.node, [join(context.root, "bin/openclaw"), "gateway", "--allow-unconfigured", "--verbose", "--port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  let readyMs: number | undefined;
  let rss = 0;
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (!output.includes(BARE_READY)) continue;
    readyMs = performance.now() - started;
    rss = rssMb(child.pid!);
    break;
  }
  if (readyMs === undefined) throw new Error(`the gateway ended before it was ready:\n${output}`);
  const stopping = performance.now();
  child.kill("SIGTERM");
  await once(child, "exit");
  return { readyMs, rssMb: rss, stopMs: performance.now() - stopping };
}

export const app: Measure = {
  name: "bare app",
  async run(context): Promise<readonly Row[]> {
    const bare: number[] = [];
    const starts: Start[] = [];
    const rounds = context.quick ? 2 : 15;
    // The first start makes the database; it is not counted.
    await startOnce(context, 0);
    await startOnce(context, 1);
    for (let i = 0; i < rounds; i += 1) {
      const before = performance.now();
      spawnSync(context.node, ["-e", "0"]);
      bare.push(performance.now() - before);
      starts.push(await startOnce(context, i));
    }
    const ready = median(starts.map((start) => start.readyMs));
    const rss = median(starts.map((start) => start.rssMb));
    const facts = { "bare node ms": round(median(bare), 1), "ready ms": round(ready, 1), "stop ms": round(median(starts.map((start) => start.stopMs)), 1) };
    return [
      { name: "bare app: spawn to configuration and store / bare node", value: round(ready / median(bare)), unit: "×", bar: 3, better: "lower", facts },
      { name: "bare app: resident memory then", value: round(rss, 1), unit: "MB", bar: 80, better: "lower", facts: {} },
    ];
  },
};
