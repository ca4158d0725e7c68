/** Telegram's HTML. */
import type { RichText } from "../../protocol/index.ts";
import { schemeOf, markUp, once, spansOf, type Markup, type Span } from "./spans.ts";

const SCHEMES: ReadonlySet<string> = new Set(["http", "https", "mailto", "tel", "tg"]);

const escapeText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const escapeAttribute = (text: string): string => escapeText(text).replaceAll('"', "&quot;");

const TAGS: Readonly<Partial<Record<Span["style"], string>>> = {
  bold: "b",
  italic: "i",
  strikethrough: "s",
  spoiler: "tg-spoiler",
  code: "code",
  blockquote: "blockquote",
  link: "a",
};

/** File extensions that are also top-level domains: the app would turn the names into links. */
const FILE_NAME = /\w\.(?:md|py|pl|pm|sh|rs|cc|so|ml|mm|mk|tf|zip|mov)$/i;

/** File names outside of code and links, as code. */
function fileNames(text: string, spans: readonly Span[]): Span[] {
  const covered = spans.filter(({ style }) => style === "code" || style === "code_block" || style === "link").sort((a, b) => a.start - b.start);
  const found: Span[] = [];
  let next = 0;
  for (const match of text.matchAll(/[\w./-]{4,}/g)) {
    const name = match[0].replace(/\.$/, "");
    if (!FILE_NAME.test(name) || name.includes("//") || /[:@]/.test(text[match.index - 1] ?? "")) continue;
    const end = match.index + name.length;
    while ((covered[next]?.end ?? Infinity) <= match.index) next += 1;
    if ((covered[next]?.start ?? Infinity) >= end) found.push({ start: match.index, end, style: "code" });
  }
  return found;
}

const isLinked = (span: Span): boolean => SCHEMES.has(schemeOf(span.href ?? "") ?? "");

const HTML: Markup = {
  // Code contains nothing and may only be inside a quotation; a quotation is never nested; linked text is not code.
  choose(spans) {
    const shown = once(spans.filter((span) => span.style !== "heading" && (span.style !== "link" || isLinked(span))));
    const quotes = shown.filter(({ style }) => style === "blockquote");
    const inner = shown.filter(({ style }) => style !== "blockquote");
    const block = inner.find(({ style }) => style === "code_block");
    const code = inner.find(({ style }) => style === "code");
    if (block) return [...quotes, block];
    if (code && !inner.some(({ style }) => style === "link")) return [...quotes, code];
    return [...quotes, ...inner.filter(({ style }) => style !== "code")];
  },
  open(span) {
    if (span.style === "code_block") return span.language ? `<pre><code class="language-${escapeAttribute(span.language)}">` : "<pre>";
    return span.style === "link" ? `<a href="${escapeAttribute(span.href ?? "")}">` : `<${TAGS[span.style]}>`;
  },
  close(span) {
    if (span.style === "code_block") return span.language ? "</code></pre>" : "</pre>";
    return `</${TAGS[span.style]}>`;
  },
  text: escapeText,
};

/** HTML for `parse_mode: "HTML"`. The visible text is exactly the text; links with unusual schemes become plain text. */
export function toTelegramHtml(rich: RichText): string {
  const ranges = rich.styles.length + rich.links.length === 0 ? [] : spansOf(rich);
  const spans = [...ranges, ...fileNames(rich.text, ranges)];
  if (spans.length === 0) return escapeText(rich.text);
  const parts: string[] = [];
  markUp(rich.text, spans, HTML, (part) => parts.push(part));
  return parts.join("");
}
