import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { openClient } from "../harness/gateway-client.ts";
import { startGateway } from "./start.ts";

const UPGRADE =
  "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

async function raw(port: number): Promise<Socket> {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  return socket;
}

test("a thousand sockets of strangers are held within bounds, let a known client in, and are gone after ten seconds", async () => {
  const clock = manualClock();
  const limit = 300;
  await using started = await startGateway({ clock, settings: { limits: { perAddress: limit, perLoopback: limit, total: limit } } });
  await using friend = await openClient(started.gateway.url);
  await friend.connect();
  const heapBefore = process.memoryUsage().heapUsed;
  const sockets: Socket[] = [];
  for (let i = 0; i < 1000; i += 1) {
    const socket = await raw(started.gateway.port);
    sockets.push(socket);
    // Handshakes that never go on, frames that never end, and no HTTP at all.
    if (i % 3 === 0) socket.write(UPGRADE);
    else if (i % 3 === 1)
      socket.write(Buffer.concat([Buffer.from(UPGRADE), Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), Buffer.alloc(10_000)]));
    else socket.write(Buffer.alloc(1000, 0xff));
    expect(started.server.strangers()).toBeLessThanOrEqual(limit);
  }
  expect((await friend.request("nope")).error!.message).toBe("unknown method: nope");
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(100 * 1024 * 1024);
  while (started.server.strangers() > 0) {
    clock.advance(10_500);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await Promise.all(sockets.filter((socket) => !socket.closed).map((socket) => once(socket, "close")));
  expect((await friend.request("nope")).error!.message).toBe("unknown method: nope");
  await using late = await openClient(started.gateway.url);
  expect((await late.connect()).ok).toBe(true);
});

test("frames in a thousand pieces and control frames in between are put together", async () => {
  await using started = await startGateway();
  await using client = await openClient(started.gateway.url);
  await client.connect();
  const text = JSON.stringify({ type: "req", id: "pieces", method: "nope", params: { filler: "x".repeat(2000) } });
  for (let at = 0; at < text.length; at += 2) {
    client.ws.send(text.slice(at, at + 2), { fin: at + 2 >= text.length });
    if (at % 500 === 0) client.ws.ping();
  }
  expect((await client.next((frame) => frame.id === "pieces")).error!.message).toBe("unknown method: nope");
});

test("random bytes on an open connection end it or are ignored; the gateway goes on", async () => {
  await using started = await startGateway();
  for (let seed = 1; seed <= 40; seed += 1) {
    const client = await openClient(started.gateway.url);
    await client.connect();
    let state = seed * 2_654_435_761;
    const bytes = Buffer.from(Array.from({ length: 400 }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 24));
    (client.ws as unknown as { _socket: Socket })._socket.write(bytes);
    client.ws.terminate();
    await client.closed;
  }
  await using after = await openClient(started.gateway.url);
  expect((await after.connect()).ok).toBe(true);
});
