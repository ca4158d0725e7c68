import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { startGateway } from "./start.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const UPGRADE = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`;

/** A masked text frame; the mask is not zero. */
function frame(text: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(text).map((byte, at) => byte ^ mask[at % 4]!);
  return Buffer.concat([Buffer.from([0x81, 0x80 | bytes.length]), mask, bytes]);
}

const close = (code: number, reason = ""): string =>
  Buffer.concat([Buffer.from([0x88, 2 + reason.length, code >> 8, code & 0xff]), Buffer.from(reason)]).toString("latin1");

/** A gateway, and a stranger on a bare socket who was sent the challenge. */
async function setUp() {
  const clock = manualClock();
  const started = await startGateway({ clock });
  onTestFinished(() => started[Symbol.asyncDispose]());
  const socket = createConnection(Number(new URL(started.gateway.url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const chunks: string[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk.toString("latin1")));
  const until = async (what: () => boolean): Promise<void> => {
    while (!what()) await new Promise((resolve) => setImmediate(resolve));
  };
  const seen = (): string => chunks.join("");
  socket.write(UPGRADE);
  await until(() => seen().includes("connect.challenge"));
  return { clock, started, socket, chunks, seen, until };
}

test("an upgrade is answered together with the challenge", async () => {
  const { chunks } = await setUp();
  // The key and its answer are the example of RFC 6455.
  expect(chunks[0]).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
  expect(chunks[0]).toContain("connect.challenge");
});

test("a first frame that no client would send ends in a close with the reason, and in the end of the socket once that is answered", async () => {
  const { socket, seen, until } = await setUp();
  socket.write(frame("[]"));
  await until(() => seen().endsWith(close(1008, "invalid request frame")));
  socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 3, 0xe8]));
  await once(socket, "close");
});

test.each([
  ["reserved bits", [0xf1, 0x80, 0, 0, 0, 0]],
  ["an opcode that means nothing", [0x83, 0x80, 0, 0, 0, 0]],
  ["a continuation of nothing", [0x80, 0x80, 0, 0, 0, 0]],
  ["a frame that is not masked", [0x81, 0x01, 0x78]],
])("%s: the connection is closed with 1002", async (_, bytes) => {
  const { socket, seen, until, clock } = await setUp();
  socket.write(Buffer.from(bytes));
  await until(() => seen().endsWith(close(1002)));
  clock.advance(2020);
  await once(socket, "close");
});

test("a first frame that comes in pieces is read as one", async () => {
  const { socket, seen, until } = await setUp();
  const whole = frame('{"type":"event"}');
  socket.write(whole.subarray(0, 1));
  await new Promise((resolve) => setImmediate(resolve));
  socket.write(whole.subarray(1));
  await until(() => seen().endsWith(close(1008, "invalid request frame")));
});

test("who says nothing for ten seconds is sent away, and cut off two seconds later", async () => {
  const { socket, seen, until, clock } = await setUp();
  clock.advance(10_020);
  await until(() => seen().endsWith(close(1000)));
  clock.advance(2020);
  await once(socket, "close");
});
