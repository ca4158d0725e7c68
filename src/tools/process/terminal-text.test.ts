import { expect, test } from "vitest";
import { TerminalText } from "./terminal-text.ts";

const WRITTEN = "\x1b]0;a title\x07one\r\n\x1b[1;31mtwo\x1b[0m\r\r\nthr\x1b]8;;https://e.org\x1b\\ee\x1b(B\x1b=\r10 %\r20 %\x1b[?25l\x1b7\x1b[K\n";
const READABLE = "one\ntwo\nthree\r10 %\r20 %\n";

test("sequences and doubled line ends are gone, wherever the pieces are cut", () => {
  for (let size = 1; size <= WRITTEN.length; size += 1) {
    const text = new TerminalText();
    let read = "";
    for (let at = 0; at < WRITTEN.length; at += size) read += text.write(WRITTEN.slice(at, at + size));
    expect(read + text.end(), `pieces of ${size}`).toBe(READABLE);
  }
});

test("a query for the cursor is reported once, also in two pieces", () => {
  let asked = 0;
  const text = new TerminalText(() => (asked += 1));
  expect(text.write("a\x1b[6")).toBe("a");
  expect(asked).toBe(0);
  expect(text.write("nb\x1b[?6n")).toBe("b");
  expect(asked).toBe(2);
});

test("what never ends is not kept for ever", () => {
  const text = new TerminalText();
  expect(text.write(`a\x1b]${"x".repeat(10_000)}`)).toBe("a");
  expect(text.write("xxx")).toBe("");
  expect(text.write("x\nthe next line")).toBe("\nthe next line");
  expect(text.write(`\x1b[${"1;".repeat(5000)}`) + text.end()).toContain("1;1;");
});
