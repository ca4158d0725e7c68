import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import { cpuMs, residentMb } from "../drivers/process-facts.ts";
import type { BenchContext, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { startBare } from "./crowd.ts";

/** 95th percentile of `health`, one after the other, for a while. */
async function latency(client: BenchClient, ms: number): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end || times.length < 20) {
    const started = performance.now();
    await client.request("health");
    times.push(performance.now() - started);
    await wait(2);
  }
  return quantile(times, 0.95);
}

interface Target {
  readonly pid: number;
  readonly port: number;
  readonly client: BenchClient;
}

interface Round {
  readonly calm: number;
  readonly flood: number;
  /** Memory more than before, in MB. */
  readonly added: number;
  /** Of one core, in percent, while latency was measured in the flood. */
  readonly load: number;
  readonly opened: number;
  readonly held: number;
}

/** A calm while, then the same with strangers. */
async function floodRound(context: BenchContext, { pid, port, client }: Target): Promise<Round> {
  const [sockets, seconds, settleMs, measureMs] = context.quick ? [50, 1, 200, 200] : [1000, 5.5, 1500, 3500];
  const calm = await latency(client, context.quick ? 100 : 2000);
  const before = residentMb(pid);
  const args = ["--port", String(port), "--sockets", String(sockets), "--seconds", String(seconds)];
  const child = spawn(context.node, [join(context.root, "bench/drivers/flood.ts"), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  const ended = once(child, "close");
  await wait(settleMs);
  const used = cpuMs(pid);
  const started = performance.now();
  const flood = await latency(client, measureMs);
  const load = ((cpuMs(pid) - used) / (performance.now() - started)) * 100;
  const added = residentMb(pid) - before;
  await ended;
  // What the strangers left is cut off after two seconds.
  await wait(context.quick ? 50 : 2500);
  return { calm, flood, added, load, ...(JSON.parse(said) as { opened: number; held: number }) };
}

const ratio = (rounds: readonly Round[]): number => median(rounds.map(({ calm, flood }) => flood / calm));
const of = (rounds: readonly Round[], name: keyof Round): number => round(median(rounds.map((each) => each[name])));

/** A client among strangers, in turns with the same client and strangers at a bare server: on two cores the strangers' process itself is in the way. */
export async function strangers(context: BenchContext, place: BenchPlace): Promise<Row[]> {
  await using gateway = await place.start();
  using bareServer = await startBare(context, "bare-answers.ts");
  const ours: Target = { pid: gateway.pid, port: place.port, client: await connectBench(place.to) };
  const theirs = { ...place.to, url: `ws://127.0.0.1:${bareServer.port}` };
  const bare: Target = { pid: bareServer.child.pid!, port: bareServer.port, client: await connectBench(theirs) };
  for (const { client } of [ours, bare]) await latency(client, context.quick ? 50 : 1500);
  const rounds: Round[] = [];
  const bareRounds: Round[] = [];
  for (let i = 0; i < (context.quick ? 1 : 3); i += 1) {
    rounds.push(await floodRound(context, ours));
    bareRounds.push(await floodRound(context, bare));
  }
  for (const { client } of [ours, bare]) client.close();
  return [
    {
      name: "gateway: memory added by a flood of strangers",
      value: round(Math.max(0.01, rounds[0]!.added), 1),
      unit: "MB",
      bar: 40,
      better: "lower",
      facts: { opened: rounds[0]!.opened, held: rounds[0]!.held, "bare ws MB": round(bareRounds[0]!.added, 1) },
    },
    {
      name: "gateway: health p95 in the flood / calm",
      value: round(ratio(rounds)),
      unit: "×",
      bar: 2,
      better: "lower",
      facts: {
        "calm ms": of(rounds, "calm"),
        "flood ms": of(rounds, "flood"),
        "load %": of(rounds, "load"),
        opened: of(rounds, "opened"),
        "bare ws ×": round(ratio(bareRounds)),
        "bare load %": of(bareRounds, "load"),
        "bare opened": of(bareRounds, "opened"),
      },
    },
  ];
}
