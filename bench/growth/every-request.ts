/** What each request over a large state costs everyone else: how long it holds the gateway's loop, how long others wait for the store, and its memory. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../src/base/errors.ts";
import { METHODS } from "../../src/protocol/index.ts";
import { connectBench, type BenchConnection } from "../drivers/client.ts";
import type { BenchContext, Row } from "../row.ts";
import { round } from "../stats.ts";
import { METHODS_BY_GROWTH, worstCalls, type WorstCall } from "./methods.ts";

/** Environment of a gateway whose loop is watched, with the file that it writes to. */
export function watchedLoop(context: BenchContext, name: string): { readonly env: Readonly<Record<string, string>>; readonly file: string } {
  const file = join(context.folder, `${name}-loop.json`);
  const driver = pathToFileURL(join(context.root, "bench/drivers/loop-delay.ts")).href;
  return { file, env: { NODE_OPTIONS: `--import=${driver}`, BENCH_LOOP_FILE: file, BENCH_COLLECT: "1" } };
}

/** The process that is asked, and the file that its loop's delay is written to. */
export interface Watched {
  readonly pid: number;
  readonly file: string;
}

/** Longest time that the loop was held since this was last asked, and the most processor time of a hold, in milliseconds. The gateway is at rest afterwards. */
async function longestHold({ pid, file }: Watched): Promise<{ readonly max: number; readonly cpu: number }> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await wait(5);
  return JSON.parse(readFileSync(file, "utf8")) as { readonly max: number; readonly cpu: number };
}

const statusMb = (pid: number, field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** Starts counting the highest memory of the process again. Where that is not permitted, memory is only known to grow. */
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Only the owner of the process may, and not in every container.
  }
}

/** Another client of the gateway; its longest wait since it was last asked. */
interface SteadyClient extends Disposable {
  longestWait(): Promise<number>;
}

/** Asks for something that costs nothing, but is not answered from memory: it waits for the loop and for the store. */
const STEADY_QUESTION = ["exec.approvals.remembered", { agentId: "nobody" }] as const;

function startSteadyClient(context: BenchContext, to: BenchConnection): SteadyClient {
  const args = [to, ...STEADY_QUESTION].map((each) => JSON.stringify(each));
  const child = spawn(context.node, [join(context.root, "bench/drivers/steady-client.ts"), ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async longestWait() {
      child.stdin.write("\n");
      const { value, done } = await answers.next();
      if (done === true) throw new Error("the client that waits beside requests has ended");
      return Number(value);
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** What one call cost, in milliseconds and MB. */
interface Cost {
  readonly name: string;
  /** Least of some calls: other programs on the machine only ever add to it. */
  readonly hold: number;
  /** Processor time of the longest hold: what of it is not due to other programs. */
  readonly holdCpu: number;
  readonly others: number;
  readonly took: number;
  /** Most of some calls, above what the gateway takes at rest. */
  readonly memory: number;
  /** The first call also loads code. */
  readonly firstHold: number;
  /** Why one of the calls was not answered: the state has nothing for it. */
  readonly refusal?: string;
}

interface Setup {
  readonly to: BenchConnection;
  readonly watched: Watched;
  readonly rounds: number;
}

async function costOf({ name, method, params }: WorstCall, { to, watched, rounds }: Setup, other: SteadyClient): Promise<Cost> {
  const client = await connectBench(to);
  const [holds, cpus, waits, times, memories]: [number[], number[], number[], number[], number[]] = [[], [], [], [], []];
  let refusal: string | undefined;
  for (let n = 0; n < rounds; n += 1) {
    await longestHold(watched);
    await other.longestWait();
    forgetPeak(watched.pid);
    const rest = statusMb(watched.pid, "VmRSS");
    const started = performance.now();
    await client.request(method, params(n)).catch((error: unknown) => (refusal = messageOf(error)));
    times.push(performance.now() - started);
    memories.push(Math.max(0, statusMb(watched.pid, "VmHWM") - rest));
    waits.push(await other.longestWait());
    const { max, cpu } = await longestHold(watched);
    holds.push(max);
    cpus.push(cpu);
  }
  client.close();
  const least = (values: readonly number[]): number => round(Math.min(...values), 1);
  const cost = {
    name,
    hold: least(holds),
    holdCpu: least(cpus),
    others: least(waits),
    took: least(times),
    memory: round(Math.max(...memories), 1),
    firstHold: round(holds[0] ?? 0, 1),
  };
  return refusal === undefined ? cost : { ...cost, refusal };
}

const worstFirst = (costs: readonly Cost[], value: (cost: Cost) => number): readonly Cost[] => costs.toSorted((a, b) => value(b) - value(a));

function costRow(
  what: string,
  { unit, bar }: Pick<Row, "unit" | "bar">,
  costs: readonly Cost[],
  value: (cost: Cost) => number,
  more: (order: readonly Cost[]) => Row["facts"] = () => ({}),
): Row {
  const order = worstFirst(costs, value);
  const [worst] = order;
  const over = order.filter((cost) => value(cost) > bar);
  return {
    name: `growth: ${what}`,
    value: worst ? value(worst) : 0,
    unit,
    bar,
    better: "lower",
    facts: {
      worst: worst?.name ?? "none",
      ...more(order),
      "over the bar": over.length,
      calls: costs.length,
      refused: costs.filter(({ refusal }) => refusal !== undefined).length,
      methods: `${Object.values(METHODS_BY_GROWTH).filter((asked) => typeof asked === "object").length} of ${Object.keys(METHODS).length}`,
    },
    all: Object.fromEntries(order.map((cost) => [cost.name, value(cost)])),
  };
}

/** What of the holds is not due to other programs on the machine. */
function processorTimes(costs: readonly Cost[]): Row["facts"] {
  const [worst] = worstFirst(costs, ({ holdCpu }) => holdCpu);
  return worst ? { "most processor time ms": worst.holdCpu, "used by": worst.name } : {};
}

/** All methods whose work may follow what is stored, each with the parameters that ask for the most. */
export async function everyRequest(context: BenchContext, to: BenchConnection, watched: Watched, only: readonly string[] = []): Promise<Row[]> {
  using other = startSteadyClient(context, to);
  const calls = worstCalls((method) => METHODS[method].effect).filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
  const costs: Cost[] = [];
  for (const call of calls) {
    const cost = await costOf(call, { to, watched, rounds: context.quick ? 1 : 4 }, other);
    costs.push(cost);
    const { hold, holdCpu, others, memory, took, firstHold, refusal } = cost;
    const refused = refusal === undefined ? "" : `, refused: ${refusal}`;
    context.say(
      `    ${call.name}: hold ${hold} ms (processor time ${holdCpu}, first ${firstHold}), others ${others} ms, ${memory} MB, took ${took} ms${refused}`,
    );
  }
  return [
    costRow("longest hold of the loop by one request", { unit: "ms", bar: 20 }, costs, ({ hold }) => hold, processorTimes),
    costRow("longest wait of another request beside one", { unit: "ms", bar: 20 }, costs, ({ others }) => others),
    costRow("most memory that one request takes", { unit: "MB", bar: 50 }, costs, ({ memory }) => memory),
  ];
}
