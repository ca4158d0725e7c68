import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { threadMs } from "../../base/thread-time.fixture.ts";
import { clipBytes, parseMessage, textFrame } from "./frames.ts";

test.each(["", "{", "hello", "{'a':1}", '{"a":1}x', '"unterminated', "[".repeat(64)])("%s is not JSON", (text) => {
  expect(parseMessage(text)).toEqual({ kind: "not-json" });
});

test("what is deeper than any parameter is named, not parsed", () => {
  const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect(parseMessage(nest(128)).kind).toBe("json");
  expect(parseMessage(nest(129))).toEqual({ kind: "hostile", issue: "nested deeper than 128 levels", id: undefined });
  expect(parseMessage(`{"a":${nest(1_000_000)}}`).kind).toBe("hostile");
});

test("brackets in texts do not count, with or without escaped quotes before them", () => {
  const text = JSON.stringify({ a: `"\\"${"[".repeat(1000)}`, b: "\\", c: "{".repeat(1000) });
  expect(parseMessage(text)).toEqual({ kind: "json", value: JSON.parse(text) });
});

test("a key that reaches a prototype is named wherever and however it is written; the word in a text is fine", () => {
  for (const text of ['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"\\u005f_proto__":1}', '{"_\\u005Fproto__":1}']) {
    expect(parseMessage(text)).toEqual({ kind: "hostile", issue: "unexpected property '__proto__'", id: undefined });
  }
  expect(parseMessage('{"a":"__proto__"}')).toEqual({ kind: "json", value: { a: "__proto__" } });
});

test("25 MiB of one text are read in one pass", async () => {
  const text = JSON.stringify({ content: "A".repeat(25_000_000) });
  parseMessage(text);
  expect(await threadMs(() => parseMessage(text))).toBeLessThan(2000);
});

const DEEP = `${"[".repeat(200)}${"]".repeat(200)}`;

test.each([
  ["first", `{"type":"req","id":"7","params":${DEEP}}`, "7"],
  ["with spaces around it", `{ "id" : "7" , "params":${DEEP}}`, "7"],
  ["with escapes", `{"id":"a\\"\\u0062","params":${DEEP}}`, 'a"b'],
  ["behind the parameters", `{"params":${DEEP},"id":"7"}`, "7"],
  ["beside a poisoned key", '{"id":"7","params":{"__proto__":1}}', "7"],
  ["only in the parameters", `{"params":{"id":"7","deep":${DEEP}}}`, undefined],
  ["only as a text", `{"method":"id","params":["id",${DEEP}]}`, undefined],
  ["empty", `{"id":"","params":${DEEP}}`, undefined],
  ["that is no text", `{"id":7,"params":${DEEP}}`, undefined],
  ["that never ends", `{"params":${DEEP},"id":"7`, undefined],
  ["too far behind", `{"params":[${DEEP},"${"x".repeat(70_000)}"],"id":"7"}`, undefined],
  ["too long", `{"id":"${"x".repeat(70_000)}","params":${DEEP}}`, undefined],
])("the id of a hostile frame is read when it is one: %s", (_, text, id) => {
  expect(parseMessage(text)).toMatchObject({ kind: "hostile", id });
});

interface Sender {
  frame(data: Buffer, options: Record<string, unknown>): Buffer[];
}
const { Sender } = createRequire(import.meta.url)("ws") as { Sender: Sender };

test.each([0, 1, 125, 126, 127, 65_535, 65_536, 200_000])("a frame of %d bytes is what the library would send", (length) => {
  const text = "x".repeat(length);
  const theirs = Buffer.concat(Sender.frame(Buffer.from(text), { fin: true, opcode: 1, mask: false, rsv1: false, readOnly: true }));
  expect(textFrame(text).equals(theirs)).toBe(true);
});

test("the length counts bytes, not characters", () => {
  const frame = textFrame("ü🦞");
  expect([frame[1], frame.subarray(2).toString("utf8")]).toEqual([6, "ü🦞"]);
});

test("a reason is cut between characters", () => {
  expect(clipBytes("aä", 2)).toBe("a");
  expect(clipBytes("🦞🦞", 7)).toBe("🦞");
  expect(clipBytes("short", 120)).toBe("short");
});
