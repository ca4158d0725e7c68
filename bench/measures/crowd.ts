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
import { median, quantile, round } from "../stats.ts";

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

/** Processor time of a tick that comes by itself, with up to a third of a second around it. */
async function costOfTick(pid: number, watcher: BenchClient): Promise<number> {
  const samples: { readonly at: number; readonly ms: number }[] = [];
  const sampling = setInterval(() => samples.push({ at: performance.now(), ms: cpuMs(pid) }), 100);
  const came = Promise.withResolvers<number>();
  using _ = watcher.on((event) => {
    // Not the last sample: it may have been taken in the middle of the tick. A tick that comes before there is another one is let pass.
    const before = samples.findLast(({ at }) => at < performance.now() - 150);
    if (event === "tick" && before) came.resolve(before.ms);
  });
  const before = await came.promise;
  clearInterval(sampling);
  await wait(200);
  return cpuMs(pid) - before;
}

/** One small event to all, in turns with as many bare writes of as many bytes. A tick comes only every thirty seconds; this is the same work. */
async function costOfEvents(context: BenchContext, pid: number, clients: readonly BenchClient[]): Promise<{ ours: number[]; bare: number[]; bytes: number }> {
  using floor = await startBare(context, "bare-writes.ts");
  const sockets = clients.map(() => createConnection({ host: "127.0.0.1", port: floor.port }).resume());
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const last = clients.at(-1)!;
  const captured = once(last.socket, "message");
  await last.request("system-event", { text: "Node: bench" });
  const bytes = ((await captured) as [Buffer])[0].length + 4;
  const line = `${Buffer.alloc(bytes).toString("base64")}\n`;
  const ours: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < (context.quick ? 2 : 15); i += 1) {
    ours.push(await costOf(pid, () => void last.request("system-event", { text: `Node: bench ${i}` })));
    bare.push(await costOf(floor.child.pid!, () => void floor.child.stdin!.write(line)));
  }
  for (const socket of sockets) socket.destroy();
  return { ours, bare, bytes };
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
  const real = context.quick ? undefined : await costOfTick(gateway.pid, clients[0]!);
  // Those in the middle only read, as little as possible.
  for (const { socket } of clients.slice(0, -1)) socket.removeAllListeners("message");
  const { ours, bare, bytes } = await costOfEvents(context, gateway.pid, clients);
  // With everybody still connected, as it is in real life.
  const stopMs = await endProcess(gateway.child);
  const facts = { clients: size, bytes, "bare writes ms": round(median(bare), 1), ...(real === undefined ? {} : { "a tick by itself ms": round(real, 1) }) };
  return [
    {
      name: "gateway: memory per idle client",
      value: round(Math.max(0.01, kilobytes), 1),
      unit: "KB",
      bar: 25,
      better: "lower",
      facts: { clients: size, "before MB": round(before, 1) },
    },
    {
      name: "gateway: processor time of a tick to 2000 clients",
      value: round(median(ours), 1),
      unit: "ms",
      bar: 20,
      better: "lower",
      facts: { ...facts, "p25 ms": round(quantile(ours, 0.25), 1), "stop ms": round(stopMs) },
    },
    {
      name: "gateway: processor time of a tick / bare writes",
      value: round(median(ours.map((ms, i) => ms / bare[i]!))),
      unit: "×",
      bar: 1.5,
      better: "lower",
      facts,
    },
  ];
}
