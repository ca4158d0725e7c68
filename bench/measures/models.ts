import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../../src/base/clock.ts";
import type { ModelEntry } from "../../src/models/entry.ts";
import { streamCall } from "../../src/models/transport/index.ts";
import { encodeRequest, loadWire, type EncodedRequest, type WireFormat, type WireRequest } from "../../src/models/wire/index.ts";
import { median, round } from "../stats.ts";
import type { BenchContext, Measure, Row } from "../row.ts";

interface Mock extends Disposable {
  readonly baseUrl: string;
}

async function startMock({ root, node }: BenchContext): Promise<Mock> {
  const child = spawn(node, [join(root, "bench/drivers/mock-model.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { baseUrl: line, [Symbol.dispose]: () => void child.kill() };
}

function entry(baseUrl: string): ModelEntry {
  return {
    provider: "bench",
    id: "mock",
    name: "Mock",
    api: "openai-completions",
    baseUrl,
    reasoning: false,
    input: ["text"],
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 8_000,
    source: "config",
  };
}

interface Asked {
  readonly format: WireFormat;
  readonly request: WireRequest;
  readonly encoded: EncodedRequest;
}

async function ask(baseUrl: string, text: string): Promise<Asked> {
  const format = await loadWire("openai-completions");
  const request: WireRequest = { model: entry(baseUrl), apiKey: "none", messages: [{ role: "user", content: text, timestamp: 1 }], thinking: "off" };
  return { format, request, encoded: encodeRequest(format, request) };
}

const OPTIONS = { clock: systemClock, headersMs: 30_000, progressMs: 30_000 };

/** Milliseconds to the first event. */
async function ours({ format, request, encoded }: Asked): Promise<number> {
  const started = performance.now();
  let first: number | undefined;
  for await (const event of streamCall(format, request, encoded, OPTIONS)) first ??= event.type === "text" ? performance.now() - started : undefined;
  return first ?? Number.NaN;
}

/** The same bytes, read and thrown away. */
async function bare({ encoded }: Asked): Promise<number> {
  const started = performance.now();
  const response = await fetch(encoded.url, { method: "POST", headers: encoded.headers, body: encoded.body });
  let first: number | undefined;
  for await (const bytes of response.body!) first ??= bytes.length > 0 ? performance.now() - started : undefined;
  return first ?? Number.NaN;
}

interface Cost {
  readonly cpuMs: number;
  readonly firstMs: number;
}

/** In turns, so that both meet the same machine. */
async function compare(asked: Asked, rounds: number, calls: number): Promise<{ readonly ours: Cost; readonly bare: Cost }> {
  const found = { ours: { cpu: [] as number[], first: [] as number[] }, bare: { cpu: [] as number[], first: [] as number[] } };
  for (let round_ = 0; round_ < rounds; round_ += 1) {
    for (const [name, call] of [["bare", bare] as const, ["ours", ours] as const]) {
      const before = process.cpuUsage();
      for (let at = 0; at < calls; at += 1) found[name].first.push(await call(asked));
      const { user, system } = process.cpuUsage(before);
      found[name].cpu.push((user + system) / 1000 / calls);
    }
  }
  const cost = ({ cpu, first }: { cpu: number[]; first: number[] }): Cost => ({ cpuMs: median(cpu), firstMs: median(first) });
  return { ours: cost(found.ours), bare: cost(found.bare) };
}

async function crowd(asked: Asked, streams: number): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await Promise.all(Array.from({ length: streams }, () => ours(asked)));
  delay.disable();
  return delay.percentile(99) / 1e6 - 1;
}

/** Milliseconds to import one bundled format in a fresh process. */
function firstImport({ root, node, quick }: BenchContext): number {
  const out = join(root, "dist-bench", "wire-alone");
  const script = `const { rolldown } = await import("rolldown"); const b = await rolldown({ input: "src/models/wire/openai-completions/index.ts", platform: "node" }); await b.write({ dir: ${JSON.stringify(out)}, format: "esm" });`;
  const built = spawnSync(node, ["--input-type=module", "-e", script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (built.status !== 0) throw new Error("the format could not be bundled");
  const measure = `const t = performance.now(); await import(${JSON.stringify(join(out, "index.js"))}); console.log(performance.now() - t);`;
  return median(Array.from({ length: quick ? 3 : 9 }, () => Number(spawnSync(node, ["--input-type=module", "-e", measure], { encoding: "utf8" }).stdout)));
}

/** How often a prompt of 2 MB is turned into bytes for three attempts: as often as its text is looked at, against one attempt. */
async function encodings(baseUrl: string): Promise<number> {
  const { createDrivers } = await import("../../src/models/call/driver.ts");
  const drivers = createDrivers({ other: () => Promise.reject(new Error("none")) });
  async function looks(attempts: number): Promise<number> {
    const text = "x".repeat(2 * 1024 * 1024);
    let count = 0;
    const message = {
      role: "user",
      timestamp: 1,
      get content() {
        count += 1;
        return text;
      },
    } as const;
    const request: WireRequest = { model: entry(baseUrl), apiKey: "none", messages: [message], thinking: "off" };
    const prepared = new Map();
    for (let attempt = 0; attempt < attempts; attempt += 1) for await (const event of drivers.stream(request, prepared, OPTIONS)) void event;
    return count;
  }
  return (await looks(3)) / (await looks(1));
}

/** Calls of a model over a real socket against a provider in another process. */
export const models: Measure = {
  name: "models",
  async run(context) {
    using mock = await startMock(context);
    const twenty = await ask(mock.baseUrl, "@chunks=20");
    for (let warm = 0; warm < (context.quick ? 5 : 100); warm += 1) await Promise.all([ours(twenty), bare(twenty)]);
    const cost = await compare(twenty, context.quick ? 3 : 15, context.quick ? 5 : 40);
    const p99 = await crowd(await ask(mock.baseUrl, "@chunks=400"), context.quick ? 8 : 64);
    const imported = firstImport(context);
    const times = await encodings(mock.baseUrl);
    const facts = { "ours ms CPU": round(cost.ours.cpuMs, 3), "bare fetch ms CPU": round(cost.bare.cpuMs, 3) };
    const rows: Row[] = [
      {
        name: "a streamed call of 20 pieces, CPU above a bare fetch",
        value: round(cost.ours.cpuMs - cost.bare.cpuMs, 3),
        unit: "ms",
        bar: 1,
        better: "lower",
        facts,
      },
      {
        name: "first token, above a bare fetch",
        value: round(cost.ours.firstMs - cost.bare.firstMs, 3),
        unit: "ms",
        bar: 1,
        better: "lower",
        facts: { "ours ms": round(cost.ours.firstMs, 3), "bare fetch ms": round(cost.bare.firstMs, 3) },
      },
      { name: "64 streams of 400 pieces: loop delay p99", value: round(p99, 1), unit: "ms", bar: 20, better: "lower", facts: {} },
      { name: "first import of a wire format", value: round(imported, 1), unit: "ms", bar: 25, better: "lower", facts: {} },
      { name: "a prompt of 2 MB and three attempts: times it is encoded", value: times, unit: "×", bar: 1, better: "lower", facts: {} },
    ];
    return rows;
  },
};
