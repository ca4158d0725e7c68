import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadRichText, type MarkdownOptions } from "../index.ts";

const { parseMarkdown } = await loadRichText();

/** Styles and links as `style:text`. */
function shown(markdown: string, options?: MarkdownOptions): string[] {
  const { text, styles, links } = parseMarkdown(markdown, options);
  const words = (range: { start: number; end: number }): string => text.slice(range.start, range.end);
  return [
    ...styles.map((style) => `${style.style}${style.language ? `(${style.language})` : ""}${style.level ?? ""}:${words(style)}`),
    ...links.map((link) => `${link.href}:${words(link)}`),
  ];
}

const textOf = (markdown: string, options?: MarkdownOptions): string => parseMarkdown(markdown, options).text;

test("the documented example", () => {
  const text = "Hello world — see docs.";
  expect(parseMarkdown("Hello **world** — see [docs](https://docs.openclaw.ai).")).toEqual({
    text,
    styles: [{ start: 6, end: 11, style: "bold" }],
    links: [{ start: text.indexOf("docs"), end: text.indexOf("docs") + 4, href: "https://docs.openclaw.ai" }],
  });
});

test("a line without markup is read as it is beside markup", () => {
  const line = fc.string({ unit: fc.constantFrom(...Array.from("aZé夏0179 .,;!?'\"()+-=/%$^{}@—")), maxLength: 40 }).map((rest) => `a${rest}`);
  fc.assert(
    fc.property(line, (plain) => {
      const { text, styles, links } = parseMarkdown(plain);
      expect([text, styles, links]).toEqual([plain.trimEnd(), [], []]);
      expect(textOf(`${plain}\n\n**b**`)).toBe(`${text}\n\nb`);
    }),
    { seed: 1, numRuns: 500 },
  );
});

describe("inline", () => {
  test.each([
    ["*a* _b_", "a b", ["italic:a", "italic:b"]],
    ["**a** __b__", "a b", ["bold:a", "bold:b"]],
    ["***a***", "a", ["italic:a", "bold:a"]],
    ["**a *b* c**", "a b c", ["bold:a b c", "italic:b"]],
    ["~~gone~~", "gone", ["strikethrough:gone"]],
    ["`a **b**`", "a **b**", ["code:a **b**"]],
    ["||hidden **very**||", "hidden very", ["spoiler:hidden very", "bold:very"]],
    ["||http://a.b/c||", "http://a.b/c", ["spoiler:http://a.b/c", "http://a.b/c:http://a.b/c"]],
    ["a || b || c", "a || b || c", []],
    ["if (a||b||c)", "if (a||b||c)", []],
    ["\\||no||", "||no||", []],
    ["**a||b** c **d||e**", "a||b c d||e", ["bold:a||b", "bold:d||e"]],
    ["[a](http://x.y 'title')", "a", ["http://x.y:a"]],
    ["[](http://x.y)", "http://x.y", ["http://x.y:http://x.y"]],
    ["<http://x.y>", "http://x.y", ["http://x.y:http://x.y"]],
    ["<me@x.org>", "me@x.org", ["mailto:me@x.org:me@x.org"]],
    ["![alt *text*](http://x.y/p.png)", "alt text", ["http://x.y/p.png:alt text"]],
    ["![](http://x.y/p.png)", "http://x.y/p.png", ["http://x.y/p.png:http://x.y/p.png"]],
    ["[![alt](http://x.y/p.png)](http://z.z)", "alt", ["http://z.z:alt"]],
    ["[a]\n\n[a]: http://x.y", "a", ["http://x.y:a"]],
    ["see https://x.y/a_b_c?d=1&e=2.", "see https://x.y/a_b_c?d=1&e=2.", ["https://x.y/a_b_c?d=1&e=2:https://x.y/a_b_c?d=1&e=2"]],
    ["<b>x</b> &lt;i&gt; &amp;", "<b>x</b> <i> &", []],
    ["<script>alert(1)</script>", "<script>alert(1)</script>", []],
    ["one\ntwo  \nthree\\\nfour", "one\ntwo\nthree\nfour", []],
  ])("%j", (markdown, text, ranges) => {
    expect([textOf(markdown), shown(markdown)]).toEqual([text, ranges]);
  });

  test.each(["README.md", "script.py and run.sh", "example.com", "me@example.com", "//x.y/z", "git@github.com:a/b.git"])("%s is no link", (text) => {
    expect(parseMarkdown(text)).toEqual({ text, styles: [], links: [] });
  });

  test.each(["javascript:alert(1)", "vbscript:x", "data:text/html,x", "file:///etc/passwd", "JaVaScRiPt:alert(1)"])("%s is not linked to", (href) => {
    expect(parseMarkdown(`[a](${href}) <${href}>`).links).toEqual([]);
  });

  test("URLs in text are left alone if requested", () => {
    expect(shown("http://a.b [c](http://d.e)", { autolink: false })).toEqual(["http://d.e:c"]);
  });
});

