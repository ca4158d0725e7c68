/** Properties that hold for every text, also for one made to break something. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RichStyle, RichText } from "../../protocol/index.ts";
import { loadRichText, SLACK_MARKERS, splitRich, toMarkdown, toMarkers, toPlain, toStyleRanges, toTelegramHtml } from "../index.ts";

const { parseMarkdown } = await loadRichText();

const ATTACKS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "<a href='javascript:alert(1)'>x</a>",
  "[x](javascript:alert(1))",
  '[x](http://a.b/"><b>)',
  "[x](http://a.b/'onclick='alert(1))",
  "[x](<http://a.b/<script>>)",
  '![x"><b>](http://a.b)',
  '```"><b>\nx\n```',
  "```</code></pre><b>\nx\n```",
  "`</code><b>`",
  "&lt;b&gt;&#60;i&#62;&quot;",
  "&#x3c;script&#x3e;",
  "<b><i></b></i>",
  "</b></code></pre>",
  "<tg-spoiler>",
  "<!channel> <!here> <@U123>",
  "<https://a.b|label>",
  "\u{202E}gnp.exe\u{202C}",
  "\u{2066}a\u{2069}",
  "\u{200B}\u{200D}\u{FEFF}\u{2060}",
  "e\u{301}\u{302}\u{303}",
  "👩‍👩‍👧‍👦🇩🇪🇫🇷",
  "\uD800",
  "\0\u{1F}\u{7F}",
  "||a **b|| c**",
  "**a *b** c*",
  "[a **b](http://a.b) c**",
  "[[a](http://a.b)](http://c.d)",
  "> > > q\n",
  "- - - i\n",
  "\n```ts\n**x**\n\n\n  y\n```\n",
  "| a | b |\n|---|---|\n| `c|d` | <b> |\n",
  "# h **b**\n",
  "a || b || c",
  "README.md http://x.y/a_b*c*",
  "(((",
  "\\",
  "`",
  "``` ",
  "*",
  "_",
  "~~",
  "||",
  "[",
  "](",
  " ",
  "\n",
  "\n\n",
  "\r\n",
  "\t",
] as const;

const hostile = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...ATTACKS) },
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.string({ unit: "grapheme", maxLength: 12 }),
    ),
    {
      maxLength: 14,
    },
  )
  .map((parts) => parts.join(""));
const options = fc.record({
  tables: fc.constantFrom("code" as const, "bullets" as const, "off" as const),
  headings: fc.constantFrom("plain" as const, "bold" as const),
});

const STYLES: readonly RichStyle["style"][] = ["bold", "italic", "strikethrough", "spoiler", "code", "code_block", "blockquote", "heading"];

/** Ranges that no parser produced, also ones that overlap and exceed the text. */
const ranged: fc.Arbitrary<RichText> = hostile.chain((text) => {
  const range = { start: fc.integer({ min: -1, max: text.length + 1 }), end: fc.integer({ min: -1, max: text.length + 1 }) };
  return fc.record({
    text: fc.constant(text),
    styles: fc.array(fc.record({ ...range, style: fc.constantFrom(...STYLES), language: fc.option(fc.constantFrom(...ATTACKS), { nil: undefined }) }), {
      maxLength: 8,
    }),
    links: fc.array(fc.record({ ...range, href: fc.oneof(fc.webUrl(), fc.constantFrom(...ATTACKS), fc.constant('http://x"><b>')) }), { maxLength: 4 }),
  });
});

