import { describe, expect, test } from "vitest";
import { loadRichText, splitRich, toMarkdown, toTelegramHtml, type SplitOptions } from "../index.ts";

const { parseMarkdown, renderRichPieces } = await loadRichText();

const texts = (markdown: string, limit: number, options?: SplitOptions): string[] => splitRich(parseMarkdown(markdown), limit, options).map(({ text }) => text);
const html = (markdown: string, limit: number): string[] => splitRich(parseMarkdown(markdown), limit).map(toTelegramHtml);

describe("a cut is", () => {
  test.each([
    ["nowhere when all fits", "aaa bbb", 7, ["aaa bbb"]],
    ["at a paragraph in the second half", "aaaa bbbb\n\ncc\ndd ee", 16, ["aaaa bbbb", "cc\ndd ee"]],
    ["at the last line", "a\n\nbbbb\ncccc dddd", 14, ["a\n\nbbbb", "cccc dddd"]],
    ["at the last blank", "aaaa bbbb cccc", 11, ["aaaa bbbb", "cccc"]],
    ["right behind what fits", "aaaa bbbb", 4, ["aaaa", "bbbb"]],
    ["not in parentheses", "aaaa (bbb ccc) d", 10, ["aaaa", "(bbb ccc)", "d"]],
    ["in parentheses where nothing else is left", "(aaa bbb ccc)", 8, ["(aaa bbb", "ccc)"]],
    ["in a word where there is no blank", "aaaaaaaa", 3, ["aaa", "aaa", "aa"]],
    ["not between a mark and its item", "- aaaaaaaaaa", 6, ["• aaaa", "aaaaaa"]],
    ["not in a character of two units", "a😀😀", 2, ["a", "😀", "😀"]],
    ["not in a family", "ab👩‍👩‍👧", 9, ["ab", "👩‍👩‍👧"]],
    ["not between flags' halves", "🇩🇪🇫🇷🇮🇹", 7, ["🇩🇪", "🇫🇷", "🇮🇹"]],
    ["not before an accent", "aae\u0301", 3, ["aa", "e\u0301"]],
  ])("%s", (_, markdown, limit, pieces) => {
    expect(texts(markdown, limit)).toEqual(pieces);
  });
});

test("a limit of 0 or less means no limit, and empty text gives no chunk", () => {
  expect(texts("a b\n\nc", 0)).toEqual(["a b\n\nc"]);
  expect(texts("", 10)).toEqual([]);
  expect(splitRich({ text: " \n ", styles: [], links: [] }, 10)).toEqual([]);
});

test("styles and links continue in the next chunk", () => {
  expect(html("**aaaa bbbb** *c*", 5)).toEqual(["<b>aaaa</b>", "<b>bbbb</b>", "<i>c</i>"]);
  expect(html("[aaaa bbbb](http://x.y)", 5)).toEqual(['<a href="http://x.y">aaaa</a>', '<a href="http://x.y">bbbb</a>']);
  expect(html("> aaaa\n> bbbb", 5)).toEqual(["<blockquote>aaaa</blockquote>", "<blockquote>bbbb</blockquote>"]);
});

describe("code", () => {
  test("continues in the next chunk with its language and its indentation", () => {
    expect(html("```py\nif a:\n    b\n    c\n```", 12)).toEqual([
      '<pre><code class="language-py">if a:\n    b</code></pre>',
      '<pre><code class="language-py">    c</code></pre>',
    ]);
  });

  test("that fits into one chunk is not cut", () => {
    expect(texts("aaaa bbbb\n```\ncccc\n\ndddd\n```\ne", 11)).toEqual(["aaaa bbbb", "cccc\n\ndddd", "e"]);
  });

  test("that is blank at the end of a chunk leaves no empty block", () => {
    for (const piece of html("```\naaaa\n\n\n\n b\n```\n\nc", 5)) expect(piece).not.toMatch(/<pre>\s*<\/pre>/);
  });
});

describe("newline", () => {
  test("makes each paragraph a chunk and keeps code together", () => {
    expect(texts("a\nb\n\nc\n\n```\nd\n\ne\n```\n\nf", 100, { mode: "newline" })).toEqual(["a\nb", "c", "d\n\ne", "f"]);
  });

  test("cuts a paragraph that is too long", () => {
    expect(texts("aaaa bbbb\n\nc", 5, { mode: "newline" })).toEqual(["aaaa", "bbbb", "c"]);
  });
});

test("a chunk respects the line limit", () => {
  expect(texts("a\nb\nc\nd\ne", 100, { maxLines: 2 })).toEqual(["a\nb", "c\nd", "e"]);
  expect(texts("x\n```\na\nb\nc\nd\n```", 100, { maxLines: 3 })).toEqual(["x\na\nb", "c\nd"]);
});

test("the size of a chunk can be measured in bytes", () => {
  expect(texts("äöü äöü", 6, { measure: Buffer.byteLength })).toEqual(["äöü", "äöü"]);
  expect(texts("ääää", 5, { measure: Buffer.byteLength })).toEqual(["ää", "ää"]);
  expect(texts("a".repeat(40), 2, { measure: (text) => text.length / 10 })).toEqual(["a".repeat(20), "a".repeat(20)]);
});

test("4 MB are split", () => {
  const pieces = texts("word ".repeat(800_000), 4000);
  expect(pieces).toHaveLength(1000);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(4000);
});

describe("Markdown to messages", () => {
  test("is parsed, split and rendered", () => {
    expect(renderRichPieces("**aaaa bbbb**", { limit: 5, render: toTelegramHtml }).map(({ rendered }) => rendered)).toEqual(["<b>aaaa</b>", "<b>bbbb</b>"]);
  });

  test("is split further where the platform counts the markup", () => {
    const pieces = renderRichPieces("**aa** ".repeat(50), { limit: 40, render: toMarkdown, size: (text) => text.length });
    expect(pieces.every(({ rendered }) => rendered.length <= 40)).toBe(true);
    expect(pieces.map(({ rendered }) => rendered).join(" ")).toBe("**aa** ".repeat(50).trim());
  });

  test("terminates where the markup alone exceeds the limit", () => {
    expect(renderRichPieces("**ab**", { limit: 2, render: toMarkdown, size: (text) => text.length }).map(({ rendered }) => rendered)).toEqual([
      "**a**",
      "**b**",
    ]);
  });
});
