import { expect, test } from "vitest";
import { LIMITS } from "../../src/protocol/index.ts";
import { clientFrame, OPCODE } from "./frame.ts";
import { echo, echoText, expectClosed, expectLawful, idOfSize, testCases, wireGateway, type Case } from "./conversation.ts";
import { connectRequest, nonceOf, type Answer } from "./raw-socket.ts";

const gateway = wireGateway();

const MIB = 1_048_576;
const TOO_LARGE = { code: 1009, reason: "" };
const OPENING_BYTES = 65_536;

/** A request of `size` bytes in frames of `frame` bytes. */
function fragments(size: number, frame: number): Buffer[] {
  const bytes = Buffer.from(echoText(idOfSize(size)));
  return Array.from({ length: Math.ceil(size / frame) }, (_, index) =>
    clientFrame(index === 0 ? OPCODE.text : OPCODE.continuation, bytes.subarray(index * frame, (index + 1) * frame), { fin: (index + 1) * frame >= size }),
  );
}

const whole: Case[] = [MIB / 16, MIB / 4, MIB, 4 * MIB, 16 * MIB].map((size, index) => ({
  name: `9.1.${index + 1} a message of ${size} bytes arrives whole`,
  send: [echo(idOfSize(size))],
  answers: [idOfSize(size)],
  pieces: [1 << 30],
}));

const fragmented: Case[] = [64, 256, 1024, 65_536, MIB].map((frame, index) => ({
  name: `9.3.${index + 1} a message of 1 MiB in frames of ${frame} bytes arrives whole`,
  send: fragments(MIB, frame),
  answers: [idOfSize(MIB)],
  pieces: [1 << 30],
}));

const chopped: Case[] = [64, 128, 512, 2048].map((size, index) => ({
  name: `9.5.${index + 1} a message of 256 KiB arrives whole`,
  send: [echo(idOfSize(MIB / 4))],
  answers: [idOfSize(MIB / 4)],
  pieces: [size],
}));

/** As many requests as one connection may have open. */
const NAMES = Array.from({ length: 512 }, (_, index) => `m${index}`);

testCases(gateway, [
  ...whole,
  ...fragmented,
  ...chopped,
  { name: "9.7.1 512 requests in one write are all answered, in order", send: NAMES.map((id) => echo(id)), answers: NAMES, pieces: [1 << 30] },
  {
    name: `9.9.1 a message of ${LIMITS.maxPayload} bytes, the most that is promised, arrives whole`,
    send: [echo(idOfSize(LIMITS.maxPayload))],
    answers: [idOfSize(LIMITS.maxPayload)],
    pieces: [1 << 30],
  },
  {
    name: "9.9.2 a frame of one byte more is refused when it is announced, before it comes",
    later: [clientFrame(OPCODE.text, "", { length: LIMITS.maxPayload + 1 })],
    close: TOO_LARGE,
  },
  {
    name: "9.9.3 a fragment that makes the message too long is refused when it is announced",
    later: [clientFrame(OPCODE.text, "x".repeat(1000), { fin: false }), clientFrame(OPCODE.continuation, "", { fin: false, length: LIMITS.maxPayload - 999 })],
    close: TOO_LARGE,
    pieces: [1 << 30],
  },
  { name: "9.9.4 a binary frame has the same bound", later: [clientFrame(OPCODE.binary, "", { length: LIMITS.maxPayload + 1 })], close: TOO_LARGE },
]);

test("9.7.2 of 5000 requests at once each is answered exactly once, in order, and none is asked to retry", async () => {
  using raw = await gateway().client();
  const ids = Array.from({ length: 5000 }, (_, index) => `n${index}`);
  await raw.write(Buffer.concat(ids.map((id) => echo(id))));
  const come = (): Answer[] => raw.answers.filter(({ type, id }) => type === "res" && id !== "connect");
  await raw.next((answer) => answer === raw.answers.at(-1) && come().length >= ids.length);
  const answers = come();
  expect(answers).toHaveLength(ids.length);
  expect(answers.map(({ id }) => id)).toEqual(ids);
  expect(answers.filter(({ error }) => error?.code === "UNAVAILABLE")).toEqual([]);
  expectLawful(raw.frames);
});

test.each([
  ["text", OPCODE.text],
  ["binary", OPCODE.binary],
  ["ping", OPCODE.ping],
])("9.10.1 more than 64 KiB before hello closes the connection, sent as %s frames that never end a handshake", async (_, opcode) => {
  using raw = await gateway().stranger();
  const part = opcode === OPCODE.ping ? clientFrame(opcode, Buffer.alloc(125)) : clientFrame(opcode, Buffer.alloc(OPENING_BYTES + 1), { length: MIB });
  const bytes = Buffer.concat(Array.from({ length: Math.ceil((OPENING_BYTES + 1) / part.length) }, () => part));
  await raw.write(bytes.subarray(0, OPENING_BYTES));
  await raw.write(bytes.subarray(OPENING_BYTES, OPENING_BYTES + 1));
  await expectClosed(raw, { code: 1009, reason: "more than 65536 bytes before hello" });
});

test.each([
  ["of exactly 64 KiB is taken", OPENING_BYTES, undefined],
  ["of one byte more is refused", OPENING_BYTES + 1, { code: 1009, reason: "more than 65536 bytes before hello" }],
])("9.10.2 a connect request %s", async (_, size, close) => {
  using raw = await gateway().stranger();
  const { device, token } = gateway();
  const text = connectRequest(device, token, await nonceOf(raw));
  const frameHead = 8;
  await raw.frame(OPCODE.text, text.padEnd(size - frameHead));
  if (close) await expectClosed(raw, close);
  else expect((await raw.response("connect")).ok).toBe(true);
});

test("9.10.3 after hello the bound of the handshake is gone", async () => {
  using raw = await gateway().client();
  for (const id of ["a", "b", "c"]) {
    const long = id.repeat(OPENING_BYTES);
    await raw.write(echo(long));
    await raw.response(long);
  }
});
