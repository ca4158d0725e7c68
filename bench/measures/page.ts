import { existsSync, mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { findChromium } from "../../test/harness/browser.ts";
import { makeAgentPlace, startModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { makeBenchPlace } from "../drivers/gateway-process.ts";
import { openBenchPage, type BenchPage } from "../drivers/page.ts";
import { cpuMs } from "../drivers/process-facts.ts";
import { bareNodeMs } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { fill } from "./big-state.ts";

const LONG = "agent:main:bench:direct:0";
const ENTRIES = 100_000;
const LOADS = 7;
const STARTS = 15;

const load = (): number => round(loadavg()[0] ?? 0);

async function firstLoad(page: BenchPage): Promise<Row[]> {
  const loads: Awaited<ReturnType<BenchPage["load"]>>[] = [];
  const empty: number[] = [];
  for (let i = 0; i < LOADS; i += 1) {
    empty.push(await page.loadEmpty());
    loads.push(await page.load());
  }
  const times = loads.map(({ interactiveMs }) => interactiveMs);
  const facts = { "empty page ms": round(median(empty), 1), "slowest ms": round(Math.max(...times), 1), loads: LOADS, "load average": load() };
  return [
    {
      name: "page: first load, compressed",
      value: round(median(loads.map(({ transferredKb }) => transferredKb)), 1),
      unit: "KB",
      bar: 150,
      better: "lower",
      facts: {},
    },
    { name: "page: interactive, with nothing in the cache", value: round(median(times), 1), unit: "ms", bar: 300, better: "lower", facts },
  ];
}

/** 2,000 tokens, about 200 a second: a timer of 4 ms comes after 5. */
async function stream(page: BenchPage, client: BenchClient): Promise<Row> {
  const key = "agent:main:bench-stream";
  await client.turn(key, "begin @say=it-has-begun");
  await page.open(key, "it-has-begun");
  let ms = 0;
  const frames = await page.frames(async () => {
    ({ ms } = await client.turn(key, "go @chunks=2000 @gap=4"));
    await page.open(key, "w1999");
  });
  const facts = {
    frames: frames.length,
    "p99 ms": round(quantile(frames, 0.99), 1),
    "median ms": round(median(frames), 1),
    "tokens a second": Math.round(2_000_000 / ms),
    "load average": load(),
  };
  return {
    name: "page: script in the longest frame of a 2,000-token stream",
    value: round(Math.max(...frames), 1),
    unit: "ms",
    bar: 50,
    better: "lower",
    facts,
  };
}

async function openLong(page: BenchPage): Promise<Row> {
  const times: number[] = [];
  const short: number[] = [];
  for (let i = 0; i < LOADS; i += 1) {
    short.push(await page.open("agent:main:bench-stream", "w1999"));
    times.push(await page.open(LONG, "quick brown fox"));
  }
  const facts = { "session of four entries ms": round(median(short), 1), "slowest ms": round(Math.max(...times), 1), "load average": load() };
  return { name: `page: opening a session with ${ENTRIES} entries`, value: round(median(times), 1), unit: "ms", bar: 200, better: "lower", facts };
}

async function memory(page: BenchPage, client: BenchClient): Promise<Row> {
  const key = "agent:main:bench-memory";
  const after = async (turns: number, word: string): Promise<Awaited<ReturnType<BenchPage["memory"]>>> => {
    for (let i = 0; i < turns; i += 1) await client.turn(key, "hello");
    await client.turn(key, `last @say=${word}`);
    await page.open(key, word);
    await wait(500);
    return page.memory();
  };
  await client.turn(key, "begin @say=it-has-begun");
  await page.open(key, "it-has-begun");
  const first = await after(98, "two-hundred-messages");
  const second = await after(499, "twelve-hundred-messages");
  const facts = { "MB at 200": round(first.heapMb, 1), "MB at 1,200": round(second.heapMb, 1), "nodes at 200": first.nodes, "nodes at 1,200": second.nodes };
  return { name: "page: heap at 1,200 messages / at 200", value: round(second.heapMb / first.heapMb), unit: "×", bar: 1.1, better: "lower", facts };
}

/** The page is loaded when it is asked for, so that a start with it is a start without it. In processor time: the difference is smaller than a machine's mood. */
async function starts(context: BenchContext, root: string): Promise<Row> {
  const place = (name: string, controlUi: object) => makeBenchPlace(context, name, { built: context.built, config: { gateway: { controlUi } } });
  const places = [await place("page-with", { root }), await place("page-without", { enabled: false })] as const;
  const cpu: [number[], number[]] = [[], []];
  const wall: [number[], number[]] = [[], []];
  const bare: number[] = [];
  for (let i = 0; i <= STARTS; i += 1) {
    bare.push(bareNodeMs(context.node));
    for (const at of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      await using gateway = await places[at].start();
      // The first compiles what later ones find compiled.
      if (i === 0) continue;
      cpu[at].push(cpuMs(gateway.pid));
      wall[at].push(gateway.ready.readyMs);
    }
  }
  const [withIt, without] = [median(cpu[0]), median(cpu[1])];
  const facts = {
    "with ms CPU": round(withIt, 1),
    "without ms CPU": round(without, 1),
    "with ms": round(median(wall[0]), 1),
    "without ms": round(median(wall[1]), 1),
    "bare node ms": round(median(bare), 1),
    "load average": load(),
  };
  return { name: "page: gateway start with it / without it", value: round(withIt / without), unit: "×", bar: 1.1, better: "lower", facts };
}

/** In headless Chromium, against a gateway with a mock model. A quick run leaves the browser out. */
export const page: Measure = {
  name: "page",
  async run(context: BenchContext): Promise<readonly Row[]> {
    if (context.quick) return [];
    const chromium = findChromium("whole");
    const root = join(context.root, "dist/ui");
    if ("missing" in chromium || !existsSync(root)) {
      context.say(`  left out: ${"missing" in chromium ? chromium.missing : "dist/ui is not built"}`);
      return [];
    }
    const { openStore } = await context.loadStore();
    using model = await startModel(context);
    const place = await makeAgentPlace(context, "page", model, { config: { gateway: { controlUi: { root } } } });
    mkdirSync(place.stateDir, { mode: 0o700 });
    await (await openStore({ stateDir: place.stateDir, clock: systemClock }))[Symbol.asyncDispose]();
    fill(join(place.stateDir, "openclaw.db"), 10, ENTRIES + 100, ENTRIES);
    await using _gateway = await place.start();
    const url = `http://127.0.0.1:${place.port}`;
    const client = await connectBench(place.to);
    const { path } = await client.request("login.code");
    await using opened = await openBenchPage(url, new URL(String(path), url).href);
    const rows = [...(await firstLoad(opened)), await stream(opened, client), await openLong(opened), await memory(opened, client)];
    client.close();
    return [...rows, await starts(context, root)];
  },
};
