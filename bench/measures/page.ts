import { existsSync, mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { findChromium } from "../../test/harness/browser.ts";
import { makeAgentPlace, startModel, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { makeBenchPlace } from "../drivers/gateway-process.ts";
import { openBenchPage, type BenchPage } from "../drivers/page.ts";
import { cpuMs } from "../drivers/process-facts.ts";
import { bareNodeMs } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { fill } from "./big-state.ts";

const LONG = "agent:main:bench:direct:0";

/** How much of each: enough to show that all of it runs, or enough for figures. */
const sizesOf = (quick: boolean) =>
  quick
    ? { entries: 2000, loads: 2, starts: 2, tokens: 200, first: 8, second: 19, minute: 1 }
    : { entries: 100_000, loads: 7, starts: 15, tokens: 2000, first: 98, second: 499, minute: 10 };
type Sizes = ReturnType<typeof sizesOf>;

const load = (): number => round(loadavg()[0] ?? 0);
const loopMs = async (page: BenchPage): Promise<number> => round(median([await page.loop(), await page.loop(), await page.loop()]), 1);

async function firstLoad(page: BenchPage, { loads: count }: Sizes): Promise<Row[]> {
  const loads: Awaited<ReturnType<BenchPage["load"]>>[] = [];
  const empty: number[] = [];
  for (let i = 0; i < count; i += 1) {
    empty.push(await page.loadEmpty());
    loads.push(await page.load());
  }
  const times = loads.map(({ interactiveMs }) => interactiveMs);
  const facts = { "empty page ms": round(median(empty), 1), "slowest ms": round(Math.max(...times), 1), loads: count, "load average": load() };
  return [
    {
      name: "page: first load, compressed",
      value: round(median(loads.map(({ transferredKb }) => transferredKb)), 1),
      unit: "KB",
      bar: 130,
      better: "lower",
      facts: {},
    },
    { name: "page: interactive, with nothing in the cache", value: round(median(times), 1), unit: "ms", bar: 250, better: "lower", facts },
  ];
}

/** An answer of so many tokens as models write them: text, a list, code, a table, and a word at its end. */
function answer(tokens: number): string {
  const text = (words: number): string => Array.from({ length: words }, (_, at) => (at % 9 === 4 ? "**marked**" : `word${at}`)).join(" ");
  const code = (lines: number): string => Array.from({ length: lines }, (_, at) => `const value${at} = add(${at}, "text");`).join("\n");
  const table = (rows: number): string => Array.from({ length: rows }, (_, at) => `| row ${at} | some words | ${at} |`).join("\n");
  const part = tokens / 8;
  return [
    text(2 * part),
    `- ${text(part).replaceAll(/(?<=9) /g, "\n- ")}`,
    `\`\`\`ts\n${code(Math.round((2 * part) / 6))}\n\`\`\``,
    `| a | b | c |\n| --- | --- | --- |\n${table(Math.round(part / 9))}`,
    `${text(2 * part)} it-is-over`,
  ].join("\n\n");
}

/** Tokens come every 4 ms, about 200 a second: a timer of 4 ms comes after 5. */
async function stream(page: BenchPage, client: BenchClient, model: BenchModel, { tokens }: Sizes): Promise<Row> {
  const traced = async (key: string, say: string, end: string) => {
    await client.turn(key, "begin @say=it-has-begun");
    await page.open(key, "it-has-begun");
    let ms = 0;
    const { frames, tasks } = await page.traced(async () => {
      await model.plan({ say, gap: 4 });
      ({ ms } = await client.turn(key, "go"));
      await page.open(key, end);
    });
    return { frames, tasks, ms };
  };
  const plain = await traced("agent:main:bench-plain", `${"word ".repeat(tokens)}it-is-over`, "it-is-over");
  const { frames, tasks, ms } = await traced("agent:main:bench-stream", answer(tokens), "it-is-over");
  const facts = {
    "plain words ms": round(Math.max(...plain.tasks), 1),
    "p99 task ms": round(quantile(tasks, 0.99), 1),
    "script in the longest frame ms": round(Math.max(...frames), 1),
    frames: frames.length,
    "tokens a second": Math.round((tokens * 1000) / ms),
    "fixed loop ms": await loopMs(page),
    "load average": load(),
  };
  return {
    name: `page: longest task while a ${tokens.toLocaleString("en")}-token answer with code and a table streams`,
    value: round(Math.max(...tasks), 1),
    unit: "ms",
    bar: 30,
    better: "lower",
    facts,
  };
}

async function openLong(page: BenchPage, { loads, entries }: Sizes): Promise<Row> {
  const times: number[] = [];
  const short: number[] = [];
  for (let i = 0; i < loads; i += 1) {
    short.push(await page.open("agent:main:bench-stream", "it-is-over"));
    times.push(await page.open(LONG, "quick brown fox"));
  }
  const facts = { "session of four entries ms": round(median(short), 1), "slowest ms": round(Math.max(...times), 1), "load average": load() };
  return { name: `page: opening a session with ${entries} entries`, value: round(median(times), 1), unit: "ms", bar: 200, better: "lower", facts };
}

async function memory(page: BenchPage, client: BenchClient, sizes: Sizes): Promise<Row> {
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
  const first = await after(sizes.first, "two-hundred-messages");
  const second = await after(sizes.second, "twelve-hundred-messages");
  const facts = { "MB at 200": round(first.heapMb, 1), "MB at 1,200": round(second.heapMb, 1), "nodes at 200": first.nodes, "nodes at 1,200": second.nodes };
  return { name: "page: heap at 1,200 messages / at 200", value: round(second.heapMb / first.heapMb), unit: "×", bar: 1.1, better: "lower", facts };
}

/** What a person does within six seconds: a page, a session, a message with its answer, the palette. */
async function act(page: BenchPage, client: BenchClient, at: number): Promise<void> {
  const key = `agent:main:bench-hour-${at % 5}`;
  const path = ["overview", "sessions", "jobs", "logs", "config", "agents"][at % 6]!;
  switch (at % 4) {
    case 0:
      await client.turn(key, `step ${at} @say=done-${at}-of-them`);
      return void (await page.open(key, `done-${at}-of-them`));
    case 1:
      return page.go(path);
    case 2:
      return void (await page.open(LONG, "quick brown fox"));
    default:
      return page.peek();
  }
}

/** An hour of use, in which nobody pauses: ten things a minute. */
async function hour(page: BenchPage, client: BenchClient, { minute }: Sizes): Promise<Row> {
  let done = 0;
  const until = async (minutes: number): Promise<Awaited<ReturnType<BenchPage["memory"]>>> => {
    for (; done < minutes * minute; done += 1) await act(page, client, done);
    await page.open(LONG, "quick brown fox");
    await wait(500);
    return page.memory();
  };
  const [first, second] = [await until(10), await until(60)];
  const facts = {
    "MB after ten minutes": round(first.heapMb, 1),
    "MB after an hour": round(second.heapMb, 1),
    "nodes after ten minutes": first.nodes,
    "nodes after an hour": second.nodes,
    actions: done,
  };
  return {
    name: "page: heap after an hour of use / after ten minutes",
    value: round(second.heapMb / first.heapMb),
    unit: "×",
    bar: 1.1,
    better: "lower",
    facts,
  };
}

/** The page is loaded when it is asked for, so that a start with it is a start without it. In processor time: the difference is smaller than a machine's mood. */
async function starts(context: BenchContext, root: string, { starts: count }: Sizes): Promise<Row> {
  const place = (name: string, controlUi: object) => makeBenchPlace(context, name, { built: context.built, config: { gateway: { controlUi } } });
  const places = [await place("page-with", { root }), await place("page-without", { enabled: false })] as const;
  const cpu: [number[], number[]] = [[], []];
  const wall: [number[], number[]] = [[], []];
  const bare: number[] = [];
  for (let i = 0; i <= count; i += 1) {
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

/** In headless Chromium, against a gateway with a mock model. */
export const page: Measure = {
  name: "page",
  async run(context: BenchContext): Promise<readonly Row[]> {
    const chromium = findChromium("whole");
    const root = join(context.root, "dist/ui");
    if ("missing" in chromium || !existsSync(root)) {
      context.say(`  left out: ${"missing" in chromium ? chromium.missing : "dist/ui is not built"}`);
      return [];
    }
    const sizes = sizesOf(context.quick);
    const { openStore } = await context.loadStore();
    using model = await startModel(context);
    const place = await makeAgentPlace(context, "page", model, { config: { gateway: { controlUi: { root } } } });
    mkdirSync(place.stateDir, { mode: 0o700 });
    await (await openStore({ stateDir: place.stateDir, clock: systemClock }))[Symbol.asyncDispose]();
    fill(join(place.stateDir, "openclaw.db"), 10, sizes.entries + 100, sizes.entries);
    await using _gateway = await place.start();
    const client = await connectBench(place.to);
    await using opened = await openBenchPage(place, client);
    const rows = [
      ...(await firstLoad(opened, sizes)),
      await stream(opened, client, model, sizes),
      await openLong(opened, sizes),
      await memory(opened, client, sizes),
      await hour(opened, client, sizes),
    ];
    client.close();
    return [...rows, await starts(context, root, sizes)];
  },
};
