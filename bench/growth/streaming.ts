import { once } from "node:events";
import { makeAgentPlace, startModel, type BenchModel } from "../drivers/agent-place.ts";
import { connectBench, type BenchClient, type BenchConnection } from "../drivers/client.ts";
import { cpuSeconds } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, round } from "../stats.ts";

/** Clients that take pieces of text alone announce this. */
const DELTAS = "text-deltas";

/** Counts what a connection receives of a run, without parsing it. */
interface Watcher {
  readonly client: BenchClient;
  readonly withDeltas: boolean;
  bytes: number;
  frames: number;
  /** Resolves with the time of the run's last event; rejects when the connection ends first. */
  ended: Promise<number>;
}

function watch(client: BenchClient, withDeltas: boolean): Watcher {
  const ended = Promise.withResolvers<number>();
  ended.promise.catch(() => {});
  const watcher: Watcher = { client, withDeltas, bytes: 0, frames: 0, ended: ended.promise };
  client.socket.removeAllListeners("message");
  client.socket.on("message", (data: Buffer) => {
    watcher.bytes += data.length;
    watcher.frames += 1;
    if (data.includes('"state":"final"')) ended.resolve(performance.now());
  });
  void once(client.socket, "close").then(([code, reason]) => ended.reject(new Error(`a watching client was closed: ${String(code)} ${String(reason)}`)));
  return watcher;
}

async function connectWatchers(to: BenchConnection, count: number): Promise<Watcher[]> {
  const watchers: Watcher[] = [];
  for (let i = 0; i < count; i += 1) {
    const withDeltas = i % 2 === 0;
    watchers.push(watch(await connectBench({ ...to, ...(withDeltas ? { caps: [DELTAS] } : {}) }), withDeltas));
  }
  return watchers;
}

interface Streamed {
  /** From the message until the last client has the whole answer. */
  readonly ms: number;
  readonly modelMs: number;
  readonly cpuSeconds: number;
  readonly textBytes: number;
  /** Most bytes that one client of the kind received, over the bytes of the text. */
  readonly overText: { readonly deltas: number; readonly others: number };
  readonly frames: { readonly deltas: number; readonly others: number };
}

interface Answer {
  readonly pieces: number;
  /** Characters of a piece. */
  readonly size: number;
  /** Milliseconds between pieces. */
  readonly gap: number;
  readonly watchers: number;
}

/** One answer that a number of clients watch, half of them with pieces alone. */
async function streamOnce(context: BenchContext, model: BenchModel, name: string, { pieces, size, gap, watchers: count }: Answer): Promise<Streamed> {
  const place = await makeAgentPlace(context, name, model);
  await using gateway = await place.start();
  const driver = await connectBench(place.to);
  await driver.turn("agent:main:bench-warm", "hello");
  const watchers = await connectWatchers(place.to, count);
  const before = cpuSeconds(gateway.pid);
  const started = performance.now();
  await driver.turn("agent:main:bench-stream", `@chunks=${pieces} @size=${size} @gap=${gap}`, 300_000);
  const ends = await Promise.all(watchers.map(({ ended }) => ended));
  const used = cpuSeconds(gateway.pid) - before;
  const modelMs = await model.bareCall(await model.last());
  for (const { client } of [...watchers, { client: driver }]) client.close();
  const textBytes = pieces * size;
  const most = (kind: boolean, of: "bytes" | "frames"): number => Math.max(...watchers.filter(({ withDeltas }) => withDeltas === kind).map((one) => one[of]));
  return {
    ms: Math.max(...ends) - started,
    modelMs,
    cpuSeconds: used,
    textBytes,
    overText: { deltas: most(true, "bytes") / textBytes, others: most(false, "bytes") / textBytes },
    frames: { deltas: most(true, "frames"), others: most(false, "frames") },
  };
}

function bytesRow(kind: "deltas" | "others", runs: readonly Streamed[], bar: number): Row {
  const facts = Object.fromEntries(
    runs.map((run) => [`${round(run.textBytes / 1000, 0)} KB`, `${round(run.overText[kind], 1)} × in ${run.frames[kind]} frames`]),
  );
  const name = kind === "deltas" ? "growth: bytes to a client that takes deltas / the text" : "growth: bytes to any other client / the text";
  return { name, value: round(Math.max(...runs.map((run) => run.overText[kind])), 1), unit: "×", bar, better: "lower", facts };
}

/** What an answer that is streamed in many pieces costs: bytes per client and time. */
export const streaming: Measure = {
  name: "growth: streaming",
  async run(context): Promise<readonly Row[]> {
    await context.loadStore();
    using model = await startModel(context);
    const { quick } = context;
    const small = await streamOnce(context, model, "growth-small", { pieces: quick ? 400 : 8000, size: 6, gap: 1, watchers: 2 });
    const large: Streamed[] = [];
    for (let i = 0; i < (quick ? 1 : 3); i += 1) {
      const answer = { pieces: quick ? 400 : 20_000, size: 52, gap: 1, watchers: quick ? 4 : 50 };
      large.push(await streamOnce(context, model, `growth-large-${i}`, answer));
    }
    const runs = [small, ...large];
    return [
      bytesRow("deltas", runs, 12),
      bytesRow("others", runs, 60),
      {
        name: "growth: 1 MB in 20000 pieces to 50 watching / the model's own time",
        value: round(median(large.map(({ ms, modelMs }) => ms / modelMs)), 3),
        unit: "×",
        bar: 1.3,
        better: "lower",
        facts: {
          "last client ms": large.map(({ ms }) => round(ms, 0)).join(" "),
          "the model's own time ms": large.map(({ modelMs }) => round(modelMs, 0)).join(" "),
          "processor time s": large.map((run) => round(run.cpuSeconds)).join(" "),
        },
      },
    ];
  },
};
