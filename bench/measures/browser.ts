/** The browser: a task of ten steps, the outline of a large page and the difference after a click, and what it costs a gateway that does not use it. */
import { findChromium, launchChromium } from "../../test/harness/browser.ts";
import { openSite } from "../../test/browser/site.ts";
import { makeAgentPlace } from "../drivers/agent-place.ts";
import { startTaskModel } from "../drivers/browser-task.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { makeBenchPlace, type BenchPlace } from "../drivers/gateway-process.ts";
import { residentMb } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, round } from "../stats.ts";

/** Six elements each. */
const ROWS = 833;
const CHARS_PER_TOKEN = 3;
const TASK_MS = 120_000;

async function tasks(place: BenchPlace, model: Awaited<ReturnType<typeof startTaskModel>>, runs: number): Promise<readonly Row[]> {
  const client = await connectBench(place.to);
  const [tokens, conversation, calls]: [number[], number[], number[]] = [[], [], []];
  let good = 0;
  for (let n = 0; n < runs; n += 1) {
    await client.request("browser.request", { method: "POST", path: "/start", idempotencyKey: `start-${n}` });
    await client.request("browser.request", { method: "POST", path: "/tabs/open", body: { url: "about:blank" }, idempotencyKey: `open-${n}` });
    await client.request("browser.request", { method: "POST", path: "/cookies/clear", idempotencyKey: `clear-${n}` });
    await client.turn(`agent:main:bench-browser-${n}`, "log in, search, order, download the invoice", TASK_MS);
    const run = model.take();
    tokens.push(run.tokens);
    conversation.push(run.conversation);
    calls.push(run.calls);
    if (/downloaded "invoice\.csv"/.test(run.end)) good += 1;
    await client.request("browser.request", { method: "POST", path: "/stop", idempotencyKey: `stop-${n}` });
  }
  client.close();
  // The system prompt and the tools are the same in every request of an agent, whatever it does, and come from the provider's cache.
  const facts = { runs, "calls each": Math.max(...calls), "without the system prompt and tools": Math.max(...conversation) };
  return [
    {
      name: "browser: task of ten steps, prompt tokens of all calls",
      value: Math.max(...tokens),
      unit: "tokens",
      bar: 25_000,
      better: "lower",
      facts,
    },
    { name: "browser: tasks that succeed", value: good / runs, unit: "×", bar: 1, better: "higher", facts: { runs, good } },
    { name: "browser: calls of a task of ten steps", value: Math.max(...calls), unit: "×", bar: 12, better: "lower", facts },
  ];
}

/** The driver's own outline of the same page. */
async function bareSnapshots(url: string, rounds: number): Promise<readonly number[]> {
  await using browser = await launchChromium();
  const page = await browser.newPage();
  await page.goto(url);
  const times: number[] = [];
  for (let n = 0; n <= rounds; n += 1) {
    const started = performance.now();
    await page.locator("body").ariaSnapshot();
    if (n > 0) times.push(performance.now() - started);
  }
  return times;
}

async function snapshots(client: BenchClient, url: string, rounds: number): Promise<readonly Row[]> {
  const opened = await client.request("browser.request", { method: "POST", path: "/tabs/open", body: { url }, idempotencyKey: "large" });
  const more = /"More" \[(e\d+)\]/.exec(String(opened["text"]))?.[1];
  const times: number[] = [];
  let chars = 0;
  for (let n = 0; n <= rounds; n += 1) {
    const started = performance.now();
    const { text } = await client.request("browser.request", { method: "GET", path: "/snapshot", idempotencyKey: `snapshot-${n}` });
    if (n > 0) times.push(performance.now() - started);
    chars = String(text).length;
  }
  const clicked = await client.request("browser.request", { method: "POST", path: "/act", body: { kind: "click", ref: more }, idempotencyKey: "click" });
  if (!String(clicked["text"]).includes("Count: 1")) throw new Error(`the click did not count: ${String(clicked["text"])}`);
  const bare = await bareSnapshots(url, rounds);
  const facts = { "bare driver ms": round(median(bare), 1), rounds };
  const tokens = (length: number): number => Math.ceil(length / CHARS_PER_TOKEN);
  return [
    { name: "browser: outline of 5,000 nodes", value: round(median(times), 1), unit: "ms", bar: 250, better: "lower", facts },
    { name: "browser: tokens of that outline", value: tokens(chars), unit: "tokens", bar: 6000, better: "lower", facts: { chars } },
    {
      name: "browser: tokens of the answer to a click on that page",
      value: tokens(JSON.stringify(clicked).length),
      unit: "tokens",
      bar: 500,
      better: "lower",
      facts: { chars: JSON.stringify(clicked).length },
    },
  ];
}

/** Starts of a gateway with the browser configured and without, by turns. */
async function unused(context: BenchContext, configured: object, rounds: number): Promise<readonly Row[]> {
  const places = [
    await makeBenchPlace(context, "browser-without", { built: context.built }),
    await makeBenchPlace(context, "browser-unused", { config: { browser: configured }, built: context.built }),
  ] as const;
  const starts: readonly [number[], number[]] = [[], []];
  const memory: readonly [number[], number[]] = [[], []];
  for (let n = 0; n <= rounds; n += 1) {
    for (const [which, place] of places.entries()) {
      await using gateway = await place.start();
      // The first writes the compiled code.
      if (n === 0) continue;
      starts[which]?.push(gateway.ready.readyMs);
      memory[which]?.push(residentMb(gateway.pid));
    }
  }
  const [without, withIt] = [median(starts[0]), median(starts[1])];
  const [lean, present] = [median(memory[0]), median(memory[1])];
  return [
    {
      name: "browser: gateway start with it configured / without",
      value: round(withIt / without),
      unit: "×",
      bar: 1.1,
      better: "lower",
      facts: { "without ms": round(without, 1), "with ms": round(withIt, 1) },
    },
    {
      name: "browser: idle memory with it configured and unused, above without",
      value: round(present - lean, 1),
      unit: "MB",
      bar: 2,
      better: "lower",
      facts: { "without MB": round(lean, 1), "with MB": round(present, 1) },
    },
  ];
}

async function run(context: BenchContext): Promise<readonly Row[]> {
  const chromium = findChromium("headless");
  if ("missing" in chromium) throw new Error(chromium.missing);
  // Makes the build that is measured.
  await context.loadStore();
  await using site = await openSite();
  const at = `http://127.0.0.1:${site.port}`;
  await using model = await startTaskModel(at);
  const browser = { executablePath: chromium.path, headless: true, noSandbox: true, ssrfPolicy: { allowedHostnames: ["127.0.0.1"] } };
  const bench = { baseUrl: model.baseUrl } as Parameters<typeof makeAgentPlace>[2];
  const config = { browser, tools: { allow: ["browser"] } };
  const place = await makeAgentPlace(context, "browser", bench, { config });
  const rows: Row[] = [];
  {
    await using _gateway = await place.start();
    rows.push(...(await tasks(place, model, context.quick ? 3 : 100)));
    const client = await connectBench(place.to);
    rows.push(...(await snapshots(client, `${at}/large?rows=${ROWS}`, context.quick ? 5 : 40)));
    client.close();
  }
  rows.push(...(await unused(context, { ...browser, profiles: { work: { color: "#0066CC", cdpPort: 18_801 } } }, context.quick ? 2 : 15)));
  return rows;
}

export const browser: Measure = { name: "browser", run };
