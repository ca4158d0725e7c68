import { describe, expect, test } from "vitest";
import { createDecoder, type Input } from "./decoder.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const key = (name: string): Input => ({ type: "key", key: name });
const typed = (text: string): Input => ({ type: "text", text });

function decode(...chunks: readonly (string | Uint8Array)[]): Input[] {
  const decoder = createDecoder();
  return [...chunks.flatMap((chunk) => decoder.push(typeof chunk === "string" ? bytes(chunk) : chunk)), ...decoder.flush()];
}

describe("keys", () => {
  test.each([
    ["\r", "enter"],
    ["\n", "ctrl+j"],
    ["\t", "tab"],
    ["\u007f", "backspace"],
    ["\u0008", "backspace"],
    ["\u0003", "ctrl+c"],
    ["\u001a", "ctrl+z"],
    ["\u0000", "ctrl+space"],
    ["\u001b", "escape"],
    ["\u001b[A", "up"],
    ["\u001bOA", "up"],
    ["\u001b[1;5C", "ctrl+right"],
    ["\u001b[1;2A", "shift+up"],
    ["\u001b[1;3D", "alt+left"],
    ["\u001b[1;7D", "ctrl+alt+left"],
    ["\u001b\u001b[A", "alt+up"],
    ["\u001b[H", "home"],
    ["\u001b[4~", "end"],
    ["\u001b[3~", "delete"],
    ["\u001b[5~", "pageup"],
    ["\u001b[6~", "pagedown"],
    ["\u001b[1;5F", "ctrl+end"],
    ["\u001b[Z", "shift+tab"],
    ["\u001b\r", "alt+enter"],
    ["\u001bb", "alt+b"],
    ["\u001b\u007f", "alt+backspace"],
    ["\u001bé", "alt+é"],
    ["\u001b[13;2u", "shift+enter"],
    ["\u001b[27u", "escape"],
    ["\u001b[99;5u", "ctrl+c"],
    ["\u001b[99:67;5:1u", "ctrl+c"],
    ["\u001b[27;5;106~", "ctrl+j"],
    ["\u001b[127;3u", "alt+backspace"],
    ["\u001b[57414u", "enter"],
    ["\u001bOM", "enter"],
    ["\u001b[15~", "f5"],
  ])("%j is %s", (sequence, name) => expect(decode(sequence)).toEqual([key(name)]));

  test("a sequence may come byte by byte", () => {
    expect(decode(..."\u001b[1;5C".split(""))).toEqual([key("ctrl+right")]);
  });

  test("a lone Escape is distinguished from an escape sequence by timing", () => {
    const decoder = createDecoder();
    expect(decoder.push(bytes("\u001b"))).toEqual([]);
    expect(decoder.waiting).toBe(true);
    expect(decoder.flush()).toEqual([key("escape")]);
    expect(decoder.waiting).toBe(false);
    expect(decoder.push(bytes("[A"))).toEqual([typed("[A")]);
  });

  test("twice Escape is twice Escape", () => expect(decode("\u001b\u001b")).toEqual([key("escape"), key("escape")]));

  test("keys that were let go, answers of the terminal and unknown sequences are nothing", () => {
    expect(decode("\u001b[97;1:3u", "\u001b[?62;4c", "\u001b]11;rgb:ffff/ffff/ffff\u0007", "\u001bP1+r\u001b\\", "\u001b[I", "\u001b[57441u", "a")).toEqual([
      typed("a"),
    ]);
  });
});

describe("text", () => {
  test("input that arrives together is reported together, in order", () => {
    expect(decode("hello\rworld")).toEqual([typed("hello"), key("enter"), typed("world")]);
  });

  test("a character may come in parts", () => {
    const whole = bytes("漢🦞");
    expect(decode(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual([typed("漢"), typed("🦞")]);
  });

  test("bytes that are no text do no harm", () => expect(decode(Uint8Array.of(0xff, 0x61))).toEqual([typed("\ufffda")]));

  test("letters that a terminal sends as codes are text", () =>
    expect(decode("\u001b[97u\u001b[97;2u\u001b[32;2u\u001b[57400u")).toEqual([typed("a"), typed("A"), typed(" "), typed("1")]));
});

describe("pastes", () => {
  test("line ends and keys in a paste are part of it", () => {
    expect(decode("\u001b[200~a\rb\u0003\u001b[Ac\u001b[201~d")).toEqual([{ type: "paste", text: "a\rb\u0003\u001b[Ac" }, typed("d")]);
  });

  test("a paste may come in any pieces", () => {
    const whole = "\u001b[200~one\ntwo\u001b[201~\r";
    for (let cut = 1; cut < whole.length; cut += 1) {
      expect(decode(whole.slice(0, cut), whole.slice(cut))).toEqual([{ type: "paste", text: "one\ntwo" }, key("enter")]);
    }
  });

  test("more than a message can hold is cut, and its end is still seen", () => {
    const [paste, after] = decode("\u001b[200~", ...Array.from({ length: 30 }, () => "x".repeat(50_000)), "\u001b[20", "1~!");
    expect(paste?.type === "paste" && paste.text.length).toBe(1_000_000);
    expect(after).toEqual(typed("!"));
  });
});

test("the wheel is reported, other mouse events are not", () => {
  expect(decode("\u001b[<64;10;5M\u001b[<65;10;5M\u001b[<0;1;1M\u001b[<0;1;1m")).toEqual([
    { type: "wheel", up: true },
    { type: "wheel", up: false },
  ]);
});

test("whatever comes in whatever pieces is the same", () => {
  const whole = bytes("a\u001b[A漢\u001b[200~p\u001b[201~\u001b[1;5C\u0003\u001bx🦞\r");
  const expected = decode(whole).map((input) => JSON.stringify(input));
  for (let size = 1; size < 7; size += 1) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));
    expect(decode(...chunks).map((input) => JSON.stringify(input))).toEqual(expected);
  }
});
