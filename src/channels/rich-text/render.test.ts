import { describe, expect, test } from "vitest";
import type { RichText } from "../../protocol/index.ts";
import { GOOGLE_CHAT_MARKERS, loadRichText, SLACK_MARKERS, toMarkdown, toMarkers, toPlain, toStyleRanges, toTelegramHtml, WHATSAPP_MARKERS } from "../index.ts";

const { parseMarkdown } = await loadRichText();

describe("Telegram", () => {
  test.each([
    ["**b** *i* ~~s~~ `c` ||p||", "<b>b</b> <i>i</i> <s>s</s> <code>c</code> <tg-spoiler>p</tg-spoiler>"],
    ["**a *b* c**", "<b>a <i>b</i> c</b>"],
    ["**a `b` c**", "<b>a </b><code>b</code><b> c</b>"],
    ["[`a`](http://x.y)", '<a href="http://x.y">a</a>'],
    ['[**a**](http://x.y?a=1&b="2")', '<a href="http://x.y?a=1&amp;b=%222%22"><b>a</b></a>'],
    ['a < b & c > d "e"', 'a &lt; b &amp; c &gt; d "e"'],
    ["```ts\na < b\n```", '<pre><code class="language-ts">a &lt; b</code></pre>'],
    ["```\na\n```", "<pre>a</pre>"],
    ["> a\n> > **b**", "<blockquote>a\n<b>b</b></blockquote>"],
    ["# Head **b**\ntext", "Head <b>b</b>\n\ntext"],
    [
      "[a](tg://user?id=1) [b](mailto:x@y.z) [c](tel:+1) [d](ftp://x.y) [e](./f)",
      '<a href="tg://user?id=1">a</a> <a href="mailto:x@y.z">b</a> <a href="tel:+1">c</a> d e',
    ],
    ["see README.md, src/run.py. and **x.sh**", "see <code>README.md</code>, <code>src/run.py</code>. and <code>x.sh</code>"],
    [
      "`README.md` [README.md](http://x.y) http://x.y/README.md",
      '<code>README.md</code> <a href="http://x.y">README.md</a> <a href="http://x.y/README.md">http://x.y/README.md</a>',
    ],
    ["example.com and v1.2.so-on", "example.com and v1.2.so-on"],
  ])("%j", (markdown, html) => {
    expect(toTelegramHtml(parseMarkdown(markdown))).toBe(html);
  });

  test("overlapping ranges are closed and reopened", () => {
    const rich: RichText = {
      text: "abcdef",
      styles: [
        { start: 0, end: 4, style: "bold" },
        { start: 2, end: 6, style: "italic" },
      ],
      links: [],
    };
    expect(toTelegramHtml(rich)).toBe("<b>ab<i>cd</i></b><i>ef</i>");
  });

  test("ranges outside of the text are dropped", () => {
    const rich: RichText = {
      text: "ab",
      styles: [
        { start: 1, end: 9, style: "bold" },
        { start: -1, end: 1, style: "italic" },
        { start: 1, end: 1, style: "code" },
      ],
      links: [],
    };
    expect(toTelegramHtml(rich)).toBe("ab");
  });
});

describe("plain text", () => {
  test.each([
    ["[docs](https://x.y/a) now", "docs (https://x.y/a) now", "docs now"],
    ["https://x.y/a and <me@x.y>", "https://x.y/a and me@x.y", "https://x.y/a and me@x.y"],
    ["[https://x.y](https://x.y/)", "https://x.y", "https://x.y"],
    ["[https://good.com](https://bad.com)", "https://good.com (https://bad.com)", "https://good.com"],
    ["**a** `b` ||c||\n- d", "a b c\n• d", "a b c\n• d"],
  ])("%j", (markdown, appended, dropped) => {
    const rich = parseMarkdown(markdown);
    expect([toPlain(rich), toPlain(rich, { links: "drop" })]).toEqual([appended, dropped]);
  });
});

