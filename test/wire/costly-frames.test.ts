import { expect, test } from "vitest";
import { busyMs } from "../harness/busy-time.ts";
import { OPCODE } from "./frame.ts";
import { wireGateway } from "./conversation.ts";
import type { RawSocket } from "./raw-socket.ts";

const gateway = wireGateway();

const request = (id: string, method: string, params: string): string => `{"type":"req","id":"${id}","method":"${method}","params":${params}}`;
const chat = (message: string): string =>
  request("x", "chat.send", JSON.stringify({ sessionKey: "main", idempotencyKey: `costly-${message.length}`, message }));
const MARKS = "\u0301\u0323";

/** Cheap to send; what they cost the gateway must grow with their length and no faster. */
const COSTLY: readonly (readonly [string, () => string])[] = [
  ["twelve million numbers and the name of the prototype", () => request("x", "no.such.method", `[${"0,".repeat(12_000_000)}"__proto__"]`)],
  ["twelve million numbers and the key of the prototype", () => request("x", "no.such.method", `[${"0,".repeat(12_000_000)}{"__proto__":0}]`)],
  ["twelve million nested arrays", () => request("x", "no.such.method", `${"[".repeat(12_000_000)}${"]".repeat(12_000_000)}`)],
  ["twenty-five million escaped characters", () => request("x", "no.such.method", JSON.stringify("\\".repeat(12_500_000)))],
  ["four hundred thousand combining marks on one letter", () => chat(`a${MARKS.repeat(200_000)}`)],
  ["a million letters with a few marks each", () => chat(`a${MARKS.repeat(4)}`.repeat(100_000))],
  ["half a million unknown parameters", () => request("x", "chat.history", `{${Array.from({ length: 500_000 }, (_, index) => `"k${index}":0`).join(",")}}`)],
  ["two million keys to preview", () => request("x", "sessions.preview", `{"keys":[${'"a",'.repeat(2_000_000)}"b"]}`)],
];

async function ask(raw: RawSocket, id: string): Promise<void> {
  await raw.frame(OPCODE.text, request(id, "health", "{}"));
  await raw.response(id);
}

test.each(COSTLY)("%s in one frame do not keep other clients waiting for longer than three seconds", async (_, make) => {
  using sender = await gateway().client();
  using other = await gateway().client();
  await ask(other, "warm");
  const text = make();
  const { pid } = gateway().process.child;
  const before = busyMs(pid!);
  await sender.frame(OPCODE.text, text);
  await ask(other, "meanwhile");
  await sender.next(({ type, id }) => type === "res" && (id === "x" || id === "invalid"));
  expect(busyMs(pid!) - before).toBeLessThan(3000);
});

test.each([
  ['"__proto__"'],
  ['"\\u005f_proto__"'],
  ['"__pro\\u0074o__"'],
  ['"\\u005F\\u005f\\u0070\\u0072\\u006f\\u0074\\u006F\\u005F\\u005F"'],
  ['"__proto__" \n'],
])("the key of the prototype, spelled %s, is refused by name", async (key) => {
  using raw = await gateway().client();
  await raw.frame(OPCODE.text, request("x", "health", `{"a":[{${key}:{"polluted":true}}]}`));
  const { ok, error } = await raw.next(({ type, id }) => type === "res" && id !== "connect");
  expect({ ok, error }).toEqual({ ok: false, error: { code: "INVALID_REQUEST", message: "invalid request frame: unexpected property '__proto__'" } });
});
