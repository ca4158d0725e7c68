import type { Socket } from "node:net";
import { connectParams, createDevice } from "../harness/auth.ts";
import { clientFrame, OPCODE } from "./frame.ts";
import { connectTcp, upgradeRequest, type RawSocket } from "./raw-socket.ts";
import { startWireGateway, type WireGateway } from "./start.ts";

/** How a stranger behaves: what it sends at first, and what it adds every second. */
interface Stranger {
  readonly kind: string;
  readonly first: () => Buffer | string;
  readonly more?: string | Buffer;
}

const badConnect = (): string => {
  const params = createDevice().sign(connectParams({ auth: { token: "not the token" }, scopes: ["operator.admin"] }), { now: Date.now() });
  return JSON.stringify({ type: "req", id: "1", method: "connect", params });
};

const STRANGERS: readonly Stranger[] = [
  { kind: "says nothing", first: () => "" },
  { kind: "headers that never end", first: () => "GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ", more: "x" },
  { kind: "half an upgrade", first: () => upgradeRequest().slice(0, -2) },
  { kind: "an upgrade and no more", first: () => upgradeRequest() },
  {
    kind: "a frame that never ends",
    first: () => Buffer.concat([Buffer.from(upgradeRequest()), clientFrame(OPCODE.text, "{", { length: 60_000 })]),
    more: Buffer.from("x"),
  },
  { kind: "pings for ever", first: () => upgradeRequest(), more: clientFrame(OPCODE.ping, "still here") },
  {
    kind: "fragments for ever",
    first: () => Buffer.concat([Buffer.from(upgradeRequest()), clientFrame(OPCODE.text, "{", { fin: false })]),
    more: clientFrame(OPCODE.continuation, "", { fin: false }),
  },
  { kind: "garbage", first: () => Buffer.alloc(2000, 0xa5) },
  { kind: "garbage after an upgrade", first: () => Buffer.concat([Buffer.from(upgradeRequest()), Buffer.alloc(2000, 0xa5)]) },
  { kind: "a wrong token", first: () => Buffer.concat([Buffer.from(upgradeRequest()), clientFrame(OPCODE.text, badConnect())]) },
  { kind: "100 KB before hello", first: () => Buffer.concat([Buffer.from(upgradeRequest()), clientFrame(OPCODE.text, "x".repeat(100_000))]) },
];

export interface FloodReport {
  readonly sockets: number;
  /** Kinds of strangers that were still connected at the end, with how many. */
  readonly remaining: Readonly<Record<string, number>>;
  /** From the last stranger's arrival to the last one's end. */
  readonly lastEndMs: number;
  /** Requests that a known client made meanwhile, and the slowest. */
  readonly requests: number;
  readonly slowestMs: number;
  readonly newcomersMs: number;
  /** Bytes of resident memory more than before, at the worst moment. */
  readonly growth: number;
  readonly output: string;
}

const EVERY_MS = 250;

async function ask(client: RawSocket, id: string): Promise<number> {
  const started = performance.now();
  await client.frame(OPCODE.text, JSON.stringify({ type: "req", id, method: "health", params: {} }));
  await client.response(id);
  return performance.now() - started;
}

async function newcomer(gateway: WireGateway): Promise<number> {
  const started = performance.now();
  using raw = await gateway.client();
  await ask(raw, "first");
  return performance.now() - started;
}

/** Strangers of all kinds at once. Ends when all of them are gone, or after `patienceMs`. */
export async function flood({ sockets, patienceMs }: { readonly sockets: number; readonly patienceMs: number }): Promise<FloodReport> {
  await using gateway = await startWireGateway();
  using friend = await gateway.client();
  await ask(friend, "warm");
  const before = gateway.memory();
  const open = new Map<Socket, Stranger>();
  let lastEnd = 0;
  for (let index = 0; index < sockets; index += 1) {
    const stranger = STRANGERS[index % STRANGERS.length]!;
    const socket = await connectTcp(gateway.port);
    open.set(socket, stranger);
    socket.resume().on("close", () => {
      open.delete(socket);
      lastEnd = performance.now();
    });
    socket.write(stranger.first());
  }
  const started = performance.now();
  const trickle = setInterval(() => {
    for (const [socket, { more }] of open) if (more !== undefined && socket.writable) socket.write(more);
  }, 1000);
  let slowestMs = 0;
  let requests = 0;
  let growth = 0;
  let newcomersMs = 0;
  try {
    while (open.size > 0 && performance.now() - started < patienceMs) {
      slowestMs = Math.max(slowestMs, await ask(friend, `r${(requests += 1)}`));
      if (requests % 8 === 1) newcomersMs = Math.max(newcomersMs, await newcomer(gateway));
      growth = Math.max(growth, gateway.memory() - before);
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  } finally {
    clearInterval(trickle);
  }
  const remaining: Record<string, number> = {};
  for (const [socket, { kind }] of open) {
    remaining[kind] = (remaining[kind] ?? 0) + 1;
    socket.destroy();
  }
  return { sockets, remaining, lastEndMs: lastEnd - started, requests, slowestMs, newcomersMs, growth, output: gateway.process.output() };
}
