import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { clipBytes, textFrame } from "./frame.ts";

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
