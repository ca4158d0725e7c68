import { describe, expect, test } from "vitest";
import { readPage } from "./read-page.ts";

const url = "https://example.com/docs/page";
const markdown = async (html: string): Promise<string> => (await readPage(html, { url, mode: "markdown" })).text;
const text = async (html: string): Promise<string> => (await readPage(html, { url, mode: "text" })).text;

describe("a page becomes Markdown", () => {
  test.each<[string, string, string]>([
    ["headings", "<h1>One</h1><h3>Three <em>deep</em></h3>", "# One\n\n### Three deep"],
    ["paragraphs", "<p>a\n  b<p>c</p>d", "a b\n\nc\n\nd"],
    ["line breaks", "a<br>b<br/>c", "a\nb\nc"],
    ["links, absolute", '<a href="../x?a=1&amp;b=2">here</a>', "[here](https://example.com/x?a=1&b=2)"],
    ["links of a page with a base", '<base href="https://other.org/d/"><a href=x>y</a>', "[y](https://other.org/d/x)"],
    ["links that lead nowhere as their text", '<a href="javascript:alert(1)">a</a> <a href="#x">b</a> <a>c</a> <a href="data:text/html,x">d</a>', "a b c d"],
    ["links with brackets", '<a href="/a(1)">[x]</a>', String.raw`[\[x\]](https://example.com/a%281%29)`],
    ["cards that are links", '<a href="/p"><div>Title</div><p>More</p></a>', "[Title More](https://example.com/p)"],
    ["lists", "<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></li></ul>", "- a\n- b\n  1. c\n  2. d"],
    ["quotes", "<blockquote><p>a</p><blockquote>b</blockquote></blockquote>", "> a\n\n> > b"],
    ["code in a line", "call <code>f(x)</code> or <kbd>Ctrl</kbd>", "call `f(x)` or `Ctrl`"],
    ["blocks of code", '<pre><code class="language-js">if (a &lt; b) {\n\n  c();\n}\n</code></pre>', "```js\nif (a < b) {\n\n  c();\n}\n```"],
    ["code with fences", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
    ["tables", "<table><tr><th>A<th>B<tr><td>1|2<td><a href=/x>y</a></table>", "| A | B |\n| --- | --- |\n| 1\\|2 | [y](https://example.com/x) |"],
    ["tables that only arrange", "<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a\n\nb\n\nc"],
    ["rows of such tables", "<table><tr><td>1.</td><td>Story</td></tr></table>", "1. Story"],
    ["tables in tables", "<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></td></tr></table>", "| a | b |\n| --- | --- |\n| c | d |"],
    ["pictures by their words", '<img alt="a cat" src=c.png><img src=d.png>', "a cat"],
    ["rules", "a<hr>b", "a\n\n---\n\nb"],
    ["characters", "&lt;b&gt; &amp;amp; &eacute; &#233; &#xE9; &#150; &nbsp;&unknown; &#0;", "<b> &amp; é é é – &unknown; \uFFFD"],
    ["text without any tags", "just  text", "just text"],
  ])("%s", async (_name, html, expected) => expect(await markdown(html)).toBe(expected));
});

test("as plain text it has no marks", async () => {
  const html =
    "<h1>T</h1><p><a href=/x>link</a> <code>c</code></p><ul><li>i</ul><table><tr><td>a<td>b<tr><td>c<td>d</table><pre>x</pre><blockquote>q</blockquote>";
  expect(await text(html)).toBe("T\n\nlink c\n\n- i\n\na\tb\nc\td\n\nx\n\nq");
});

describe("what people do not see is left out:", () => {
  test.each<[string, string]>([
    ["scripts", "<script>SECRET</script>"],
    ["scripts that pretend to end", "<script>'<\\/script>' SECRET <p>SECRET</p></script >"],
    ["styles", "<style>SECRET</style>"],
    ["comments", "<!-- SECRET --><!--><p>seen</p>-->"],
    ["the head", "<head><title>t</title><meta content=SECRET></head>"],
    ["noscript and templates", "<noscript>SECRET</noscript><template><p>SECRET</template>"],
    ["hidden elements", "<div hidden><p>SECRET</p><div>SECRET</div></div>"],
    ["hidden paragraphs", "<p hidden>SECRET<p>seen"],
    ["aria-hidden", '<span aria-hidden="TRUE">SECRET</span>'],
    ["display:none", '<div style="color:red; DISPLAY : none !important">SECRET</div>'],
    ["visibility:hidden", '<div style="visibility:hidden">SECRET</div>'],
    ["opacity 0", '<div style="opacity: 0">SECRET</div>'],
    ["no size", '<div style="font-size:0px">SECRET</div>'],
    ["off the screen", '<div style="position:absolute;left:-9999px">SECRET</div>'],
    ["for screen readers", '<span class="a sr-only b">SECRET</span>'],
    ["form controls", "<button>SECRET</button><select><option>SECRET</select><textarea>SECRET</textarea><input value=SECRET>"],
    ["frames and drawings", "<iframe>SECRET</iframe><svg><text>SECRET</text></svg><object>SECRET</object>"],
    ["closed dialogs", "<dialog>SECRET</dialog>"],
    ["inside a hidden cell", "<table><tr><td hidden>SECRET<td>seen</table>"],
  ])("%s", async (_name, html) => {
    const read = await markdown(`${html}<div>end of it</div>`);
    expect(read).not.toContain("SECRET");
    expect(read).toContain("end of it");
  });

  test("characters without a width and those that turn text around", async () => {
    expect(await markdown("<p>a\u200Bb\u202Ec\u{E0041}d\uFEFFe&#8203;f&shy;g</p>")).toBe("abcdefg");
    expect(await markdown("<p>👩\u200D💻 نمی\u200Cخواهم</p>")).toBe("👩\u200D💻 نمی\u200Cخواهم");
  });

  test("but not what looks alike", async () => {
    expect(await markdown('<div style="opacity:0.5;display:block;font-size:0.9em;left:-10px">seen</div><dialog open>too</dialog>')).toBe("seen\n\ntoo");
  });
});

describe("the frame of a page", () => {
  const long = "This is what the page is about. ".repeat(10).trim();

  test("is left out, and what the page marks as its own is taken", async () => {
    const html = `<header>Top</header><nav>Menu</nav><div>Aside text</div><main><header><h1>T</h1></header><p>${long}</p><aside>Ad</aside></main><footer>Foot</footer>`;
    expect(await markdown(html)).toBe(`# T\n\n${long}`);
    expect(await markdown(`<div>x</div><article>${long}</article>`)).toBe(long);
    expect(await markdown(`<div role=navigation>Menu</div><p>${long}</p>`)).toBe(long);
  });

  test("is all there is where nothing else stands", async () => {
    expect(await markdown("<nav>Menu</nav>")).toBe("Menu");
  });

  test("a part that says too little is not the page", async () => {
    expect(await markdown(`<main>Loading</main><div>${long}</div>`)).toBe(`Loading\n\n${long}`);
  });
});

test("the title comes from the head, or from what is meant for sharing", async () => {
  expect((await readPage("<title>\n A &amp; B </title><p>x", { url, mode: "text" })).title).toBe("A & B");
  expect((await readPage('<meta property="og:title" content="Shared"><p>x', { url, mode: "text" })).title).toBe("Shared");
  expect((await readPage("<p>x", { url, mode: "text" })).title).toBeUndefined();
});

describe("a broken page", () => {
  test.each([
    ["<p>a</div></span></p></p>b", "a\n\nb"],
    ["<b>a<i>b</b>c</i>", "abc"],
    ["a < b and c<d", "a < b and c"],
    ["a<p title='never closed>b", "a"],
    ["<table><td>a</table>b", "a\n\nb"],
    ["</table></td></tr>x", "x"],
    ["<td>a</td><tr>b", "a\n\nb"],
    ["<li>a<li>b", "- a\n- b"],
    ["<pre>a<pre>b</pre>c</pre>d", "```\nabc\n```\n\nd"],
    ["<ul><table><tr><td><li>a</table></ul>b", "  - a\n\nb"],
    ["<", "<"],
    ["<!doctype html", ""],
    ["", ""],
  ])("%j is read as %j", async (html, expected) => expect(await markdown(html)).toBe(expected));

  test("too deep or too large is stripped of its tags", async () => {
    expect(await markdown(`${"<div>".repeat(5000)}deep<script>no</script>`)).toBe("deep");
    expect(await markdown(`<title>t</title><p>${"word ".repeat(220_000)}</p><p>end`)).toMatch(/^word word [^]* word\nend$/);
  });

  test("takes time that grows with its length only, and lets others have their turn", async () => {
    const pieces = [
      "<",
      "<div>",
      "<a href=x>",
      '<a b="',
      "<p   ",
      "&amp",
      "<!--",
      "<table><tr><td>",
      "<td>x",
      "<pre>",
      "<blockquote>x\n",
      "<ul><li>",
      "</p>",
      "<p>x</b></i><b>",
      "<p>a",
    ];
    for (const piece of pieces) {
      const took = async (size: number): Promise<number> => {
        const started = process.cpuUsage();
        await markdown(piece.repeat(size / piece.length));
        return process.cpuUsage(started).user / 1000;
      };
      const small = Math.max(await took(30_000), 10);
      expect([piece, (await took(300_000)) < small * 40]).toEqual([piece, true]);
    }
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await markdown("<p>a".repeat(100_000));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
