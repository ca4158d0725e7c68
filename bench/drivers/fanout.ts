/**
 * Many idle clients watch one streaming turn: how long after the first of them does each get the same event.
 * `node bench/drivers/fanout.ts --url U --token T --device [--clients 200] [--chunks 400] [--gap 5] [--pid GATEWAY]`
 * All clients live in this process: what they do with a frame is part of the delay.
 */
import { setTimeout as wait } from "node:timers/promises";
import { round } from "../stats.ts";
import { connectBench, connectionOf, type BenchClient } from "./client.ts";
import { CONNECTION, parseOptions } from "./options.ts";
import { cpuSeconds, residentMb } from "./process-facts.ts";
import { summary } from "./summary.ts";

/** Arrival times of each event, by what names it. */
function watchAll(clients: readonly BenchClient[]): ReadonlyMap<string, number[]> {
  const seen = new Map<string, number[]>();
  for (const client of clients) {
    client.on((event, payload) => {
      if (event !== "chat" && event !== "agent") return;
      const key = [event, payload["runId"], payload["state"] ?? payload["stream"], payload["seq"]].join("|");
      const times = seen.get(key) ?? [];
      seen.set(key, times);
      times.push(performance.now());
    });
  }
  return seen;
}

async function main(): Promise<void> {
  const defaults = { ...CONNECTION, clients: 200, chunks: 400, gap: 5, pid: 0, warmup: 2, timeoutS: 180 };
  const options = parseOptions(defaults, process.argv.slice(2), process.env);
  const to = connectionOf(options);
  const sessionKey = `agent:main:fan-${Date.now().toString(36)}`;
  const driver = await connectBench(to);
  const stream = `stream @chunks=${options.chunks} @gap=${options.gap}`;
  for (let i = 0; i < options.warmup; i += 1) await driver.turn(sessionKey, `hello ${i}`);
  const alone = await driver.turn(sessionKey, stream, options.timeoutS * 1000);
  const clients: BenchClient[] = [];
  const connectMs: number[] = [];
  for (let i = 0; i < options.clients; i += 1) {
    const started = performance.now();
    clients.push(await connectBench(to));
    connectMs.push(performance.now() - started);
  }
  const seen = watchAll([...clients, driver]);
  const before = options.pid ? cpuSeconds(options.pid) : 0;
  const watched = await driver.turn(sessionKey, stream, options.timeoutS * 1000);
  await wait(1500);
  const shared = [...seen.values()].filter((times) => times.length > 1);
  const report = {
    turnMsAlone: round(alone.ms),
    turnMsWatched: round(watched.ms),
    deltas: watched.deltas,
    connectMs: summary(connectMs),
    distinctEvents: seen.size,
    receivers: summary([...seen.values()].map((times) => times.length)),
    lagMs: summary(shared.flatMap((times) => times.slice(1).map((time) => time - times[0]!))),
    spreadMs: summary(shared.map((times) => Math.max(...times) - times[0]!)),
    ...(options.pid ? { cpuSeconds: round(cpuSeconds(options.pid) - before), rssMb: round(residentMb(options.pid), 1) } : {}),
  };
  console.log(JSON.stringify(report));
  for (const client of [...clients, driver]) client.close();
}

if (import.meta.main) await main();
