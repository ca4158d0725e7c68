/**
 * Strangers who never get in: half of them send a request's head byte by byte, half open a WebSocket and send garbage. Loopback only, bounded in
 * number and time. `node bench/drivers/flood.ts --port N [--sockets 1000] [--seconds 5]`
 */
import { createConnection, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { parseOptions } from "./options.ts";

const UPGRADE = (port: number): string =>
  `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;
const HEAD = (port: number): string => `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: ${"a".repeat(200)}`;
/** A masked text frame that holds no JSON. */
const GARBAGE = Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0x30, 0x31, 0x32, 0x33, 0x34]);

function open(port: number, index: number, deadline: number, onEnd: () => void): Socket {
  const socket = createConnection({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  socket.on("close", onEnd);
  socket.resume();
  if (index % 2 === 0) {
    const head = HEAD(port);
    let at = 0;
    const drip = setInterval(() => {
      if (performance.now() > deadline || socket.destroyed) return clearInterval(drip);
      socket.write(head[at % head.length]!);
      at += 1;
    }, 100);
  } else {
    socket.once("connect", () => socket.write(UPGRADE(port)));
    socket.once("data", () => socket.write(GARBAGE));
  }
  return socket;
}

async function main(): Promise<void> {
  const { port, sockets, seconds } = parseOptions({ port: 0, sockets: 1000, seconds: 5 }, process.argv.slice(2), process.env);
  const deadline = performance.now() + seconds * 1000;
  const live = new Set<Socket>();
  let opened = 0;
  let closed = 0;
  while (performance.now() < deadline) {
    // Whoever was turned away comes back, as an attacker would; at most so many at once.
    for (let burst = 0; burst < 50 && live.size < sockets; burst += 1) {
      const socket = open(port, opened, deadline, () => {
        live.delete(socket);
        closed += 1;
      });
      live.add(socket);
      opened += 1;
    }
    await wait(10);
  }
  const held = live.size;
  for (const socket of live) socket.destroy();
  console.log(JSON.stringify({ opened, closed, held }));
}

if (import.meta.main) await main();
