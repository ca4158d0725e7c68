/** Renders Markdown, for platforms that understand it. */
import type { RichText } from "../../protocol/index.ts";
import { saysAddress, createLineWriter, quotationsIn, spansByLine, markUp, once, spansOf, type Markup, type Span } from "./spans.ts";

/** Mentions of one person or channel, emoji and times stay; roles and everything else in angle brackets are text. */
const TOKEN = /(<(?:@!?\d{1,20}|#\d{1,20}|a?:\w{1,32}:\d{1,20}|t:-?\d{1,20}(?::[a-zA-Z])?)>)/;

function escapeInline(text: string): string {
  return text
    .split(TOKEN)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[\\`*_~[\]<]|\|(?=\|)|(?<=\|)\||&(?=#?\w{1,32};)/g, String.raw`\$&`)))
    .join("");
}

/** Characters with a meaning only at the start of a line. Items become lists again; numbers stay as they were. */
function escapeLineStart(line: string): string {
  if (/^\s*• /.test(line)) return line.replace("•", "-");
  return line.replace(/^(\s*)(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|=+\s*$|-{2,}\s*$)/, "$1\\");
}

const longestRun = (text: string): number => text.matchAll(/`+/g).reduce((most, run) => Math.max(most, run[0].length), 0);

/** Characters that would end the URL of a link. */
const escapeAddress = (href: string): string => href.replaceAll(/[\s()<>\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`);

const WORD = /[\p{L}\p{N}_]/u;

/** Markdown that shows this text. Special characters are escaped; no marker spans a line end. */
export function toMarkdown(rich: RichText): string {
  const { text } = rich;
  const inside = (span: Span): string => text.slice(span.start, span.end);
  const saysItself = (span: Span): boolean => span.style === "link" && saysAddress(inside(span), span.href ?? "");
  /** The emphasis marker that also works inside of words, where needed. */
  const emphasis = ({ start, end }: Span): string => (WORD.test(text[start - 1] ?? "") || WORD.test(text[end] ?? "") ? "*" : "_");
  const signs = (span: Span): readonly [string, string] => {
    if (span.style === "bold") return ["**", "**"];
    if (span.style === "italic") return [emphasis(span), emphasis(span)];
    if (span.style === "strikethrough") return ["~~", "~~"];
    if (span.style === "spoiler") return ["||", "||"];
    if (span.style === "heading") return [`${"#".repeat(Math.min(Math.max(span.level ?? 1, 1), 6))} `, ""];
    if (span.style === "link") return saysItself(span) ? ["", ""] : ["[", `](${escapeAddress(span.href ?? "")})`];
    const run = longestRun(inside(span));
    if (span.style === "code_block") {
      const fence = "`".repeat(Math.max(3, run + 1));
      return [`${fence}${/^[\w+#.-]+$/.test(span.language ?? "") ? span.language : ""}\n`, `\n${fence}`];
    }
    const mark = "`".repeat(run + 1);
    const gap = run > 0 ? " " : "";
    return [mark + gap, gap + mark];
  };
  const markup: Markup = {
    choose(spans) {
      const shown = once(spans.filter(({ style }) => style !== "blockquote"));
      const block = shown.find(({ style }) => style === "code_block");
      return block ? [block] : [...shown.filter(({ style }) => style !== "code"), ...shown.filter(({ style }) => style === "code")];
    },
    open: (span) => signs(span)[0],
    close: (span) => signs(span)[1],
    text: (part, spans, start) => {
      if (spans.some((span) => span.style === "code" || span.style === "code_block" || saysItself(span))) return part;
      const lines = escapeInline(part).split("\n");
      return lines.map((line, index) => (index > 0 || start === 0 || text[start - 1] === "\n" ? escapeLineStart(line) : line)).join("\n");
    },
  };
  const writer = createLineWriter("> ");
  markUp(text, spansByLine(text, spansOf(rich)), markup, (part, spans) => writer.put(part, quotationsIn(spans)));
  return writer.result();
}
