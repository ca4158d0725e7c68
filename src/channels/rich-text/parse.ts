/** Markdown as text with styles and links. */
import MarkdownIt, { type Token } from "markdown-it";
import type { MarkdownTableMode, RichStyle, RichText } from "../../protocol/index.ts";
import { convertMarkdownTables } from "../text/tables.ts";

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

/** One line that begins with a letter and has no character that may start markup or a URL: Markdown leaves it as it is. */
const PLAIN = /^\p{L}[^\\`*_~[\]<>&#|:\p{Cc}]*$/u;

/** Nesting of quotations, lists, styles and links; deeper markup stays text. */
const MAX_NESTING = 40;

/** Long URLs inspected per text: a row of them, each up to the end, takes quadratic time. */
const MAX_LONG_ADDRESSES = 8;

const STYLES: Readonly<Record<string, RichStyle["style"]>> = { strong: "bold", em: "italic", s: "strikethrough", spoiler: "spoiler" };

const SIGNS: ReadonlySet<string> = new Set("[]*_~`<&#@\n");

const RULE = "───";

/** Longest URL of a link, in UTF-16 units; text with a longer one is not linked. */
const MAX_ADDRESS_LENGTH = 2048;

/** A container of blocks that is visible at the start of their lines. */
interface Container {
  readonly kind: "quote" | "item";
  /** Before its first line, and before all others. */
  readonly first: string;
  readonly rest: string;
  /** Its style, from its first line to its last. */
  readonly style?: RichStyle | undefined;
  begun: boolean;
}

/** Text with styles and links that grows block by block. */
interface Writer {
  enter(kind: Container["kind"], first: string, rest: string, style?: RichStyle["style"]): void;
  leave(): void;
  /** Starts a block: lines `from` to `to` of the source. Blocks separated by a blank line, and headings, keep one. */
  block(from: number, to: number, options?: { readonly heading?: boolean; readonly code?: boolean }): void;
  write(text: string): void;
  newline(code?: boolean): void;
  open(style: RichStyle["style"], facts?: { readonly language?: string | undefined; readonly level?: number }): void;
  close(): void;
  openLink(href: string): void;
  closeLink(): void;
  result(): RichText;
}

/** Ranges inside the text, none empty, outer before inner. */
function tidy<R extends { start: number; end: number }>(ranges: readonly R[], length: number): R[] {
  return ranges
    .map((range) => ({ ...range, end: Math.min(range.end, length) }))
    .filter((range) => range.start < range.end)
    .sort((a, b) => a.start - b.start || b.end - a.end);
}

function createWriter(): Writer {
  let text = "";
  const styles: RichStyle[] = [];
  const links: RichText["links"] = [];
  const containers: Container[] = [];
  const opened: RichStyle[] = [];
  const openLinks: (RichText["links"][number] | undefined)[] = [];
  let last: { end: number; heading: boolean } | undefined;

  /** Code keeps its own indentation: only surrounding quotes are shown. */
  const beginLine = (code: boolean): void => {
    const pending = containers.some((container) => container.kind === "item" && !container.begun);
    for (const container of containers) {
      const first = !container.begun;
      if (first && container.style) container.style.start = text.length;
      container.begun = true;
      const prefix = first ? container.first : container.rest;
      text += !code || container.kind === "quote" ? prefix : first ? prefix.trimEnd() : "";
    }
    if (code && pending) newline(true);
  };
  const newline = (code = false): void => {
    text += "\n";
    beginLine(code);
  };

  return {
    enter(kind, first, rest, style) {
      const range: RichStyle | undefined = style && { start: -1, end: -1, style };
      if (range) styles.push(range);
      containers.push({ kind, first, rest, style: range, begun: false });
    },
    leave() {
      const container = containers.pop();
      if (container?.style && container.begun) container.style.end = text.length;
    },
    block(from, to, { heading = false, code = false } = {}) {
      if (last) {
        const blank = from > last.end || heading || last.heading;
        const around = containers.filter((container) => container.begun).map((container) => container.rest);
        text += blank ? `\n${around.join("").trimEnd()}\n` : "\n";
      }
      last = { end: to, heading };
      beginLine(code);
    },
    write(part) {
      text += part;
    },
    newline,
    open(style, facts = {}) {
      const { language, level } = facts;
      const range: RichStyle = { start: text.length, end: -1, style, ...(language ? { language } : {}), ...(level ? { level } : {}) };
      styles.push(range);
      opened.push(range);
    },
    close() {
      const range = opened.pop();
      if (range) range.end = text.length;
    },
    openLink(href) {
      // Links cannot be nested: the outer one stays.
      const link = openLinks.length === 0 && href.length <= MAX_ADDRESS_LENGTH ? { start: text.length, end: -1, href } : undefined;
      openLinks.push(link);
      if (link) links.push(link);
    },
    closeLink() {
      const link = openLinks.pop();
      if (link?.start === text.length) text += link.href;
      if (link) link.end = text.length;
    },
    result() {
      const trimmed = text.trimEnd();
      return { text: trimmed, styles: tidy(styles, trimmed.length), links: tidy(links, trimmed.length) };
    },
  };
}

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

/** `||hidden||`, an extension of Markdown. */
const MARK = /(?<!\|)\|\|(?!\|)/g;

interface Mark {
  readonly token: number;
  readonly at: number;
}

/** Matching pairs of marks. A pair is in the same style or link; `a || b` and `a||b` are not marks. */
function pairs(tokens: readonly Token[]): { opening: Mark; closing: Mark }[] {
  const found: { opening: Mark; closing: Mark }[] = [];
  const scopes: (Mark | undefined)[] = [undefined];
  const beside = (index: number): string => {
    const token = tokens[index];
    return !token || token.type === "softbreak" || token.type === "hardbreak" ? " " : token.content || "*";
  };
  for (const [index, token] of tokens.entries()) {
    if (token.nesting === 1) scopes.push(undefined);
    if (token.nesting === -1) scopes.pop();
    if (token.type !== "text") continue;
    for (const { index: at } of token.content.matchAll(MARK)) {
      const before = token.content[at - 1] ?? beside(index - 1).at(-1)!;
      const after = token.content[at + 2] ?? beside(index + 1)[0]!;
      const opening = scopes.at(-1);
      if (opening && /\S/.test(before)) {
        found.push({ opening, closing: { token: index, at } });
        scopes[scopes.length - 1] = undefined;
      } else if (!opening && /\S/.test(after) && !/[\w)\]]/.test(before)) scopes[scopes.length - 1] = { token: index, at };
    }
  }
  return found;
}

