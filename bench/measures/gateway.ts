import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { connectBench, type BenchClient, type BenchConnection } from "../drivers/client.ts";
import { makeBenchPlace, type BenchPlace } from "../drivers/gateway-process.ts";
import { cpuMs, residentMb } from "../drivers/process-facts.ts";
import { bareNodeMs, endProcess } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";

/** Spawn to the first answer, and memory after a rest. */
async function starting(context: BenchContext, place: BenchPlace): Promise<Row[]> {
  const bare: number[] = [];
  const ready: number[] = [];
  const connected: number[] = [];
  // The first start makes the database; it is not counted.
  await (await place.start())[Symbol.asyncDispose]();
  for (let i = 0; i < (context.quick ? 2 : 11); i += 1) {
    bare.push(bareNodeMs(context.node));
    await using gateway = await place.start();
    ready.push(gateway.ready.readyMs);
    connected.push(gateway.ready.connectedMs);
  }
  const restMs = context.quick ? 500 : 30_000;
  await using gateway = await place.start();
  await wait(restMs);
  const ratio = round(median(ready) / median(bare));
  return [
    {
      name: "gateway: spawn to connect and health / bare node",
      value: ratio,
      unit: "×",
      bar: 5,
      better: "lower",
      facts: { "bare node ms": round(median(bare), 1), "connected ms": round(median(connected), 1), "ready ms": round(median(ready), 1) },
    },
    { name: "gateway: resident memory at rest", value: round(residentMb(gateway.pid), 1), unit: "MB", bar: 95, better: "lower", facts: { "after ms": restMs } },
  ];
}

async function handshakes(context: BenchContext, to: BenchConnection): Promise<Row> {
  const times: number[] = [];
  const rounds = context.quick ? 10 : 300;
  for (let i = 0; i < rounds + 5; i += 1) {
    const started = performance.now();
    const client = await connectBench(to);
    if (i >= 5) times.push(performance.now() - started);
    client.close();
    await once(client.socket, "close");
  }
  const facts = { connections: rounds, "p95 ms": round(quantile(times, 0.95)) };
  return { name: "gateway: connect and signed handshake", value: round(median(times)), unit: "ms", bar: 3, better: "lower", facts };
}

/** `health` with 32 requests on their way at any time. */
async function pipelined(context: BenchContext, to: BenchConnection): Promise<Row> {
  const IN_FLIGHT = 32;
  const rate = async (total: number): Promise<number> => {
    const client = await connectBench(to);
    client.socket.removeAllListeners("message");
    const done = Promise.withResolvers<void>();
    let sent = 0;
    let answered = 0;
    const ask = (): void => client.socket.send(`{"type":"req","id":"h${(sent += 1)}","method":"health","params":{}}`);
    client.socket.on("message", (data: Buffer) => {
      // `{"type":"res"`: looked at without decoding, so that the client is not what is measured.
      if (data[9] !== 0x72) return;
      if (!data.subarray(0, 60).includes('"ok":true')) return done.reject(new Error(data.toString("utf8", 0, 300)));
      answered += 1;
      if (sent < total) ask();
      if (answered === total) done.resolve();
    });
    const started = performance.now();
    for (let i = 0; i < IN_FLIGHT; i += 1) ask();
    await done.promise;
    const seconds = (performance.now() - started) / 1000;
    client.close();
    return total / seconds;
  };
  await rate(context.quick ? 200 : 20_000);
  const value = Math.round(
    median([await rate(context.quick ? 500 : 50_000), await rate(context.quick ? 500 : 50_000), await rate(context.quick ? 500 : 50_000)]),
  );
  return { name: "gateway: health, 32 in flight", value, unit: "/s", bar: 25_000, better: "higher", facts: { "in flight": IN_FLIGHT } };
}

/** Arrival times over all sockets of the frame that `isIt` names: the time between the first and the last. */
async function spread(sockets: readonly WebSocket[], isIt: (data: Buffer) => boolean, send: () => void): Promise<number> {
  const done = Promise.withResolvers<number>();
  let first = 0;
  let count = 0;
  const onMessage = (data: Buffer): void => {
    if (!isIt(data)) return;
    count += 1;
    if (count === 1) first = performance.now();
    if (count === sockets.length) done.resolve(performance.now() - first);
  };
  for (const socket of sockets) socket.on("message", onMessage);
  send();
  const ms = await done.promise;
  for (const socket of sockets) socket.off("message", onMessage);
  return ms;
}

const PRESENCE = Buffer.from('"event":"presence"');
const isPresence = (data: Buffer): boolean => data.subarray(0, 60).includes(PRESENCE);

