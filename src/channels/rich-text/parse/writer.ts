/** Text with styles and links that grows block by block. */
import type { RichStyle, RichText } from "../../../protocol/index.ts";

/** Longest URL of a link, in UTF-16 units; text with a longer one is not linked. */
export const MAX_ADDRESS_LENGTH = 2048;

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

export interface Writer {
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

export function createWriter(): Writer {
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
