import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { connectBench, type BenchClient, type BenchConnection } from "../drivers/client.ts";
import { makeBenchPlace, type BenchPlace } from "../drivers/gateway-process.ts";
import { residentMb } from "../drivers/process-facts.ts";
import { bareNodeMs } from "../drivers/startup.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { idleClients, startBare } from "./crowd.ts";
import { strangers } from "./strangers.ts";

/** Spawn to the first answer, and memory after a rest. */
async function starting(context: BenchContext, place: BenchPlace): Promise<Row[]> {
  const bare: number[] = [];
  const ready: number[] = [];
  const connected: number[] = [];
  const kept: number[] = [];
  // The first start makes the database; it is not counted.
  await (await place.start())[Symbol.asyncDispose]();
  for (let i = 0; i < (context.quick ? 2 : 11); i += 1) {
    bare.push(bareNodeMs(context.node));
    {
      await using gateway = await place.start("typed");
      ready.push(gateway.ready.readyMs);
      connected.push(gateway.ready.connectedMs);
    }
    await using gateway = await place.start();
    kept.push(gateway.ready.readyMs);
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
      facts: {
        "bare node ms": round(median(bare), 1),
        "connected ms": round(median(connected), 1),
        "ready ms": round(median(ready), 1),
        "with a service's flags ms": round(median(kept), 1),
      },
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
  using bareServer = await startBare(context, "bare-broadcast.ts");
  const bareSockets = Array.from({ length: size }, () => new WebSocket(`ws://127.0.0.1:${bareServer.port}`, { perMessageDeflate: false }));
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
        () => void bareServer.child.stdin!.write(`${text}\n`),
      ),
    );
  }
  await Promise.all(answers);
  for (const socket of [...watching, ...bareSockets, driver.socket]) socket.close();
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

export const gateway: Measure = {
  name: "gateway over WebSocket",
  async run(context): Promise<readonly Row[]> {
    const place = await makeBenchPlace(context, "gateway");
    const rows = await starting(context, place);
    {
      await using _running = await place.start();
      rows.push(await handshakes(context, place.to), await pipelined(context, place.to), await fanout(context, place.to));
    }
    rows.push(...(await idleClients(context, place)), ...(await strangers(context, place)));
    return rows;
  },
};
