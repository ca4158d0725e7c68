/** Markdown as text with styles and links. */
import MarkdownIt, { type Token } from "markdown-it";
import type { MarkdownTableMode, RichStyle, RichText } from "../../../protocol/index.ts";
import { convertMarkdownTables } from "../../text/index.ts";
import { addSpoilers } from "./spoilers.ts";
import { createWriter, MAX_ADDRESS_LENGTH, type Writer } from "./writer.ts";

export interface MarkdownOptions {
  /** Tables as aligned code, as lists, or as written. Default `code`. */
  readonly tables?: MarkdownTableMode | undefined;
  /** URLs in text are links. Default true. */
  readonly autolink?: boolean | undefined;
  /** A heading is a style of its own that most renderers show as plain text, or bold text. Default `plain`. */
  readonly headings?: "plain" | "bold" | undefined;
  /** Put before each line of a quotation, which is then no style. */
  readonly blockquotePrefix?: string | undefined;
}

/** Longer text, in UTF-16 units, stays as it is: parsing must not block the process. */
const MAX_MARKDOWN_LENGTH = 100_000;

/** Characters that may start markup. Text that consists mostly of them takes several times as long as any other and is not real Markdown. */
const MAX_SIGNS = 20_000;

/** Nesting of quotations, lists, styles and links; deeper markup stays text. */
const MAX_NESTING = 40;

/** Long URLs inspected per text: a row of them, each up to the end, takes quadratic time. */
const MAX_LONG_ADDRESSES = 8;

const STYLES: Readonly<Record<string, RichStyle["style"]>> = { strong: "bold", em: "italic", s: "strikethrough", spoiler: "spoiler" };

const SIGNS: ReadonlySet<string> = new Set("[]*_~`<&#@\n");

const RULE = "───";

/** The first word of a fence's info string, if it looks like a language. */
const languageOf = (info: string): string | undefined => /^[\w+#.-]{1,32}(?=\s|$)/.exec(info.trim())?.[0];

function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end -= 1;
  return text.slice(0, end);
}

function writeCode(writer: Writer, token: Token, from: number, to: number): void {
  const content = withoutLastBreaks(token.content);
  if (!content) return;
  writer.block(from, to, { code: true });
  writer.open("code_block", { language: languageOf(token.info) });
  for (const [index, line] of content.split("\n").entries()) {
    if (index > 0) writer.newline(true);
    writer.write(line);
  }
  writer.close();
}

/** The text that replaces an image. */
const alternative = (tokens: readonly Token[] | null): string =>
  (tokens ?? []).map((token) => (token.type === "softbreak" || token.type === "hardbreak" ? " " : token.content || alternative(token.children))).join("");

function writeInline(writer: Writer, tokens: readonly Token[]): void {
  for (const token of tokens) {
    const style = STYLES[token.type.replace(/_(?:open|close)$/, "")];
    if (style && token.nesting === 1) writer.open(style);
    else if (style) writer.close();
    else if (token.type === "link_open") writer.openLink(String(token.attrGet("href") ?? ""));
    else if (token.type === "link_close") writer.closeLink();
    else if (token.type === "softbreak" || token.type === "hardbreak") writer.newline();
    else if (token.type === "code_inline") {
      writer.open("code");
      writer.write(token.content);
      writer.close();
    } else if (token.type === "image") {
      writer.openLink(String(token.attrGet("src") ?? ""));
      writer.write(alternative(token.children).trim());
      writer.closeLink();
    } else writer.write(token.content);
  }
}

function writeBlocks(writer: Writer, tokens: readonly Token[], options: MarkdownOptions): void {
  const prefix = options.blockquotePrefix;
  let level = 0;
  for (const token of tokens) {
    const [from, to] = token.map ?? [0, 0];
    if (token.type === "heading_open") level = Number(token.tag.slice(1));
    else if (token.type === "heading_close") level = 0;
    else if (token.type === "blockquote_open") writer.enter("quote", prefix ?? "", prefix ?? "", prefix === undefined ? "blockquote" : undefined);
    else if (token.type === "list_item_open") writer.enter("item", token.info ? `${token.info}. ` : "• ", "  ");
    else if (token.type === "blockquote_close" || token.type === "list_item_close") writer.leave();
    else if (token.type === "fence" || token.type === "code_block") writeCode(writer, token, from, to);
    else if (token.type === "hr") {
      writer.block(from, to);
      writer.write(RULE);
    } else if (token.type === "inline" && token.content) {
      writer.block(from, to, { heading: level > 0 });
      if (level > 0) writer.open(options.headings === "bold" ? "bold" : "heading", options.headings === "bold" ? {} : { level });
      writeInline(writer, token.children ?? []);
      if (level > 0) writer.close();
    }
  }
}

function isTooDense(text: string): boolean {
  if (text.length <= MAX_SIGNS) return false;
  let signs = 0;
  for (let index = 0; index < text.length; index += 1) if (SIGNS.has(text[index]!)) signs += 1;
  return signs > MAX_SIGNS;
}

function asWritten(markdown: string): RichText {
  // Takes a third of the time of replacing.
  const lines = markdown.split("\r\n").join("\n").split("\r").join("\n");
  return { text: lines.replaceAll("\0", "\u{FFFD}").trimEnd(), styles: [], links: [] };
}

/** Creates the Markdown parser. Cache it for repeated use. */
export function createMarkdownReader(): (markdown: string, options?: MarkdownOptions) => RichText {
  const md = new MarkdownIt({ html: false, maxNesting: MAX_NESTING });
  // File names such as README.md look like URLs: only ones with a scheme count.
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  md.linkify.add("//", null);
  const match = md.linkify.matchAtStart.bind(md.linkify);
  let tooLong = 0;
  md.linkify.matchAtStart = (text) => {
    if (tooLong > MAX_LONG_ADDRESSES) return null;
    const found = match(text.slice(0, MAX_ADDRESS_LENGTH + 1).split("||", 1)[0]!);
    if (found && found.lastIndex > MAX_ADDRESS_LENGTH) tooLong += 1;
    return found && found.lastIndex <= MAX_ADDRESS_LENGTH ? found : null;
  };
  md.normalizeLinkText = (text) => text;
  md.disable("table");
  addSpoilers(md);

  return (markdown, options = {}) => {
    const source = markdown.toWellFormed();
    if (source.length > MAX_MARKDOWN_LENGTH || isTooDense(source)) return asWritten(source);
    const converted = convertMarkdownTables(source, options.tables ?? "code");
    if (converted.length > MAX_MARKDOWN_LENGTH * 2) return asWritten(source);
    // Looking for URLs costs more than the rest, the first time most of all.
    md.set({ linkify: (options.autolink ?? true) && /:\/\/|mailto:/i.test(converted) });
    tooLong = 0;
    const tokens = md.parse(converted, {});
    // The parser drops what is nested deeper.
    if (tokens.some((token) => token.level >= MAX_NESTING - 1)) return asWritten(source);
    const writer = createWriter();
    writeBlocks(writer, tokens, options);
    return writer.result();
  };
}
