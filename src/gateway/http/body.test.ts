import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createBodyReader, parseJsonObject } from "./body.ts";

/** A request whose body the test writes. */
function incoming(headers: Record<string, string> = { "transfer-encoding": "chunked" }): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

test("a body within its limit comes whole, however it is cut", async () => {
  const reader = createBodyReader({ clock: manualClock() });
  const request = incoming();
  const read = reader.read(request, 100_000);
  const text = "0123456789".repeat(10_000);
  for (let at = 0; at < text.length; at += 777) request.write(text.slice(at, at + 777));
  request.end();
  const result = await read;
  expect(result.ok && result.body.toString()).toBe(text);
  expect(reader.reserved).toBe(0);
});

test("a declared length over the limit is refused before a byte is read", async () => {
  const request = incoming({ "content-length": "11" });
  expect(await createBodyReader({ clock: manualClock() }).read(request, 10)).toMatchObject({ ok: false, status: 413 });
  expect(request.listenerCount("data")).toBe(0);
});

test("a body that grows over the limit is refused at that byte", async () => {
  const reader = createBodyReader({ clock: manualClock() });
  const request = incoming();
  const read = reader.read(request, 10);
  request.write("1234567890");
  request.write("1");
  expect(await read).toMatchObject({ ok: false, status: 413 });
  expect(reader.reserved).toBe(0);
});

test("a body that does not arrive in time is refused, even when a byte comes now and then", async () => {
  const clock = manualClock();
  const reader = createBodyReader({ clock });
  const request = incoming();
  const read = reader.read(request, 1000);
  for (let second = 0; second < 30; second += 1) {
    request.write("x");
    clock.advance(1000);
  }
  expect(await read).toMatchObject({ ok: false, status: 408 });
});

test("all bodies together have one budget; it is given back", async () => {
  const reader = createBodyReader({ clock: manualClock(), totalBytes: 10_000 });
  const first = incoming();
  const held = reader.read(first, 8192);
  const arrived = once(first, "data");
  first.write(Buffer.alloc(8000));
  await arrived;
  expect(reader.reserved).toBe(8000);
  const second = incoming();
  const refused = reader.read(second, 8192);
  second.write(Buffer.alloc(8000));
  expect(await refused).toMatchObject({ ok: false, status: 503 });
  first.end();
  expect(await held).toMatchObject({ ok: true });
  expect(reader.reserved).toBe(0);
});

test("a caller that leaves inside the body frees what it held", async () => {
  const reader = createBodyReader({ clock: manualClock() });
  const request = incoming();
  const read = reader.read(request, 1000);
  request.write("half");
  request.destroy();
  expect(await read).toMatchObject({ ok: false });
  expect(reader.reserved).toBe(0);
});

test("JSON bodies must be one object in UTF-8", () => {
  expect(parseJsonObject(Buffer.from('{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
  for (const bad of ["", "{", "[]", "null", '"x"', "{}{}"]) expect(parseJsonObject(Buffer.from(bad)).ok).toBe(false);
  expect(parseJsonObject(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])).ok).toBe(false);
});