/** One event to many clients, beside a bare `ws` server that sends the same bytes to as many. Taken in turns. */
async function fanout(context: BenchContext, to: BenchConnection): Promise<Row> {
  const size = context.quick ? 20 : 200;
  const rounds = context.quick ? 3 : 60;
  const driver = await connectBench(to);
  // One device for all: the event stays small however many there are.
  const clients: BenchClient[] = [];
  for (let i = 0; i < size; i += 1) clients.push(await connectBench(to));
  const watching = clients.map(({ socket }) => {
    socket.removeAllListeners("message");
    return socket;
  });
  const bareServer = spawn(context.node, [join(context.root, "bench/drivers/bare-broadcast.ts")], { stdio: ["pipe", "pipe", "inherit"] });
  const port = Number(String((await once(bareServer.stdout, "data"))[0]));
  const bareSockets = Array.from({ length: size }, () => new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false }));
  await Promise.all(bareSockets.map((socket) => once(socket, "open")));
  const captured = once(watching[0]!, "message");
  let count = 0;
  const answers: Promise<unknown>[] = [];
  const tell = (): void => void answers.push(driver.request("system-event", { text: `Node: bench ${(count += 1)}` }));
  tell();
  const text = String(((await captured) as [Buffer])[0]);
  await wait(200);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    ours.push(await spread(watching, isPresence, tell));
    bare.push(
      await spread(
        bareSockets,
        () => true,
        () => void bareServer.stdin.write(`${text}\n`),
      ),
    );
  }
  await Promise.all(answers);
  for (const socket of [...watching, ...bareSockets, driver.socket]) socket.close();
  bareServer.stdin.end();
  const facts = { clients: size, "bytes of the event": text.length, ms: round(median(ours)), "bare ws ms": round(median(bare)) };
  return {
    name: "gateway: one event to 200 clients, spread / bare ws",
    value: round(median(ours) / median(bare)),
    unit: "×",
    bar: 1.3,
    better: "lower",
    facts,
  };
}

/** Memory of idle clients, and what a tick to all of them costs. */
async function idleClients(context: BenchContext, place: BenchPlace): Promise<Row[]> {
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
  const event = context.quick ? "presence" : "tick";
  const last = clients.at(-1)!;
  const came = Promise.withResolvers<void>();
  last.on((name) => name === event && came.resolve());
  // Looked at all the time: the sample before the event is at most a tenth of a second old.
  let sample = cpuMs(gateway.pid);
  const sampling = setInterval(() => (sample = cpuMs(gateway.pid)), 100);
  if (context.quick) await last.request("system-event", { text: "Node: bench" });
  await came.promise;
  clearInterval(sampling);
  await wait(200);
  const cost = cpuMs(gateway.pid) - sample;
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
    {
      name: "gateway: processor time of a tick to 2000 clients",
      value: round(cost, 1),
      unit: "ms",
      bar: 20,
      better: "lower",
      facts: { event, clients: clients.length, "stop ms": round(stopMs) },
    },
  ];
}

/** 95th percentile of `health`, one after the other, for a while. */
async function latency(client: BenchClient, ms: number): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end || times.length < 20) {
    const started = performance.now();
    await client.request("health");
    times.push(performance.now() - started);
    await wait(2);
  }
  return quantile(times, 0.95);
}

async function flood(context: BenchContext, place: BenchPlace): Promise<Row[]> {
  await using gateway = await place.start();
  const sockets = context.quick ? 50 : 1000;
  const seconds = context.quick ? 1 : 8;
  const client = await connectBench(place.to);
  await latency(client, context.quick ? 100 : 2000);
  const calm = await latency(client, context.quick ? 200 : 4000);
  const before = residentMb(gateway.pid);
  const script = join(context.root, "bench/drivers/flood.ts");
  const child = spawn(context.node, [script, "--port", String(place.port), "--sockets", String(sockets), "--seconds", String(seconds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += String(chunk)));
  const ended = once(child, "close");
  await wait(context.quick ? 300 : 2000);
  const stormy = await latency(client, context.quick ? 200 : 4000);
  const added = residentMb(gateway.pid) - before;
  await ended;
  client.close();
  const { opened = 0, held = 0 } = (said ? JSON.parse(said) : {}) as { opened?: number; held?: number };
  const facts = { sockets, opened, held };
  return [
    { name: "gateway: memory added by a flood of strangers", value: round(Math.max(0.01, added), 1), unit: "MB", bar: 40, better: "lower", facts },
    {
      name: "gateway: health p95 in the flood / calm",
      value: round(stormy / calm),
      unit: "×",
      bar: 2,
      better: "lower",
      facts: { "calm ms": round(calm), "flood ms": round(stormy) },
    },
  ];
}

export const gateway: Measure = {
  name: "gateway over WebSocket",
  async run(context): Promise<readonly Row[]> {
    const place = await makeBenchPlace(context, "gateway");
    const rows = await starting(context, place);
    {
      await using _running = await place.start();
      rows.push(await handshakes(context, place.to), await pipelined(context, place.to), await fanout(context, place.to));
    }
    rows.push(...(await idleClients(context, place)), ...(await flood(context, place)));
    return rows;
  },
};
