import { describe, expect, test } from "vitest";
import { clean, cleanLine, printable, reveal } from "./clean.ts";

const ESC = "\u001b";

describe("control sequences of others do not reach the terminal", () => {
  test.each([
    ["colours", `${ESC}[31mred${ESC}[0m`, "red"],
    ["clearing the screen", `a${ESC}[2J${ESC}[Hb`, "ab"],
    ["the title", `${ESC}]0;owned\u0007text`, "text"],
    ["the title, ended otherwise", `${ESC}]2;owned${ESC}\\text`, "text"],
    ["the clipboard", `${ESC}]52;c;cm0gLXJmIC8=\u0007x`, "x"],
    ["a link that leads elsewhere", `${ESC}]8;;https://evil.example${ESC}\\click${ESC}]8;;${ESC}\\`, "click"],
    ["device strings", `${ESC}P1$r0m${ESC}\\x${ESC}_Gf=100;AAAA${ESC}\\y${ESC}^z${ESC}\\`, "xy"],
    ["sequences in eight bits", "\u009b31mred\u009d0;owned\u0007 \u0090q\u009cend", "red end"],
    ["a reset of the terminal", `${ESC}cgone?`, "gone?"],
    ["character sets", `${ESC}(0lqqk${ESC}(B`, "lqqk"],
    ["sequences in each other", `${ESC}${ESC}[31m[2J`, "[2J"],
    ["one that does not end", `${ESC}]0;the rest stays to be seen`, "0;the rest stays to be seen"],
    ["one that is cut off", `text${ESC}[`, "text"],
    ["the bell, backspaces, nulls", "a\u0007b\u0008c\u0000d\u007f", "abcd"],
    ["carriage returns that overwrite", "harmless\rrm -rf /", "harmless\nrm -rf /"],
    ["line ends of others", "a\r\nb\u2028c", "a\nb\nc"],
    ["turned text", "abc\u202edef\u202c \u2066x\u2069", "abcdef x"],
    ["invisible letters", "ig\u200bnore \u{e0041}\ufeffthis", "ignore this"],
    ["a half of a pair", "a\ud800b", "a\ufffdb"],
  ])("%s", (_what, text, left) => expect(clean(text)).toBe(left));

  test("nothing that controls is left of any mixture", () => {
    const parts = [ESC, "[", "]", "0;", "31m", "\u0007", "\\", "\u009b", "\u009d", "P", "x", "\n", "\r", "\u202e", "é", "漢"];
    let seed = 7;
    const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 2000; round += 1) {
      const text = Array.from({ length: 1 + (next() % 12) }, () => parts[next() % parts.length]!).join("");
      // oxlint-disable-next-line no-control-regex
      expect(clean(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }
  });

  test("rows of beginnings without an end are read once, not once for each", () => {
    expect(clean(`${ESC}]`.repeat(300_000))).toBe("");
    expect(clean("\u009d".repeat(300_000))).toBe("");
  });
});

test("what people write stays as it is", () => {
  for (const text of ["plain", "naïve – “quoted”", "漢字 かな 한글", "👩‍👩‍👧 🇨🇭 ✅", "می‌خواهم", "tab\tand\nline"]) expect(clean(text)).toBe(text);
});

test("a name is one line", () => expect(cleanLine(" a\n\tb  c ")).toBe("a b c"));

test("nothing of a command is hidden from who is asked about it", () => {
  expect(reveal(`echo safe\u001b[8m; rm -rf ~`)).toBe("echo safe\\u{1b}[8m; rm -rf ~");
  expect(reveal("echo a\rrm b")).toBe("echo a\\u{d}rm b");
  expect(reveal("ls \u202e fdp.exe\u200b")).toBe("ls \\u{202e} fdp.exe\\u{200b}");
  expect(reveal("a\tb\nc")).toBe("a\\u{9}b\nc");
});

test("what is painted can only be printed", () => expect(printable("a\u001b[2Jb\nc")).toBe("a\ufffd[2Jb\ufffdc"));
