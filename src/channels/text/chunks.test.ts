import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunkByNewline, chunkByParagraph, chunkMarkdownText, chunkMarkdownTextWithMode, chunkText, chunkTextWithMode } from "../index.ts";

const word = fc.stringMatching(/^[a-z(){}[\]*_.,é😀]{1,14}$/u);
const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
const prose = fc.array(line, { maxLength: 30 }).map((lines) => lines.join("\n"));
const fence = fc
  .record({
    marker: fc.constantFrom("```", "````", "~~~"),
    info: fc.constantFrom("", "ts", "a-rather-long-info-string of some kind"),
    lines: fc.array(line, { maxLength: 20 }),
  })
  .map(({ marker, info, lines }) => `${marker}${info}\n${lines.join("\n")}\n${marker}`);
const document = fc.array(fc.oneof(prose, fence), { minLength: 1, maxLength: 6 }).map((parts) => parts.join("\n\n"));

const dense = (text: string): string => text.replaceAll(/\s/g, "");
const isFenceLine = (text: string): boolean => /^ {0,3}(?:`{3,}|~{3,})/.test(text);
const withoutFences = (text: string): string =>
  dense(
    text
      .split("\n")
      .filter((row) => !isFenceLine(row))
      .join("\n"),
  );

function balanced(chunk: string): boolean {
  let open: string | undefined;
  for (const row of chunk.split("\n")) {
    const marker = /^ {0,3}(`{3,}|~{3,})/.exec(row)?.[1];
    if (open === undefined) open = marker;
    else if (marker?.startsWith(open) && row.trim() === marker) open = undefined;
  }
  return open === undefined;
}

const halves = (chunk: string): boolean => /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/.test(chunk);

describe("plain text", () => {
  test("chunks are within the limit, split no character, and together are the text except for white space", () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 2, max: 120 }), (text, limit) => {
        const chunks = chunkText(text, limit);
        for (const chunk of chunks) expect(chunk.length <= limit && !halves(chunk)).toBe(true);
        expect(dense(chunks.join(""))).toBe(dense(text));
      }),
    );
  });

  test("text that fits is unchanged, and no limit means one chunk", () => {
    expect(chunkText("  as it is \n", 20)).toEqual(["  as it is \n"]);
    expect(chunkText("long ".repeat(100), 0)).toHaveLength(1);
    expect(chunkText("", 10)).toEqual([]);
  });

  test("a line break is preferred to a blank, a blank to a cut inside a word", () => {
    expect(chunkText("one two\nthree four five", 12)).toEqual(["one two", "three four", "five"]);
    expect(chunkText("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  });

  test("a cut avoids parentheses, so that a link stays intact", () => {
    expect(chunkText("see [the page](http://a b c) now", 30)).toEqual(["see [the page](http://a b c)", "now"]);
  });

  test("the indentation of the next line stays", () => {
    expect(chunkText("aaaaaaaa\n  bb", 9)).toEqual(["aaaaaaaa", "  bb"]);
  });
});

describe("lines", () => {
  test("one chunk per line, long ones cut", () => {
    expect(chunkByNewline(" one\n\n\ntwo three\n", 5)).toEqual(["one", "two", "three"]);
    expect(chunkByNewline(" one\ntwo three", 5, { splitLongLines: false, trimLines: false })).toEqual([" one", "two three"]);
  });

  test("a break that is not safe keeps lines together", () => {
    expect(chunkByNewline("a\nb\nc", 10, { isSafeBreak: (index) => index === 3 })).toEqual(["a\nb", "c"]);
  });
});

describe("Markdown", () => {
  test("chunks are within the limit, code blocks balanced, and together are the text except for white space and fence lines", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 24, max: 200 }), (text, limit) => {
        const chunks = chunkMarkdownText(text, limit);
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(limit);
          expect(halves(chunk)).toBe(false);
          expect(balanced(chunk)).toBe(true);
        }
        expect(withoutFences(chunks.join("\n"))).toBe(withoutFences(text));
      }),
      { numRuns: 300 },
    );
  });

  test("limits too small for fences cut plain text, and lose nothing", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 2, max: 15 }), (text, limit) => {
        const chunks = chunkMarkdownText(text, limit);
        for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(limit);
        expect(dense(chunks.join(""))).toBe(dense(text));
      }),
    );
  });

  test("a code block that is cut is closed and reopened with its language", () => {
    expect(chunkMarkdownText("```js\nline one\nline two\nline three\n```", 28)).toEqual(["```js\nline one\nline two\n```", "```js\nline three\n```"]);
  });

  test("a code block that fits is kept together, the text before it goes ahead", () => {
    expect(chunkMarkdownText("some longer words\n```\ncode\n```", 20)).toEqual(["some longer words", "```\ncode\n```"]);
  });

  test("an opening line too long to repeat is repeated without its info string", () => {
    const chunks = chunkMarkdownText(`\`\`\`${"x".repeat(12)}\naaaaaaaa\nbbbbbbbb\ncccccccc\n\`\`\``, 30);
    expect(chunks[0]).toMatch(/^```x{12}\n/);
    expect(chunks.slice(1).every((chunk) => chunk.startsWith("```\n"))).toBe(true);
  });
});

describe("by mode", () => {
  const text = "one\nwrapped\n\ntwo\n\n```\na\n\nb\n```\n\nthree";

  test("newline joins paragraphs up to the limit and never cuts code at a blank line", () => {
    expect(chunkByParagraph(text, 15)).toEqual(["one\nwrapped", "two", "```\na\n\nb\n```", "three"]);
    expect(chunkMarkdownTextWithMode(text, 1000, "newline")).toEqual([text]);
  });

  test("a paragraph over the limit is cut", () => {
    expect(chunkTextWithMode("aaaa bbbb\n\nc", 5, "newline")).toEqual(["aaaa", "bbbb", "c"]);
  });

  test("length is the default way", () => {
    expect(chunkTextWithMode("a\n\nb", 2, "length")).toEqual(chunkText("a\n\nb", 2));
    expect(chunkMarkdownTextWithMode(text, 12, "length")).toEqual(chunkMarkdownText(text, 12));
  });

  test("no chunk of either mode is over the limit", () => {
    fc.assert(
      fc.property(document, fc.integer({ min: 24, max: 200 }), (any, limit) => {
        for (const chunk of chunkMarkdownTextWithMode(any, limit, "newline")) expect(chunk.length <= limit && balanced(chunk)).toBe(true);
      }),
    );
  });
});
