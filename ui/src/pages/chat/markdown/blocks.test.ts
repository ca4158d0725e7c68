import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksOf } from "./blocks.ts";
import { parseMarkdown } from "./parse.ts";

const LINES = [
  "text",
  "more *text*",
  "",
  "",
  "- item",
  "  inside",
  "1. one",
  "```ts",
  "```",
  "~~~",
  "    indented",
  "# head",
  "> quote",
  "| a | b |",
  "| - | - |",
  "---",
  "const a = `x`;",
  "\tTab",
  "  ```",
  "- ```js",
  "> - in",
  "   3) three",
];

describe("blocks of an answer", () => {
  it("are paragraphs, whole lists, whole code and whole tables", () => {
    const blocks = blocksOf("a\nb\n\n- one\n\n- two\n\n  inside\n\nc\n\n```js\nx\n\ny\n```\n\nend");
    expect(blocks.map((block) => block.trim())).toEqual(["a\nb", "- one\n\n- two\n\n  inside", "c", "```js\nx\n\ny\n```", "end"]);
  });

  it("hold a fence open until it is closed by its own mark", () => {
    expect(blocksOf("````md\n```\n\ntext\n```\n\nmore")).toEqual(["````md\n```\n\ntext\n```\n\nmore"]);
    expect(blocksOf("~~~\n```\n\na\n~~~\n\nb")).toEqual(["~~~\n```\n\na\n~~~\n", "b"]);
  });

  it("stay one where references reach over all of them", () => {
    expect(blocksOf("[a][x]\n\n[x]: https://example.com")).toHaveLength(1);
  });

  it("mean the same together as the whole text does", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 14 }), (lines) => {
        const text = lines.join("\n");
        expect(blocksOf(text).flatMap((block) => [...parseMarkdown(block)])).toEqual(parseMarkdown(text));
      }),
      { numRuns: 2000 },
    );
  });

  it("change only at the end while the text grows", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 14 }), fc.nat(), (lines, cut) => {
        const text = lines.join("\n");
        const early = blocksOf(text.slice(0, cut % (text.length + 1)));
        // A line that is not whole yet may join the block before it.
        const kept = early.slice(0, -2);
        expect(blocksOf(text).slice(0, kept.length)).toEqual(kept);
      }),
      { numRuns: 2000 },
    );
  });
});