describe("Signal", () => {
  test("styles are ranges in UTF-16 units, shifted by the URLs in the text", () => {
    expect(toStyleRanges(parseMarkdown("😀 **a [b](http://x.y) c** `d` ~~e~~ ||f|| *g*"))).toEqual({
      text: "😀 a b (http://x.y) c d e f g",
      ranges: ["3:18:BOLD", "22:1:MONOSPACE", "24:1:STRIKETHROUGH", "26:1:SPOILER", "28:1:ITALIC"],
    });
  });

  test("headings are bold, and the same style twice is one range", () => {
    expect(toStyleRanges(parseMarkdown("# a **b** c"))).toEqual({ text: "a b c", ranges: ["0:5:BOLD"] });
  });
});

describe("markers around words", () => {
  const markdown = "# Head\n**b** *i* ~~s~~ `c` [d](https://x.y?a=1&b=2)\n\n> q\n> r\n\n```js\n1 < 2\n```";
  test("WhatsApp", () => {
    expect(toMarkers(parseMarkdown(markdown), WHATSAPP_MARKERS)).toBe("*Head*\n\n*b* _i_ ~s~ `c` d (https://x.y?a=1&b=2)\n\n> q\n> r\n\n```\n1 < 2\n```");
  });

  test("Slack", () => {
    expect(toMarkers(parseMarkdown(markdown), SLACK_MARKERS)).toBe("*Head*\n\n*b* _i_ ~s~ `c` <https://x.y?a=1&amp;b=2|d>\n\n>q\n>r\n\n```\n1 &lt; 2\n```");
  });

  test("Google Chat", () => {
    expect(toMarkers(parseMarkdown("[a](http://x.y) <users/all> <b>"), GOOGLE_CHAT_MARKERS)).toBe("<http://x.y|a> <\u{200B}users/all> <b>");
  });

  test.each([
    ["**a\nb**", "*a*\n*b*"],
    ["# a **b**", "*a b*"],
    ["``a`b``", "a`b"],
    ["````\n```\n````", "```\n``\u{200B}`\n```"],
    ["[a](ftp://x.y)", "a (ftp://x.y)"],
    ["https://x.y/?a&b", "https://x.y/?a&amp;b"],
    ["<@U123> <#C1A|general> <!date^1^{date}|x>", "<@U123> <#C1A|general> <!date^1^{date}|x>"],
    ["<!channel> <!here|x> <!everyone> <@U1", "&lt;!channel&gt; &lt;!here|x&gt; &lt;!everyone&gt; &lt;@U1"],
    ["`<@U123>`", "`&lt;@U123&gt;`"],
    ["[<!here>](http://x.y/a|b)", "<http://x.y/a%7Cb|&lt;!here&gt;>"],
  ])("Slack: %j", (markdown, text) => {
    expect(toMarkers(parseMarkdown(markdown), SLACK_MARKERS)).toBe(text);
  });
});

describe("Markdown", () => {
  test.each([
    "# Head\n\n**b** _i_ ~~s~~ `c` ||p|| [d](https://x.y)",
    "- a\n- b\n  - c\n\n1. d\n2. e",
    "> a\n> b\n>\n> c",
    "```js\nx\n\ny\n```",
    "````\n```\n````",
    "`` a`b ``",
    "a*b*c **d _e_ f**",
    "https://x.y/a_b_c",
    "<@123> <#45> <:name:6>",
  ])("%j stays", (markdown) => {
    expect(toMarkdown(parseMarkdown(markdown))).toBe(markdown);
  });

  test.each(["*a* _b_ `c` [d](e) <f> ||g|| ~~h~~", "# a", "- a", "+ a", "> a", "a\n---", "a\n===", "&amp; \\", "<@&1> @everyone"])(
    "%j as text stays text",
    (text) => {
      expect(parseMarkdown(toMarkdown({ text, styles: [], links: [] }))).toEqual({ text, styles: [], links: [] });
    },
  );
});
