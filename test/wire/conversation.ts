import { afterAll, beforeAll, expect, test } from "vitest";
import { clientFrame, OPCODE, type ServerFrame } from "./frame.ts";
import type { End, RawSocket } from "./raw-socket.ts";
import { startWireGateway, type WireGateway } from "./start.ts";

/**
 * The gateway echoes the `id` of every request, so a request is an echo test: the text that came back in the answer is the text that was taken
 * off the wire.
 */
export const echoText = (id: string): string => `{"type":"req","id":${JSON.stringify(id)},"method":"no.such.method"}`;

const BARE = Buffer.byteLength(echoText(""));

/** An id that makes its request `size` bytes long. */
export function idOfSize(size: number, filler = "x"): string {
  if (size <= BARE) throw new Error(`a request is longer than ${BARE} bytes, not ${size}`);
  return filler.repeat(size - BARE);
}

export const echo = (id: string): Buffer => clientFrame(OPCODE.text, echoText(id));
export const ping = (payload: Buffer | string = ""): Buffer => clientFrame(OPCODE.ping, payload);

/** Each octet by itself. */
export const octetsOf = (text: Buffer | string): Buffer[] => Array.from(Buffer.from(text as string), (octet) => Buffer.from([octet]));

/** A text in frames: the first, then continuations, the last one final. */
export function inFragments(pieces: readonly (Buffer | string)[], opcode: number = OPCODE.text): Buffer[] {
  return pieces.map((piece, index) => clientFrame(index === 0 ? opcode : OPCODE.continuation, piece, { fin: index === pieces.length - 1 }));
}

/** What is sent after hello, and what comes of it. */
export interface Case {
  /** Section of the Autobahn suite it stands for, and the behaviour. */
  readonly name: string;
  readonly send?: readonly Buffer[];
  /** Ids of the requests that are answered, in order: these and no others. */
  readonly answers?: readonly string[];
  /** Payloads of the pongs, in order: these and no others. */
  readonly pongs?: readonly string[];
  /** Sent after all of that came; for what breaks the connection. */
  readonly later?: readonly Buffer[];
  /** The close frame that comes back. Without it the connection has to stay open. */
  readonly close?: End;
  /** Bytes per write; default: everything in one write, then everything octet by octet. */
  readonly pieces?: readonly number[];
}

const WHOLE = 1 << 30;

const answered = (raw: RawSocket): string[] => raw.answers.flatMap(({ type, id }) => (type === "res" && id !== "connect" ? [id!] : []));
const ponged = ({ frames }: RawSocket): string[] => frames.filter(({ opcode }) => opcode === OPCODE.pong).map(({ payload }) => payload.toString("latin1"));

/** RFC 6455 5.1, 5.5: what a server must never send. */
export function expectLawful(frames: readonly ServerFrame[]): void {
  for (const { fin, rsv, opcode, masked, payload } of frames) {
    expect({ rsv, masked }).toEqual({ rsv: 0, masked: false });
    expect([OPCODE.text, OPCODE.close, OPCODE.pong, OPCODE.ping]).toContain(opcode);
    if (opcode >= 8) expect({ fin, short: payload.length <= 125 }).toEqual({ fin: true, short: true });
  }
}

/** The other side closed. We end our side, and the TCP connection ends with nothing more said. */
export async function expectClosed(raw: RawSocket, close: End): Promise<void> {
  expect(await raw.closing).toEqual(close);
  raw.socket.end();
  await raw.ended;
  expect(raw.frames.at(-1)!.opcode).toBe(OPCODE.close);
}

/** Still open, and everything before is done: a ping and a request come back. */
async function expectOpen(raw: RawSocket): Promise<void> {
  await raw.write(Buffer.concat([ping("fence"), echo("fence")]));
  await raw.response("fence");
  await raw.pongs(ponged(raw).length + (ponged(raw).includes("fence") ? 0 : 1));
}

async function run({ send = [], answers = [], pongs = [], later = [], close }: Case, raw: RawSocket, pieces: number): Promise<void> {
  await raw.write(Buffer.concat(send), pieces);
  for (const id of answers) expect((await raw.response(id)).error!.message).toBe("unknown method: no.such.method");
  await raw.pongs(pongs.length);
  await raw.write(Buffer.concat(later), pieces);
  if (close) await expectClosed(raw, close);
  else await expectOpen(raw);
  expect(answered(raw)).toEqual(close ? answers : [...answers, "fence"]);
  expect(ponged(raw)).toEqual(close ? pongs : [...pongs, "fence"]);
  expectLawful(raw.frames);
}

/** One gateway for a file. At the end it must still let clients in, and its log must not speak of a failure of its own. */
export function wireGateway(): () => WireGateway {
  let gateway: WireGateway;
  beforeAll(async () => {
    gateway = await startWireGateway();
  });
  afterAll(async () => {
    using last = await gateway.client();
    await expectOpen(last);
    expect(gateway.process.output()).not.toMatch(/defect|unhandled|uncaught|TypeError|RangeError/i);
    await gateway[Symbol.asyncDispose]();
  });
  return () => gateway;
}

/** Makes a test of each case and way of cutting its bytes. */
export function testCases(gateway: () => WireGateway, cases: readonly Case[]): void {
  for (const one of cases) {
    for (const pieces of one.pieces ?? [WHOLE, 1]) {
      test(`${one.name}${pieces === WHOLE ? "" : `, in writes of ${pieces} octet${pieces === 1 ? "" : "s"}`}`, async () => {
        using raw = await gateway().client();
        await run(one, raw, pieces);
      });
    }
  }
}
