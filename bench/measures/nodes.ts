import { once } from "node:events";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";
import { connectBench, createDevice, type BenchClient, type BenchConnection } from "../drivers/client.ts";
import { makeBenchPlace, type BenchPlace } from "../drivers/gateway-process.ts";
import { residentMb } from "../drivers/process-facts.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, quantile, round } from "../stats.ts";
import { startBare } from "./crowd.ts";

const PARAMS = { bins: ["ls"] };

const asNode = (to: BenchConnection): BenchConnection => ({
  ...to,
  role: "node",
  clientId: "node-host",
  clientMode: "node",
  commands: ["system.which", "system.notify"],
  device: createDevice(),
});

/** A node that answers each command at once. */
function answering(node: BenchClient): void {
  node.on((event, { id, nodeId }) => {
    if (event === "node.invoke.request") void node.request("node.invoke.result", { id, nodeId, ok: true, payloadJSON: "{}" });
  });
}

/** What one write to disk takes. A command with an effect waits for two, one before it is sent and one with its outcome; one that only looks waits for none. */
function syncMs(folder: string, rounds: number): number {
  const file = openSync(join(folder, "sync"), "w");
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    writeSync(file, "x".repeat(200));
    fdatasyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  return median(times);
}

/** One command after the other, beside an echo of as many bytes over a bare `ws`. Taken in turns. */
async function roundTrip(context: BenchContext, to: BenchConnection): Promise<Row> {
  const rounds = context.quick ? 50 : 2000;
  const device = createDevice();
  const node = await connectBench({ ...asNode(to), device });
  answering(node);
  const caller = await connectBench(to);
  using server = await startBare(context, "bare-echo.ts");
  const echo = new WebSocket(`ws://127.0.0.1:${server.port}`, { perMessageDeflate: false });
  await once(echo, "open");
  const [ours, bare, withEffect]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < rounds + 20; i += 1) {
    const params = { nodeId: device.id, command: "system.which", params: PARAMS, idempotencyKey: `bench-${i}` };
    const asked = performance.now();
    await caller.request("node.invoke", params);
    const answered = performance.now();
    echo.send(JSON.stringify({ type: "req", id: String(i), method: "node.invoke", params }));
    await once(echo, "message");
    const echoed = performance.now();
    await caller.request("node.invoke", { ...params, command: "system.notify", params: { title: "a", body: "b" }, idempotencyKey: `bench-effect-${i}` });
    if (i < 20) continue;
    ours.push(answered - asked);
    bare.push(echoed - answered);
    withEffect.push(performance.now() - echoed);
  }
  for (const socket of [node.socket, caller.socket, echo]) socket.close();
  const facts = { "invoke ms": round(median(ours)), "p95 ms": round(quantile(ours, 0.95)), "bare echo ms": round(median(bare)), invokes: rounds };
  const sync = syncMs(context.folder, context.quick ? 20 : 200);
  return {
    name: "nodes: invoke round trip, above a bare echo",
    value: round(median(ours) - median(bare)),
    unit: "ms",
    bar: 1.5,
    better: "lower",
    facts: { ...facts, "command with an effect ms": round(median(withEffect)), "one fdatasync ms": round(sync) },
  };
}

/** Memory of a process per connection that `connect` makes. */
async function kilobytesPer(pid: number, count: number, restMs: number, connect: () => Promise<unknown>): Promise<number> {
  await wait(restMs);
  const before = residentMb(pid);
  for (let i = 0; i < count; i += 10) await Promise.all(Array.from({ length: Math.min(10, count - i) }, connect));
  await wait(restMs);
  return ((residentMb(pid) - before) * 1024) / count;
}

async function memory(context: BenchContext, place: BenchPlace): Promise<Row> {
  const size = context.quick ? 50 : 500;
  const restMs = context.quick ? 300 : 3000;
  const all = Array.from({ length: size + 20 }, () => asNode(place.to));
  {
    // Pairs them: what is measured is nodes that come back.
    await using _pairing = await place.start();
    for (const one of all) (await connectBench(one)).close();
  }
  await using gateway = await place.start();
  const sockets: WebSocket[] = [];
  const waiting = [...all];
  const connect = async (): Promise<void> => void sockets.push((await connectBench(waiting.pop()!)).socket);
  // The first ones load code and grow the heap; they are not what a node costs.
  for (let i = 0; i < 20; i += 1) await connect();
  const ours = await kilobytesPer(gateway.pid, size, restMs, connect);
  using server = await startBare(context, "bare-echo.ts");
  const bareConnect = async (): Promise<void> => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, { perMessageDeflate: false });
    sockets.push(socket);
    await once(socket, "open");
  };
  for (let i = 0; i < 20; i += 1) await bareConnect();
  const bare = await kilobytesPer(server.child.pid!, size, restMs, bareConnect);
  for (const socket of sockets) socket.terminate();
  return {
    name: "nodes: memory per connected node, above bare ws",
    value: round(Math.max(0.01, ours - bare), 1),
    unit: "KB",
    bar: 10,
    better: "lower",
    facts: { nodes: size, "node KB": round(ours, 1), "bare ws KB": round(bare, 1) },
  };
}

/** From the last sign of life of a node that answers nothing any more until the gateway says that it is gone. */
async function deadNode(to: BenchConnection): Promise<Row> {
  const device = createDevice();
  const caller = await connectBench(to);
  const node = await connectBench({ ...asNode(to), device, autoPong: false });
  const started = performance.now();
  const isConnected = async (): Promise<boolean> => {
    const { nodes } = (await caller.request("node.list")) as { readonly nodes: readonly { readonly nodeId: string; readonly connected: boolean }[] };
    return nodes.some(({ nodeId, connected }) => nodeId === device.id && connected);
  };
  while (await isConnected()) await wait(50);
  const ms = performance.now() - started;
  node.socket.terminate();
  caller.close();
  return { name: "nodes: a dead node is found", value: round(ms), unit: "ms", bar: 30_000, better: "lower", facts: { "looked every ms": 50 } };
}

export const nodes: Measure = {
  name: "nodes",
  async run(context): Promise<readonly Row[]> {
    const place = await makeBenchPlace(context, "nodes");
    const rows = [await memory(context, place)];
    await using _gateway = await place.start();
    rows.push(await roundTrip(context, place.to), await deadNode(place.to));
    return rows;
  },
};