const TAG = /<(\/?)([a-z-]+)((?: [a-z]+="[^"<>]*")?)>/y;

/** Reads HTML as strictly as Telegram does and returns the visible text. Throws where it would be refused, or is ambiguous. */
function telegramText(html: string): string {
  const open: string[] = [];
  let text = "";
  for (let at = 0; at < html.length;) {
    if (html[at] === ">") throw new Error(`bare > at ${at}: ${html}`);
    if (html[at] === "&") {
      const entity = /^&(amp|lt|gt|quot);/.exec(html.slice(at, at + 6));
      if (!entity) throw new Error(`bare & at ${at}: ${html}`);
      text += { amp: "&", lt: "<", gt: ">", quot: '"' }[entity[1]!]!;
      at += entity[0].length;
    } else if (html[at] === "<") {
      TAG.lastIndex = at;
      const tag = TAG.exec(html);
      if (!tag) throw new Error(`bare < at ${at}: ${html}`);
      const [whole, closes, name = "", attribute = ""] = tag;
      if (closes && open.pop() !== name) throw new Error(`</${name}> closes something else: ${html}`);
      if (!closes) {
        const parent = open.at(-1);
        if (parent === "code" || (parent === "pre" && name !== "code")) throw new Error(`<${name}> in code: ${html}`);
        if (name === "blockquote" && open.includes(name)) throw new Error(`quotation in a quotation: ${html}`);
        const allowed = name === "a" ? / href="(?:https?|mailto|tel|tg):/ : name === "code" && parent === "pre" ? / class="language-/ : /^$/;
        if (!["b", "i", "s", "code", "pre", "tg-spoiler", "blockquote", "a"].includes(name) || !allowed.test(attribute)) throw new Error(`${whole} in ${html}`);
        open.push(name);
      }
      at += whole.length;
    } else text += html[at++];
  }
  if (open.length > 0) throw new Error(`${open.join()} not closed: ${html}`);
  return text;
}

const nests = ({ styles, links }: RichText): boolean => {
  const ranges = [...styles, ...links];
  return ranges.every((a) =>
    ranges.every((b) => a.end <= b.start || b.end <= a.start || (a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end)),
  );
};

describe("for any Markdown", () => {
  test("ranges are inside the text, properly nested, and not empty", () => {
    fc.assert(
      fc.property(hostile, options, (markdown, chosen) => {
        const rich = parseMarkdown(markdown, chosen);
        expect(rich.text.isWellFormed()).toBe(true);
        expect([...rich.styles, ...rich.links].every(({ start, end }) => start >= 0 && start < end && end <= rich.text.length)).toBe(true);
        expect(nests(rich)).toBe(true);
        expect(rich.text).toBe(rich.text.trimEnd());
      }),
      { numRuns: 400 },
    );
  });

  test("no word is lost", () => {
    const words = fc.array(fc.tuple(fc.constantFrom(...ATTACKS), fc.stringMatching(/^w[0-9]{3}w$/)), { maxLength: 12 });
    fc.assert(
      fc.property(words, options, (parts, chosen) => {
        // An address or a fence's info string may take a word along.
        const markdown = parts.map(([attack, word]) => `${attack.replaceAll(/[`[\]|]/g, "")} ${word} `).join("");
        const { text } = parseMarkdown(markdown, chosen);
        for (const [, word] of parts) expect(text).toContain(word);
      }),
      { numRuns: 300 },
    );
  });

  test("Telegram shows exactly the text, and no text creates a tag", () => {
    fc.assert(
      fc.property(hostile, options, (markdown, chosen) => {
        const rich = parseMarkdown(markdown, chosen);
        expect(telegramText(toTelegramHtml(rich))).toBe(rich.text);
      }),
      { numRuns: 600 },
    );
  });
});

describe("for any ranges", () => {
  test("Telegram shows exactly the text", () => {
    fc.assert(
      fc.property(ranged, (rich) => {
        expect(telegramText(toTelegramHtml(rich))).toBe(rich.text);
      }),
      { numRuns: 600 },
    );
  });

  test("text creates nothing in Slack's angle brackets but mentions", () => {
    fc.assert(
      fc.property(ranged, (rich) => {
        const text = toMarkers(rich, SLACK_MARKERS);
        expect(text).not.toMatch(/<!(?:channel|here|everyone)/);
        expect(text.replaceAll(/<(?:https?|mailto|tel|slack):[^<>|]*\|/g, "").replaceAll("<@U123>", "")).not.toContain("<");
      }),
      { numRuns: 400 },
    );
  });

  test("every renderer terminates and preserves the words", () => {
    fc.assert(
      fc.property(ranged, (rich) => {
        const letters = (text: string): string => text.replaceAll(/[^a-z]/gi, "");
        expect(toPlain(rich, { links: "drop" })).toBe(rich.text);
        for (const rendered of [toPlain(rich), toMarkdown(rich), toStyleRanges(rich).text])
          expect(letters(rendered).length).toBeGreaterThanOrEqual(letters(rich.text).length);
        for (const range of toStyleRanges(rich).ranges) expect(range).toMatch(/^\d+:[1-9]\d*:(?:BOLD|ITALIC|STRIKETHROUGH|MONOSPACE|SPOILER)$/);
      }),
      { numRuns: 300 },
    );
  });
});

describe("chunks", () => {
  const measures = { units: undefined, bytes: Buffer.byteLength };
  const how = fc.record({
    limit: fc.integer({ min: 4, max: 60 }),
    mode: fc.constantFrom("length" as const, "newline" as const),
    size: fc.constantFrom("units" as const, "bytes" as const),
    maxLines: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  });

  test("fit, are not empty, and together are the text with its styles except for blanks at the cuts", () => {
    fc.assert(
      fc.property(hostile, options, how, (markdown, chosen, { limit, mode, size, maxLines }) => {
        const rich = parseMarkdown(markdown, chosen);
        const measure = measures[size];
        /** Styles and links at an offset. */
        const at = (part: RichText, offset: number): string =>
          [
            ...part.styles.map((range) => ({ ...range, name: range.style + (range.language ?? "") })),
            ...part.links.map((range) => ({ ...range, name: range.href })),
          ]
            .filter(({ start, end }) => start <= offset && offset < end)
            .map(({ name }) => name)
            .join();
        let from = 0;
        for (const piece of splitRich(rich, limit, { mode, maxLines, measure })) {
          expect(piece.text.trim()).not.toBe("");
          expect(piece.text.isWellFormed()).toBe(true);
          expect(measure ? measure(piece.text) : piece.text.length).toBeLessThanOrEqual(limit);
          if (maxLines) expect(piece.text.split("\n").length).toBeLessThanOrEqual(maxLines);
          expect(nests(piece)).toBe(true);
          const start = rich.text.indexOf(piece.text, from);
          expect(start >= 0 && rich.text.slice(from, start).trim()).toBe("");
          for (let offset = 0; offset < piece.text.length; offset += 1) {
            if (/\S/.test(piece.text[offset]!)) expect(at(piece, offset)).toBe(at(rich, start + offset));
          }
          expect(telegramText(toTelegramHtml(piece))).toBe(piece.text);
          from = start + piece.text.length;
        }
        expect(rich.text.slice(from).trim()).toBe("");
      }),
      { numRuns: 500 },
    );
  });

  test("never split a grapheme that fits", () => {
    const graphemes = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }), { maxLength: 40 }).map((parts) => parts.join("").toWellFormed());
    fc.assert(
      fc.property(graphemes, (text) => {
        const boundaries = new Set([...new Intl.Segmenter().segment(text)].map(({ index }) => index));
        let from = 0;
        for (const piece of splitRich({ text, styles: [], links: [] }, 30)) {
          const start = text.indexOf(piece.text, from);
          expect(boundaries.has(start)).toBe(true);
          from = start + piece.text.length;
        }
      }),
      { numRuns: 300 },
    );
  });
});
