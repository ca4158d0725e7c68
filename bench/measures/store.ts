import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/index.ts";
import { median, quantile, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

/** About what one step of a turn puts on disk. */
const TEXT = "x".repeat(400);

/** The floor: append and fdatasync of the same bytes, nothing else. */
export function rawAppends(folder: string, rounds: number): number {
  const fd = openSync(join(folder, "raw.log"), "a");
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const started = performance.now();
    writeSync(fd, `${JSON.stringify(message(i))}\n`);
    fdatasyncSync(fd);
    times.push(performance.now() - started);
  }
  closeSync(fd);
  return median(times);
}

function message(index: number) {
  return { channel: "bench", account: "default", conversation: `c${index % 64}`, messageId: `id-${index}`, kind: "message", text: TEXT };
}

async function sequential(store: Store, from: number, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const started = performance.now();
    await store.write("inbox.accept", message(from + i));
    times.push(performance.now() - started);
  }
  return times;
}

/** 64 writers, each waiting for its own commit before the next. */
async function concurrent(store: Store, from: number, perWriter: number): Promise<{ rate: number; p99: number; loopP99: number }> {
  const times: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: 64 }, async (_, writer) => {
      for (let i = 0; i < perWriter; i += 1) {
        const before = performance.now();
        await store.write("inbox.accept", message(from + writer * perWriter + i));
        times.push(performance.now() - before);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  delay.disable();
  // The monitor counts its own sampling interval of 1 ms as delay.
  return { rate: times.length / seconds, p99: quantile(times, 0.99), loopP99: Math.max(0, delay.percentile(99) / 1e6 - 1) };
}

export const store: Measure = {
  name: "store",
  async run(context: BenchContext): Promise<readonly Row[]> {
    const { openStore } = await context.loadStore();
    const folder = join(context.folder, "store");
    mkdirSync(folder);
    await using open = await openStore({ stateDir: folder, clock: systemClock });
    const rounds = context.quick ? 50 : 2000;
    await sequential(open, 0, context.quick ? 20 : 300);
    // In turns, so that both see the same disk.
    const raws: number[] = [];
    const times: number[] = [];
    for (let part = 0; part < 5; part += 1) {
      raws.push(rawAppends(folder, Math.ceil(rounds / 5)));
      times.push(...(await sequential(open, 1000 + part * rounds, Math.ceil(rounds / 5))));
    }
    const raw = median(raws);
    const one = median(times);
    const perWriter = context.quick ? 20 : 500;
    await concurrent(open, 10_000_000, Math.ceil(perWriter / 5));
    const many = await concurrent(open, 20_000_000, perWriter);
    const sequentialRate = 1000 / one;
    const facts = {
      "append+fdatasync ms": round(raw, 3),
      "sequential ms": round(one, 3),
      "sequential /s": Math.round(sequentialRate),
      "64 writers /s": Math.round(many.rate),
    };
    return [
      { name: "store: sequential commit / append+fdatasync", value: round(one / raw), unit: "×", bar: 2.5, better: "lower", facts },
      { name: "store: 64 writers / sequential rate", value: round(many.rate / sequentialRate, 1), unit: "×", bar: 8, better: "higher", facts },
      {
        name: "store: 64 writers p99 / sequential median",
        value: round(many.p99 / one, 1),
        unit: "×",
        bar: 20,
        better: "lower",
        facts: { "p99 ms": round(many.p99, 2) },
      },
      { name: "store: main thread delay p99 at full rate", value: round(many.loopP99), unit: "ms", bar: 5, better: "lower", facts: {} },
    ];
  },
};
