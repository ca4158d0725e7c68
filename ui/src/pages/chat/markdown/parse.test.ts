import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import corpus from "../../../../../test/fixtures/xss.txt?raw";
import { addressOf, pictureOf } from "./address.ts";
import { parseMarkdown, plainText, type Node } from "./parse.ts";

const everything = (nodes: readonly Node[]): Node[] => nodes.flatMap((node) => [node, ...("children" in node ? everything(node.children) : [])]);

/** Links and pictures that would be shown. */
function reached(text: string): { readonly links: string[]; readonly pictures: string[] } {
  const all = everything(parseMarkdown(text));
  return {
    links: all.flatMap((node) => (node.kind === "link" ? [node.address.href] : [])),
    pictures: all.flatMap((node) => (node.kind === "picture" ? [node.source] : [])),
  };
}

const hostile = corpus.split(/^%%$/m).map((text) => text.replace(/^\n|\n$/g, ""));

describe("hostile text", () => {
  it("is a corpus", () => {
    expect(hostile.length).toBeGreaterThan(70);
  });

  it.each(hostile)("reaches nothing but the web and mail: %s", (text) => {
    for (const prefix of ["", "> ", "- ", "| a |\n| - |\n| ", "# ", "text\n\n"]) {
      const { links, pictures } = reached(prefix + text);
      for (const link of links) expect(["http:", "https:", "mailto:"]).toContain(new URL(link).protocol);
      expect(pictures).toEqual([]);
    }
  });

  it("is shown as it was written where it looks like HTML", () => {
    expect(plainText(parseMarkdown("<script>alert(1)</script>"))).toBe("<script>alert(1)</script>");
    expect(plainText(parseMarkdown("a <b onclick=x>b</b>"))).toBe("a <b onclick=x>b</b>");
  });

  it("never becomes an address of another kind, whatever it is", () => {
    const scheme = fc.constantFrom("javascript:", "JAVASCRIPT:", "data:", "vbscript:", "file:", "blob:", "\u0001javascript:", "java\nscript:", "ws:", "about:");
    fc.assert(
      fc.property(scheme, fc.string(), fc.string(), (head, middle, tail) => {
        const { links, pictures } = reached(`[x](${head}${middle}) ![y](<${head}${tail}>) <${head}${middle}>`);
        expect(pictures.filter((source) => !source.startsWith("data:image/"))).toEqual([]);
        expect(links.filter((link) => !/^(?:https?|mailto):/.test(link))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("addresses", () => {
  it("name their real host when the words name another one", () => {
    expect(addressOf("https://evil.example/login", "https://www.paypal.com")).toEqual({ href: "https://evil.example/login", host: "evil.example" });
    expect(addressOf("https://paypal.com@evil.example/", "paypal")).toMatchObject({ host: "evil.example" });
    expect(addressOf("https://xn--80ak6aa92e.com/", "apple")).toMatchObject({ host: "xn--80ak6aa92e.com" });
    expect(addressOf("https://www.example.com/a", "example.com/a")).toEqual({ href: "https://www.example.com/a" });
    expect(addressOf("https://example.com/", "read more")).toEqual({ href: "https://example.com/" });
  });

  it("are those of the web and of mail", () => {
    expect(addressOf("mailto:a@example.com", "write")).toEqual({ href: "mailto:a@example.com" });
    for (const href of ["javascript:x", "data:text/html,x", "/relative", "#place", "tel:1", ""]) expect(addressOf(href, "x"), href).toBeUndefined();
  });

  it("show pictures that are in the text or come from here, and nothing else", () => {
    const base = "https://gateway.example/ui/";
    expect(pictureOf("data:image/png;base64,AAAA", base)).toBe("data:image/png;base64,AAAA");
    expect(pictureOf("pictures/a.png", base)).toBe("https://gateway.example/ui/pictures/a.png");
    for (const source of [
      "https://elsewhere.example/a.png",
      "//elsewhere.example/a.png",
      "data:image/svg+xml;base64,AAAA",
      "javascript:x",
      "blob:https://gateway.example/1",
    ]) {
      expect(pictureOf(source, base), source).toBeUndefined();
    }
  });
});

describe("Markdown", () => {
  const kinds = (text: string): string[] => everything(parseMarkdown(text)).map(({ kind }) => kind);

  it("has headings, emphasis, code, quotes, rules and lists", () => {
    expect(parseMarkdown("## A *b* `c`")).toEqual([
      {
        kind: "heading",
        level: 2,
        children: [
          { kind: "text", text: "A " },
          { kind: "em", children: [{ kind: "text", text: "b" }] },
          { kind: "text", text: " " },
          { kind: "code", text: "c" },
        ],
      },
    ]);
    expect(kinds("> quoted\n\n---\n\n3. three")).toEqual(["quote", "paragraph", "text", "rule", "list", "item", "tight", "text"]);
    expect(parseMarkdown("3. three")[0]).toMatchObject({ kind: "list", ordered: true, start: 3 });
  });

  it("has tasks", () => {
    expect(parseMarkdown("- [ ] open\n- [x] done\n- plain")[0]).toMatchObject({
      children: [
        { kind: "item", done: false, children: [{ children: [{ text: "open" }] }] },
        { kind: "item", done: true },
        { kind: "item", children: [{ children: [{ text: "plain" }] }] },
      ],
    });
  });

  it("has tables with aligned cells", () => {
    const cells = everything(parseMarkdown("| a | b |\n| :- | -: |\n| 1 | 2 |")).filter((node) => node.kind === "cell");
    expect(cells.map(({ head, align }) => [head, align])).toEqual([
      [true, "left"],
      [true, "right"],
      [false, "left"],
      [false, "right"],
    ]);
  });

  it("draws a fence that is not closed yet as code", () => {
    expect(parseMarkdown("```ts title\nconst a = 1;\n// <b>")).toEqual([{ kind: "fence", text: "const a = 1;\n// <b>", language: "ts" }]);
  });

  it("makes links of bare addresses with a scheme, not of file names", () => {
    expect(reached("see https://example.com/a and README.md, example.com").links).toEqual(["https://example.com/a"]);
  });
});