function marked(tokens: readonly Token[], create: (type: string, nesting: -1 | 0 | 1, level: number, content: string) => Token): Token[] {
  const marks = new Map<number, { at: number; nesting: -1 | 1 }[]>();
  const add = ({ token, at }: Mark, nesting: -1 | 1): void => {
    const known = marks.get(token);
    if (known) known.push({ at, nesting });
    else marks.set(token, [{ at, nesting }]);
  };
  for (const { opening, closing } of pairs(tokens)) {
    add(opening, 1);
    add(closing, -1);
  }
  return tokens.flatMap((token, index) => {
    const cuts = marks.get(index);
    if (!cuts) return [token];
    let from = 0;
    const parts: Token[] = [];
    for (const { at, nesting } of cuts.sort((a, b) => a.at - b.at)) {
      parts.push(
        create("text", 0, token.level, token.content.slice(from, at)),
        create(nesting === 1 ? "spoiler_open" : "spoiler_close", nesting, token.level, ""),
      );
      from = at + 2;
    }
    return [...parts, create("text", 0, token.level, token.content.slice(from))].filter((part) => part.type !== "text" || part.content !== "");
  });
}

/** Adds spoilers to the parser. They are found before URLs, so that no URL includes the bars. */
function addSpoilers(md: InstanceType<typeof MarkdownIt>): void {
  md.core.ruler.before("linkify", "spoiler", (state) => {
    for (const token of state.tokens) {
      if (token.type !== "inline" || !token.children || !token.content.includes("||")) continue;
      token.children = marked(token.children, (type, nesting, level, content) => {
        const made = new state.Token(type, "", nesting);
        return Object.assign(made, { level, content });
      });
    }
  });
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
    if (PLAIN.test(source)) return { text: source.trimEnd(), styles: [], links: [] };
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
