import { expect, test } from "vitest";
import { keyBytes, keySequence, pasted } from "./keys.ts";

test.each([
  ["Enter", "\r"],
  ["tab", "\t"],
  ["Escape", "\x1b"],
  ["Space", " "],
  ["BSpace", "\x7f"],
  ["Up", "\x1b[A"],
  ["Left", "\x1b[D"],
  ["Home", "\x1b[H"],
  ["End", "\x1b[F"],
  ["PageUp", "\x1b[5~"],
  ["PageDown", "\x1b[6~"],
  ["Insert", "\x1b[2~"],
  ["Delete", "\x1b[3~"],
  ["BTab", "\x1b[Z"],
  ["S-Tab", "\x1b[Z"],
  ["F1", "\x1bOP"],
  ["F5", "\x1b[15~"],
  ["F12", "\x1b[24~"],
  ["KP0", "\x1bOp"],
  ["KPEnter", "\x1bOM"],
  ["KP/", "\x1bOo"],
  ["C-c", "\x03"],
  ["C-[", "\x1b"],
  ["C-Space", "\0"],
  ["^C", "\x03"],
  ["^?", "\x7f"],
  ["M-x", "\x1bx"],
  ["C-M-a", "\x1b\x01"],
  ["S-a", "A"],
  ["C-Left", "\x1b[1;5D"],
  ["S-Up", "\x1b[1;2A"],
  ["M-F1", "\x1b[1;3P"],
  ["C-S-PageDown", "\x1b[6;6~"],
  ["-", "-"],
  ["é", "é"],
])("the key %s sends its bytes", (token, bytes) => expect(keySequence(token)).toBe(bytes));

test.each(["", "Entr", "C-", "C-é", "hello", "F13", "constructor"])("%j is no key, and the error says what is", (token) => {
  expect(() => keySequence(token)).toThrow(/is not a key; keys are names such as Enter/);
});

test("text goes first, then bytes, then keys", () => {
  expect(keyBytes({ literal: "ä", hex: ["1b", "0x0d 0a"], keys: ["Enter"] })).toEqual(Buffer.from("ä\x1b\r\n\r"));
  expect(() => keyBytes({ hex: ["1"] })).toThrow(/expected bytes of two digits/);
  expect(() => keyBytes({ hex: ["zz"] })).toThrow(/expected bytes of two digits/);
});

test("pasted text cannot end its own paste", () => {
  expect(pasted("a\nb", true)).toBe("\x1b[200~a\nb\x1b[201~");
  expect(pasted("a\x1b[20\x1b[201~1~rm", true)).toBe("\x1b[200~a[20[201~1~rm\x1b[201~");
  expect(pasted("a\x1bb", false)).toBe("a\x1bb");
});
