/** Loads the Markdown parser with the first formatted text: it takes longer to load than the rest of this module. */
import type { RichText } from "../../protocol/index.ts";
import type { MarkdownOptions } from "./parse/parse.ts";
import { renderRichPieces, type PieceOptions, type RenderedPiece } from "./pieces.ts";
import { toMarkdown } from "./render/markdown.ts";
import { toMarkers } from "./render/markers.ts";
import { expandLinks, toPlain, toStyleRanges } from "./render/plain.ts";
import { toTelegramHtml } from "./render/telegram.ts";
import { splitRich } from "./split/split.ts";

/** Everything about formatted text. Only the first two need the parser; the others are also exported by themselves. */
export interface RichTextTools {
  /**
   * Parses Markdown into text with styles and links. HTML stays text; `||x||` is a spoiler; lists, rules and tables are text.
   * Text over 100,000 UTF-16 units, or nested more than 40 levels deep, stays as written.
   */
  parseMarkdown(markdown: string, options?: MarkdownOptions): RichText;
  /** Markdown → messages: parsed, split and rendered. */
  renderRichPieces<T>(markdown: string, options: PieceOptions<T>): RenderedPiece<T>[];
  readonly expandLinks: typeof expandLinks;
  readonly splitRich: typeof splitRich;
  readonly toMarkdown: typeof toMarkdown;
  readonly toMarkers: typeof toMarkers;
  readonly toPlain: typeof toPlain;
  readonly toStyleRanges: typeof toStyleRanges;
  readonly toTelegramHtml: typeof toTelegramHtml;
}

/** Cache the result: each call creates a parser. */
export async function loadRichText(): Promise<RichTextTools> {
  const { createMarkdownReader } = await import("./parse/parse.ts");
  const parseMarkdown = createMarkdownReader();
  return {
    parseMarkdown,
    renderRichPieces: (markdown, options) => renderRichPieces(parseMarkdown(markdown, options), options),
    expandLinks,
    splitRich,
    toMarkdown,
    toMarkers,
    toPlain,
    toStyleRanges,
    toTelegramHtml,
  };
}
