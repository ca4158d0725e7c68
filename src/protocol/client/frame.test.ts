import { expect, test } from "vitest";
import { parseFrame } from "./connection.ts";

test("answers and events are read", () => {
  expect(parseFrame('{"type":"res","id":"1","ok":true,"payload":{"a":1}}')).toEqual({ type: "res", id: "1", ok: true, payload: { a: 1 } });
  expect(parseFrame('{"type":"event","event":"tick","seq":3,"payload":{"ts":1}}')).toMatchObject({ event: "tick", seq: 3 });
});

test.each([
  "no json",
  "null",
  "[]",
  '"text"',
  "{}",
  '{"type":"req","id":"1","method":"health"}',
  '{"type":"res","id":1,"ok":true}',
  '{"type":"res","id":"1"}',
  '{"type":"res","id":"1","ok":true,"extra":1}',
  '{"type":"event","event":"tick","extra":1}',
  '{"type":"event","payload":{}}',
  '{"type":"event","event":"tick","seq":"3"}',
])("%s is passed over", (text) => {
  expect(parseFrame(text)).toBeUndefined();
});
