import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createConnection, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { loadHttp } from "../../base/builtin.ts";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { createDeadlines } from "../../base/deadlines.ts";
import { createWaitingRoom, type Challenge } from "./waiting-room.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const upgrade = (more = ""): string =>
  `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n${more}\r\n`;

/** A masked text frame; the mask is not zero. */
function frame(text: string): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(text).map((byte, at) => byte ^ mask[at % 4]!);
  const head = bytes.length < 126 ? [0x81, 0x80 | bytes.length] : [0x81, 0x80 | 126, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from(head), mask, bytes]);
}

/** A room behind a real server; `say` is a stranger on a real socket. */
async function build() {
  const clock = manualClock();
  const deadlines = createDeadlines({ clock, onError: () => {} });
  const admitted: { head: string; challenge: Challenge; socket: Socket }[] = [];
  const refused: string[] = [];
  const entered: boolean[] = [];
  let gone = 0;
  const room = createWaitingRoom({
    clock,
    ids: createIds(seededRandom(1)),
    openings: { deadline: (ms, fn) => deadlines.after(ms, fn), cutOff: (socket) => deadlines.after(2000, () => void socket.destroy()) },
    refusal: (text) => (text === "good" ? undefined : { ok: false, closeCode: 1008, reason: `not ${text}` }),
    admit: (socket, head, challenge) => void admitted.push({ head: head.toString("latin1"), challenge, socket }),
    onRefused: (reason) => void refused.push(reason),
    onGone: () => void (gone += 1),
  });
  const server = loadHttp().createServer();
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => void entered.push(room.enter(request, socket, head)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    room.cut();
    for (const { socket } of admitted) socket.destroy();
    server.close();
  });
  async function stranger(more = "") {
    const socket = createConnection((server.address() as AddressInfo).port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    let seen = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => (seen = Buffer.concat([seen, chunk])));
    socket.write(upgrade(more));
    const until = async (what: () => boolean): Promise<void> => {
      while (!what()) await new Promise((resolve) => setImmediate(resolve));
    };
    return { socket, until, seen: () => seen };
  }
  return { room, clock, admitted, refused, entered, stranger, gone: () => gone };
}

const CLOSE = (code: number, reason = ""): string =>
  Buffer.concat([Buffer.from([0x88, 2 + reason.length, code >> 8, code & 0xff]), Buffer.from(reason)]).toString("latin1");

test("an upgrade is answered together with the challenge", async () => {
  const { stranger, room } = await build();
  const { seen, until } = await stranger();
  await until(() => seen().includes("connect.challenge"));
  // The key and its answer are the example of RFC 6455.
  expect(seen().toString("latin1")).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
  expect(room.size).toBe(1);
});

test("a first frame that no client would send ends in a close with the reason, and in the end of the socket once that is answered", async () => {
  const { stranger, refused, admitted, room, gone } = await build();
  const { socket, seen, until } = await stranger();
  await until(() => seen().includes("challenge"));
  socket.write(frame("bad"));
  await until(() => seen().toString("latin1").endsWith(CLOSE(1008, "not bad")));
  expect([refused, admitted.length, room.size]).toEqual([["not bad"], 0, 1]);
  socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 3, 0xe8]));
  await once(socket, "close");
  await until(() => gone() === 1);
  expect(room.size).toBe(0);
});

test.each([
  ["reserved bits", [0xf1, 0x80, 0, 0, 0, 0]],
  ["an opcode that means nothing", [0x83, 0x80, 0, 0, 0, 0]],
  ["a continuation of nothing", [0x80, 0x80, 0, 0, 0, 0]],
  ["a frame that is not masked", [0x81, 0x01, 0x78]],
])("%s: the connection is closed with 1002 and ended at once", async (_, bytes) => {
  const { stranger, admitted } = await build();
  const { socket, seen, until } = await stranger();
  await until(() => seen().includes("challenge"));
  socket.write(Buffer.from(bytes));
  await once(socket, "close");
  await until(() => seen().toString("latin1").endsWith(CLOSE(1002)));
  expect(admitted).toEqual([]);
});

test.each([
  ["a frame that fits", frame("good")],
  ["a frame with another behind it", Buffer.concat([frame("good"), frame("more")])],
  ["half a frame", frame("x".repeat(300)).subarray(0, 200)],
  ["one octet", Buffer.from([0x81])],
  ["a ping", Buffer.from([0x89, 0x80, 0, 0, 0, 0])],
  ["a text that is not UTF-8", Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff])],
])("%s goes to a WebSocket, untouched and with the challenge", async (_, bytes) => {
  const { stranger, admitted, room } = await build();
  const { socket, seen, until } = await stranger();
  await until(() => seen().includes("challenge"));
  socket.write(bytes);
  await until(() => admitted.length === 1);
  expect(admitted[0]!.head).toBe(bytes.toString("latin1"));
  expect(seen().toString("latin1")).toContain(admitted[0]!.challenge.nonce);
  expect(room.size).toBe(0);
});

test("who says nothing for ten seconds is sent away, and cut off two seconds later", async () => {
  const { stranger, clock, room } = await build();
  const { socket, seen, until } = await stranger();
  await until(() => seen().includes("challenge"));
  clock.advance(10_020);
  await until(() => seen().toString("latin1").endsWith(CLOSE(1000)));
  clock.advance(2020);
  await once(socket, "close");
  await until(() => room.size === 0);
});

test("a request with a subprotocol is left to the library", async () => {
  const { stranger, entered, room } = await build();
  const { until } = await stranger("Sec-WebSocket-Protocol: chat\r\n");
  await until(() => entered.length === 1);
  expect([entered, room.size]).toEqual([[false], 0]);
});

test("a gateway that stops tells everybody who waits", async () => {
  const { stranger, room } = await build();
  const { seen, until } = await stranger();
  await until(() => seen().includes("challenge"));
  room.close(1012, "service restart");
  await until(() => seen().toString("latin1").endsWith(CLOSE(1012, "service restart")));
});
