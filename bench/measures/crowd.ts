import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { connectBench, type BenchClient } from "../drivers/client.ts";
import type { BenchPlace } from "../drivers/gateway-process.ts";
import { cpuMs, residentMb } from "../drivers/process-facts.ts";
import { endProcess } from "../drivers/startup.ts";
import type { BenchContext, Row } from "../row.ts";
import { median, round } from "../stats.ts";

/** A server to compare with, in a process of its own. It ends with its standard input. */
export interface BareServer extends Disposable {
  readonly child: ChildProcess;
  readonly port: number;
}

export async function startBare({ node, root }: BenchContext, driver: string): Promise<BareServer> {
  const child = spawn(node, [join(root, "bench/drivers", driver)], { stdio: ["pipe", "pipe", "inherit"] });
  const port = Number(String((await once(child.stdout, "data"))[0]));
  return { child, port, [Symbol.dispose]: () => void child.stdin.end() };
}

/** Processor time of a process, from before `act` until what it causes is over. */
async function costOf(pid: number, act: () => void): Promise<number> {
  const before = cpuMs(pid);
  act();
  await wait(300);
  return cpuMs(pid) - before;
}

/** Processor time of broadcasts to 2,000 clients, and of bare writes of as many bytes to as many sockets, alternating. */
interface BroadcastCost {
  readonly ours: number[];
  readonly bare: number[];
  /** Of one frame. */
  bytes: number;
}

/** As many sockets as there are clients, at a server that does nothing but write. */
interface Floor extends Disposable {
  /** Processor time of one write of this many bytes to each. */
  write(bytes: number): Promise<number>;
}

async function startFloor(context: BenchContext, size: number): Promise<Floor> {
  const { child, port, [Symbol.dispose]: end } = await startBare(context, "bare-writes.ts");
  const sockets = Array.from({ length: size }, () => createConnection({ host: "127.0.0.1", port }).resume());
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return {
    write: (bytes) => costOf(child.pid!, () => void child.stdin!.write(`${Buffer.alloc(bytes).toString("base64")}\n`)),
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      end();
    },
  };
}

const SAMPLE_MS = 20;
const FRAME_HEAD = 2;

/** Processor time of the next tick: from the last look before it was made until everything is over. */
async function costOfTick(pid: number, { socket }: BenchClient): Promise<{ ms: number; bytes: number }> {
  const samples: { readonly at: number; readonly ms: number }[] = [];
  const sampling = setInterval(() => samples.push({ ms: cpuMs(pid), at: Date.now() }), SAMPLE_MS);
  const came = Promise.withResolvers<{ before: number; bytes: number }>();
  const onMessage = (data: Buffer): void => {
    const { event, payload } = JSON.parse(String(data)) as { readonly event?: string; readonly payload?: { readonly ts: number } };
    // The gateway stamps it before it writes, by the clock of this machine.
    const before = event === "tick" ? samples.findLast(({ at }) => at < payload!.ts) : undefined;
    if (before) came.resolve({ before: before.ms, bytes: data.length + FRAME_HEAD });
  };
  socket.on("message", onMessage);
  const { before, bytes } = await came.promise;
  clearInterval(sampling);
  socket.off("message", onMessage);
  await wait(200);
  return { ms: cpuMs(pid) - before, bytes };
}

/** Ticks as they come, every thirty seconds, and bare writes just as rarely: frequent writes would find everything in the processor's caches. */
async function costOfTicks(pid: number, watcher: BenchClient, floor: Floor): Promise<BroadcastCost> {
  const cost: BroadcastCost = { ours: [], bare: [], bytes: 0 };
  for (let i = 0; i < 5; i += 1) {
    const { ms, bytes } = await costOfTick(pid, watcher);
    cost.bytes = bytes;
    cost.ours.push(ms);
    await wait(1000);
    cost.bare.push(await floor.write(bytes));
  }
  return cost;
}

