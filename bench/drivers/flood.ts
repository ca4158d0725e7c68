/**
 * Strangers who never get in: half of them send a request's head byte by byte, half send garbage of four kinds. Loopback only, bounded in number,
 * pace and time. `node bench/drivers/flood.ts --port N [--sockets 1000] [--per-second 120] [--seconds 5]`
 *
 * All come at once. Who is turned away comes back, at `--per-second` altogether: without a pace the strangers are as many as this process can
 * make, and what is measured is how it shares the cores with the server.
 */
import { createConnection, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { parseOptions } from "./options.ts";

const UPGRADE = (port: number): string =>
  `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
const HEAD = (port: number): string => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: ${"a".repeat(200)}`;
const DRIP_MS = 100;

/** A masked text frame; the mask is zero. */
const frame = (text: string): Buffer => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** What comes after the upgrade. */
const GARBAGE: readonly Buffer[] = [frame("no json"), frame("13175"), Buffer.alloc(20, 0xa5)];

function drip(socket: Socket, port: number): void {
  const head = HEAD(port);
  let at = 0;
  const timer = setInterval(() => {
    socket.write(head[at % head.length]!);
    at += 1;
  }, DRIP_MS);
  socket.on("close", () => clearInterval(timer));
}

function throwGarbage(socket: Socket, port: number, kind: number): void {
  const garbage = GARBAGE[kind];
  socket.once("connect", () => socket.write(garbage ? UPGRADE(port) : "no http\r\n\r\n"));
  if (garbage) socket.once("data", () => socket.write(garbage));
}

async function main(): Promise<void> {
  const defaults = { port: 0, sockets: 1000, perSecond: 120, seconds: 5 };
  const { port, sockets, perSecond, seconds } = parseOptions(defaults, process.argv.slice(2), process.env);
  const started = performance.now();
  const live = new Set<Socket>();
  /** Places of those who were turned away. The place decides how a stranger behaves, so that the mix stays. */
  const turnedAway: number[] = [];
  let opened = 0;

  function open(place: number): void {
    const socket = createConnection({ host: "127.0.0.1", port });
    live.add(socket);
    opened += 1;
    socket.on("error", () => {});
    socket.on("close", () => {
      live.delete(socket);
      turnedAway.push(place);
    });
    socket.resume();
    if (place % 2 === 0) drip(socket, port);
    else throwGarbage(socket, port, ((place - 1) / 2) % (GARBAGE.length + 1));
  }

  for (let place = 0; place < sockets; place += 1) {
    open(place);
    if (place % 50 === 49) await wait(10);
  }
  let due = performance.now();
  while (performance.now() - started < seconds * 1000) {
    await wait(2);
    for (; due < performance.now(); due += 1000 / perSecond) {
      const place = turnedAway.shift();
      if (place !== undefined) open(place);
    }
  }
  const held = live.size;
  console.log(JSON.stringify({ opened, held }));
  process.exit(0);
}

if (import.meta.main) await main();
