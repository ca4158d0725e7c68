import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "vitest";
import { browse, SERVICE } from "../discover.ts";
import { encodeName, encodeQuery, parseAnswer, TYPE, type DnsName } from "./dns-message.ts";

const INSTANCE: DnsName = ["Studio v2.0 (OpenClaw)", ...SERVICE];
const HOST: DnsName = ["studio", "local"];

const number = (bytes: number, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const text = (entry: string): Buffer => Buffer.concat([number(1, Buffer.byteLength(entry)), Buffer.from(entry)]);
const record = (name: Buffer, type: number, data: Buffer): Buffer =>
  Buffer.concat([name, number(2, type), number(2, 0x8001), number(4, 120), number(2, data.length), data]);
const answer = (...records: Buffer[]): Buffer =>
  Buffer.concat([number(2, 0), number(2, 0x8400), number(2, 0), number(2, records.length), number(4, 0), ...records]);

const PTR = record(encodeName(SERVICE), TYPE.PTR, encodeName(INSTANCE));
const SRV = record(encodeName(INSTANCE), TYPE.SRV, Buffer.concat([number(4, 0), number(2, 18789), encodeName(HOST)]));
const TXT = record(encodeName(INSTANCE), TYPE.TXT, Buffer.concat(["displayName=Studio", "gatewayTls=1", "role=gateway"].map(text)));
const A = record(encodeName(HOST), TYPE.A, Buffer.from([192, 0, 2, 7]));

/** A gateway's machine: gives each question the answer that `reply` has for it. */
async function responder(reply: (question: Buffer) => Buffer) {
  const socket = createSocket("udp4");
  socket.on("message", (question, { address, port }) => socket.send(reply(question), port, address));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, [Symbol.dispose]: () => socket.close() };
}

const listen = (port: number, timeoutMs: number) => browse({ timeoutMs, to: { address: "127.0.0.1", port }, from: ["127.0.0.1"] });

test("a gateway that answers is found with its name, address and texts", async () => {
  using machine = await responder(() => answer(PTR, SRV, TXT, A));
  expect(await listen(machine.port, 200)).toEqual([
    {
      instanceName: "Studio v2.0 (OpenClaw)",
      displayName: "Studio",
      domain: "local.",
      host: "studio.local",
      port: 18789,
      addresses: ["192.0.2.7"],
      gatewayTls: true,
      wsUrl: "wss://192.0.2.7:18789",
      txt: { displayName: "Studio", gatewayTls: "1", role: "gateway" },
    },
  ]);
});

test("what an answer left out is asked for", async () => {
  using machine = await responder((question) => (question.readUInt16BE(4) > 1 ? answer(SRV, TXT, A) : answer(PTR)));
  expect(await listen(machine.port, 800)).toMatchObject([{ instanceName: "Studio v2.0 (OpenClaw)", port: 18789 }]);
});

test("nobody there is an empty list, and rubbish is nobody", async () => {
  using machine = await responder(() => Buffer.from("rubbish"));
  expect(await listen(machine.port, 60)).toEqual([]);
});

test("control characters of strangers do not reach the screen", async () => {
  const name: DnsName = ["evil\u001b[2J\nname", ...SERVICE];
  const [ptr, srv] = [
    record(encodeName(SERVICE), TYPE.PTR, encodeName(name)),
    record(encodeName(name), TYPE.SRV, Buffer.concat([number(6, 1), encodeName(HOST)])),
  ];
  using machine = await responder(() => answer(ptr, srv));
  expect(await listen(machine.port, 100)).toMatchObject([{ instanceName: "evil[2Jname" }]);
});

test("compressed names are read, and pointers that lead nowhere, forward or in a circle end the reading", () => {
  const header = answer(PTR).subarray(0, 12);
  const name = encodeName(SERVICE);
  const pointer = Buffer.from([0xc0, 12]);
  const compressed = Buffer.concat([header, record(name, TYPE.PTR, Buffer.concat([text("one"), pointer]))]);
  expect(parseAnswer(compressed)).toEqual([{ type: "PTR", name: SERVICE, target: ["one", ...SERVICE] }]);
  for (const at of [12, 13, 200]) {
    const circle = Buffer.concat([header, record(Buffer.from([0xc0, at]), TYPE.PTR, name)]);
    expect(parseAnswer(circle)).toEqual([]);
  }
});

test("any cut of an answer is read without an error, and a question is no answer", () => {
  const whole = answer(PTR, SRV, TXT, A);
  expect(parseAnswer(whole)).toHaveLength(4);
  for (let length = 0; length < whole.length; length += 1) expect(parseAnswer(whole.subarray(0, length)).length).toBeLessThan(4);
  expect(parseAnswer(encodeQuery([{ name: SERVICE, type: TYPE.PTR }]))).toEqual([]);
});
