import { expect, test } from "vitest";
import { clientFrame, OPCODE } from "./frame.ts";
import { echo, ping, testCases, wireGateway } from "./conversation.ts";

const gateway = wireGateway();

const pong = (payload: Buffer | string = ""): Buffer => clientFrame(OPCODE.pong, payload);
const BYTES = Buffer.from([0x00, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0x00, 0xff]);
const TEN = Array.from({ length: 10 }, (_, index) => `payload-${index}`);

testCases(gateway, [
  { name: "2.1 a ping without payload is answered", send: [ping()], pongs: [""] },
  { name: "2.2 a ping with text comes back as it was", send: [ping("Hello, world!")], pongs: ["Hello, world!"] },
  { name: "2.3 a ping with octets that are no UTF-8 comes back as it was", send: [ping(BYTES)], pongs: [BYTES.toString("latin1")] },
  { name: "2.4 a ping of 125 octets comes back as it was", send: [ping(Buffer.alloc(125, 0xfe))], pongs: ["\xfe".repeat(125)] },
  { name: "2.5 a ping of 126 octets is refused", later: [ping(Buffer.alloc(126, 0xfe))], close: { code: 1002, reason: "" } },
  { name: "2.5 a pong of 126 octets is refused", later: [pong(Buffer.alloc(126, 0xfe))], close: { code: 1002, reason: "" } },
  { name: "2.7 an unsolicited pong without payload is ignored", send: [pong()] },
  { name: "2.8 an unsolicited pong with payload is ignored", send: [pong("nobody asked")] },
  { name: "2.9 an unsolicited pong before a ping: only the ping is answered", send: [pong("nobody asked"), ping("ping")], pongs: ["ping"] },
  { name: "2.10 ten pings are answered in order", send: TEN.map(ping), pongs: TEN },
  { name: "2.12 pings between requests: all are answered", send: [ping("a"), echo("1"), ping("b"), echo("2")], answers: ["1", "2"], pongs: ["a", "b"] },
]);

test.each([0, 1, 2, 124, 125])("2.13 a ping of %i octets is answered before hello too", async (size) => {
  using raw = await gateway().stranger();
  await raw.frame(OPCODE.ping, Buffer.alloc(size, 0x41));
  expect(await raw.pongs(1)).toEqual([Buffer.alloc(size, 0x41)]);
});
