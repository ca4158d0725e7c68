/** The page of a gateway that many have used for long: 10,000 conversations in the list, and a million messages to search. */
import { existsSync, mkdirSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.ts";
import { findChromium } from "../../test/harness/browser.ts";
import { makeAgentPlace, startModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import { openBenchPage, type BenchPage } from "../drivers/page.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { fill } from "./big-state.ts";

const sizesOf = (quick: boolean) =>
  quick ? { sessions: 300, messages: 3000, scrollMs: 500, rounds: 3 } : { sessions: 10_000, messages: 1_000_000, scrollMs: 5000, rounds: 15 };
type Sizes = ReturnType<typeof sizesOf>;

const WORDS = "Please look at the plan for the garden behind the house and tell me what to plant there before the summer begins.";
/** Every message has a word of its own among those that all have. */
const textOf = (session: number, seq: number): string => `${WORDS} Item${session}x${seq} of list ${session % 97}.`;
const keyOf = (session: number): string => `agent:main:bench:direct:${session}`;

async function list(page: BenchPage, { sessions, scrollMs, rounds }: Sizes): Promise<readonly Row[]> {
  const many = sessions.toLocaleString("en");
  await page.open(keyOf(1), "Item1x");
  const { frames, pixels } = await page.scrollList(scrollMs);
  const opens: number[] = [];
  for (let at = 0; at < rounds; at += 1) opens.push(await page.open(keyOf(2 + at), `Item${2 + at}x`));
  const total = frames.reduce((sum, ms) => sum + ms, 0);
  const facts = {
    "longest frame ms": round(Math.max(...frames), 1),
    "p99 ms": round(quantile(frames, 0.99), 1),
    "pixels in the list": pixels,
    "fixed loop ms": round(await page.loop(), 1),
    "load average": round(loadavg()[0] ?? 0),
  };
  return [
    // A screen of 60 Hz shows 59.9 or 60.1.
    {
      name: `page: ${many} sessions in the sidebar, frames while scrolling`,
      value: round((frames.length * 1000) / total, 1),
      unit: "/s",
      bar: 59,
      better: "higher",
      facts,
    },
    {
      name: `page: ${many} sessions in the sidebar, opening one`,
      value: round(median(opens), 1),
      unit: "ms",
      bar: 100,
      better: "lower",
      facts: { "slowest ms": round(Math.max(...opens), 1), rounds, "fixed loop ms": facts["fixed loop ms"] },
    },
  ];
}

/** Resolves when every message can be found. */
async function indexed(client: BenchClient, { messages, sessions }: Sizes): Promise<void> {
  const each = Math.floor(messages / sessions);
  for (;;) {
    const { results, indexing } = (await client.request("chat.search", { query: `Item${sessions - 1}x${each}` })) as {
      readonly results: readonly unknown[];
      readonly indexing?: boolean;
    };
    if (indexing !== true && results.length > 0) return;
    await wait(500);
  }
}

/** From the last letter to the first result on the screen, beside the gateway's share of it. */
async function search(page: BenchPage, client: BenchClient, { messages, rounds }: Sizes): Promise<Row> {
  const shown: number[] = [];
  const answered: number[] = [];
  const queries = Array.from({ length: rounds }, (_, at) => ["garden summer", "plan for the garden", "what to plant before the summer"][at % 3]!);
  for (const query of queries) {
    const started = performance.now();
    await client.request("chat.search", { query });
    answered.push(performance.now() - started);
    shown.push(await page.search(query));
  }
  const facts = {
    "gateway ms": round(median(answered), 1),
    "slowest ms": round(Math.max(...shown), 1),
    "slowest of the gateway ms": round(Math.max(...answered), 1),
    rounds,
    "load average": round(loadavg()[0] ?? 0),
  };
  return {
    name: `page: first results of a search over ${messages.toLocaleString("en")} messages`,
    value: round(median(shown), 1),
    unit: "ms",
    bar: 150,
    better: "lower",
    facts,
  };
}

export const pageCrowd: Measure = {
  name: "page, crowd",
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
    const place = await makeAgentPlace(context, "page-crowd", model, { config: { gateway: { controlUi: { root } } } });
    mkdirSync(place.stateDir, { mode: 0o700 });
    await (await openStore({ stateDir: place.stateDir, clock: systemClock }))[Symbol.asyncDispose]();
    context.say(`  making a state with ${sizes.sessions} sessions and ${sizes.messages} messages …`);
    fill(join(place.stateDir, "openclaw.db"), sizes.sessions, sizes.messages, 0, textOf);
    await using _gateway = await place.start();
    const client = await connectBench(place.to);
    context.say("  indexing …");
    await indexed(client, sizes);
    await using opened = await openBenchPage(place, client);
    const rows = [...(await list(opened, sizes)), await search(opened, client, sizes)];
    client.close();
    return rows;
  },
};
