import { expect, test } from "vitest";
import { expectInTime } from "../harness/in-time.ts";
import { clientFrame, closePayload, OPCODE } from "./frame.ts";
import { echo, echoText, expectClosed, idOfSize, ping, testCases, wireGateway, type Case } from "./conversation.ts";

const gateway = wireGateway();

const FAILED = { code: 1002, reason: "" };
const close = (code: number, reason: Buffer | string = ""): Buffer => clientFrame(OPCODE.close, closePayload(code, reason));

const valid: Case[] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].map((code) => ({
  name: `7.7 a close with code ${code} is answered with the same code`,
  later: [close(code)],
  close: { code, reason: "" },
}));

const invalid: Case[] = [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map((code) => ({
  name: `7.9 a close with code ${code}, which nobody may send, fails the connection`,
  later: [close(code)],
  close: FAILED,
}));

testCases(gateway, [
  { name: "7.1.1 a close after an answer ends the connection", send: [echo("1")], answers: ["1"], later: [close(1000)], close: { code: 1000, reason: "" } },
  { name: "7.1.2 of two closes the first counts", later: [close(1000), close(1001)], close: { code: 1000, reason: "" } },
  { name: "7.1.3 a ping after a close is not answered", later: [close(1000), ping("late")], close: { code: 1000, reason: "" } },
  { name: "7.1.4 a request after a close is not answered", later: [close(1000), echo("late")], close: { code: 1000, reason: "" } },
  {
    name: "7.1.5 a close between fragments ends the connection; the rest is not read",
    later: [clientFrame(OPCODE.text, echoText("never").slice(0, 9), { fin: false }), close(1000), clientFrame(OPCODE.continuation, echoText("never").slice(9))],
    close: { code: 1000, reason: "" },
  },
  {
    name: "7.1.6 a close behind a message of 256 KiB comes after its answer",
    send: [echo(idOfSize(262_144))],
    answers: [idOfSize(262_144)],
    later: [close(1000), ping("late")],
    close: { code: 1000, reason: "" },
    pieces: [1 << 30],
  },
  { name: "7.3.1 a close without payload is answered without payload", later: [clientFrame(OPCODE.close)], close: {} },
  { name: "7.3.2 a close with one octet fails the connection", later: [clientFrame(OPCODE.close, "a")], close: FAILED },
  { name: "7.3.4 a close with a reason comes back as it was", later: [close(1000, "Hello, world!")], close: { code: 1000, reason: "Hello, world!" } },
  { name: "7.3.5 a close with the longest reason comes back as it was", later: [close(1000, "r".repeat(123))], close: { code: 1000, reason: "r".repeat(123) } },
  { name: "7.3.6 a close with a reason that is too long fails the connection", later: [close(1000, "r".repeat(124))], close: FAILED },
  {
    name: "7.5.1 a close with a reason that is not UTF-8 fails the connection",
    later: [close(1000, Buffer.from("cebae1bdb9cf83cebcceb5eda080656469746564", "hex"))],
    close: { code: 1007, reason: "" },
  },
  ...valid,
  ...invalid,
]);

test("7.2.1 the end of the TCP connection without a close frame ends the connection", async () => {
  using raw = await gateway().client();
  raw.socket.end();
  await raw.ended;
});

test("7.2.2 a close before hello is answered", async () => {
  using raw = await gateway().stranger();
  await raw.write(close(1001));
  await expectClosed(raw, { code: 1001, reason: "" });
});

test("7.2.3 a peer that does not answer a close frame and does not hang up is cut off", async () => {
  using raw = await gateway().client();
  await raw.write(clientFrame(3, "x"));
  expect(await raw.closing).toEqual(FAILED);
  const before = performance.now();
  await raw.ended;
  expectInTime(performance.now() - before, 5000);
});