describe("blocks", () => {
  test.each([
    ["a\n\nb\n\n\n\nc", "a\n\nb\n\nc"],
    ["- a\n- b\n  - c\n    - d\n- e", "• a\n• b\n  • c\n    • d\n• e"],
    ["3. a\n4. b\n   - c", "3. a\n4. b\n  • c"],
    ["- a\n\n- b", "• a\n\n• b"],
    ["- a\n  more\n\n  again", "• a\n  more\n\n  again"],
    ["- [ ] open\n- [x] done", "• [ ] open\n• [x] done"],
    ["Items:\n- a\n- b\n\nend", "Items:\n• a\n• b\n\nend"],
    ["# T\ntext\n## U\nmore", "T\n\ntext\n\nU\n\nmore"],
    ["a\n\n---\n\nb", "a\n\n───\n\nb"],
    ["> a\n> b\n>\n> c", "a\nb\n\nc"],
    ["\n\n  a  \n\n\n", "a"],
    ["```\n```\n\na", "a"],
    ["- ```\n  x\n  ```", "•\nx"],
    ["", ""],
    ["   \n \n", ""],
  ])("%j", (markdown, text) => {
    expect(textOf(markdown)).toBe(text);
  });

  test("code preserves its language, blank lines and indentation", () => {
    expect(shown("a\n```ts title=x\nif (a) {\n\n  b();\n}\n\n```\nb")).toEqual(["code_block(ts):if (a) {\n\n  b();\n}"]);
    expect(shown("    indented\n      more")).toEqual(["code_block:indented\n  more"]);
    expect(shown('```a"><b>\nx\n```')).toEqual(["code_block:x"]);
    expect(shown("```sh\nnever closed")).toEqual(["code_block(sh):never closed"]);
  });

  test("quotations are a style, also nested and around lists", () => {
    expect(shown("> a\n> > b\n\nc")).toEqual(["blockquote:a\nb", "blockquote:b"]);
    expect(shown("> - a\n> - b")).toEqual(["blockquote:• a\n• b"]);
    expect(shown("- > a\n  > b")).toEqual(["blockquote:a\n  b"]);
  });

  test("quotations are marked line by line on platforms without them", () => {
    expect(parseMarkdown("> a\n> b\n>\n> > c\n\nd", { blockquotePrefix: "> " })).toEqual({ text: "> a\n> b\n>\n> > c\n\nd", styles: [], links: [] });
    expect(textOf("> ```\n> x\n> y\n> ```", { blockquotePrefix: "> " })).toBe("> x\n> y");
  });

  test("headings are a style of their own, or bold", () => {
    expect(shown("## T *i*\n\nSetext\n===")).toEqual(["heading2:T i", "italic:i", "heading1:Setext"]);
    expect(shown("## T", { headings: "bold" })).toEqual(["bold:T"]);
  });

  test("tables become code, lists or stay as written", () => {
    const table = "| Name | Age |\n|------|-----|\n| Ann | 3 |\n\nend";
    expect(shown(table)).toEqual(["code_block:| Name | Age |\n| ---- | --- |\n| Ann  | 3   |"]);
    expect([textOf(table, { tables: "bullets" }), shown(table, { tables: "bullets" })]).toEqual(["Ann\n• Age: 3\n\nend", ["bold:Ann"]]);
    expect(textOf(table, { tables: "off" })).toBe(table);
  });
});

describe("bounds", () => {
  test("very long text stays as written", () => {
    const long = "**a** ".repeat(20_000);
    expect(parseMarkdown(long)).toEqual({ text: long.trimEnd(), styles: [], links: [] });
    expect(parseMarkdown("x\r\n".repeat(1_400_000)).text).toHaveLength(2_799_999);
  });

  test("text of mostly markup characters stays as written", () => {
    expect(parseMarkdown("*_".repeat(20_000)).text).toBe("*_".repeat(20_000));
  });

  test.each([">".repeat(60), "- ".repeat(60), "> - ".repeat(40), "1. ".repeat(200)])("nothing is lost in what is nested too deep: %#", (markers) => {
    expect(textOf(`${markers}deep\n\nafter`)).toMatch(/deep\n\nafter$/);
  });

  test("endlessly nested styles lose no word", () => {
    const text = textOf(`${"*a ".repeat(300)}${"b* ".repeat(300)}${"[".repeat(300)}c${"](http://x.y)".repeat(300)}`);
    expect([text.match(/a/g), text.match(/b/g), text.match(/c/g)].map((found) => found?.length)).toEqual([300, 300, 1]);
  });

  test("an overlong URL is text", () => {
    const address = `http://x.y/${"a".repeat(5000)}`;
    expect(parseMarkdown(`${address} [b](${address})`)).toEqual({ text: `${address} b`, styles: [], links: [] });
  });

  test("lone surrogates and NUL are replaced", () => {
    expect(textOf("a\uD800b\0c\uDC00")).toBe("a\u{FFFD}b\u{FFFD}c\u{FFFD}");
    expect(parseMarkdown(`${"x".repeat(100_001)}\uD800`).text.isWellFormed()).toBe(true);
  });
});