/** Presence events, each caused by a request: the work of a tick, of the request and of a larger event, often. */
async function costOfEvents(pid: number, client: BenchClient, floor: Floor, rounds: number): Promise<BroadcastCost> {
  const captured = once(client.socket, "message");
  await client.request("system-event", { text: "Node: bench" });
  const cost: BroadcastCost = { ours: [], bare: [], bytes: ((await captured) as [Buffer])[0].length + FRAME_HEAD + 2 };
  for (let i = 0; i < rounds; i += 1) {
    cost.ours.push(await costOf(pid, () => void client.request("system-event", { text: `Node: bench ${i}` })));
    cost.bare.push(await floor.write(cost.bytes));
  }
  return cost;
}

const overBare = ({ ours, bare }: BroadcastCost): number => round(median(ours.map((ms, i) => ms / bare[i]!)));
const list = (values: readonly number[]): string => values.map((ms) => round(ms, 1)).join(" ");

const TICK_BAR_MS = 20;

/** The bar is for ticks. Presence events are reported beside them; a quick run, which has no time for a tick, has only those. */
function tickRows(ticks: BroadcastCost | undefined, events: BroadcastCost, facts: Row["facts"]): Row[] {
  const cost = ticks ?? events;
  const floor = round(median(cost.bare), 1);
  const eventFacts = { "event ms": round(median(events.ours), 1), "bare event ms": round(median(events.bare), 1), "event bytes": events.bytes };
  const tickFacts = {
    measured: ticks ? `ticks: ${list(ticks.ours)}` : "no tick, presence events",
    bytes: cost.bytes,
    "bare writes ms": floor,
    ...(floor > TICK_BAR_MS ? { note: "bare writes alone take longer than the bar on this machine" } : {}),
  };
  return [
    {
      name: "gateway: processor time of a tick to 2000 clients",
      value: round(median(cost.ours), 1),
      unit: "ms",
      bar: TICK_BAR_MS,
      better: "lower",
      facts: { ...facts, ...tickFacts },
    },
    {
      name: "gateway: processor time of a tick / bare writes",
      value: overBare(cost),
      unit: "×",
      bar: 1.5,
      better: "lower",
      facts: { ...(ticks ? { "bare ms": list(ticks.bare) } : {}), ...eventFacts, "presence event / bare writes": overBare(events) },
    },
  ];
}

/** Memory of idle clients, and what a tick to all of them costs. */
export async function idleClients(context: BenchContext, place: BenchPlace): Promise<Row[]> {
  await using gateway = await place.start();
  const size = context.quick ? 100 : 2000;
  const clients: BenchClient[] = [];
  // The first ones load code and grow the heap; they are not what a client costs.
  for (let i = 0; i < 20; i += 1) clients.push(await connectBench(place.to));
  await wait(context.quick ? 200 : 3000);
  const before = residentMb(gateway.pid);
  while (clients.length < size + 20) {
    const batch = Math.min(20, size + 20 - clients.length);
    clients.push(...(await Promise.all(Array.from({ length: batch }, () => connectBench(place.to)))));
  }
  await wait(context.quick ? 200 : 3000);
  const kilobytes = ((residentMb(gateway.pid) - before) * 1024) / size;
  for (const client of clients.splice(size)) client.close();
  // Those in the middle only read, as little as possible.
  for (const { socket } of clients.slice(0, -1)) socket.removeAllListeners("message");
  const last = clients.at(-1)!;
  using floor = await startFloor(context, size);
  const ticks = context.quick ? undefined : await costOfTicks(gateway.pid, last, floor);
  const events = await costOfEvents(gateway.pid, last, floor, context.quick ? 2 : 15);
  // With everybody still connected, as it is in real life.
  const stopMs = await endProcess(gateway.child);
  return [
    {
      name: "gateway: memory per idle client",
      value: round(Math.max(0.01, kilobytes), 1),
      unit: "KB",
      bar: 25,
      better: "lower",
      facts: { clients: size, "before MB": round(before, 1) },
    },
    ...tickRows(ticks, events, { clients: size, "stop ms": round(stopMs) }),
  ];
}
