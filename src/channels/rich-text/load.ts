/** Loads the Markdown parser with the first formatted text: it takes longer to load than the rest of this module. */
import type { RichText } from "../../protocol/index.ts";
import { toMarkdown } from "./markdown.ts";
import { toMarkers } from "./markers.ts";
import { expandLinks, toPlain, toStyleRanges } from "./plain.ts";
import { toTelegramHtml } from "./telegram.ts";
import type { MarkdownOptions } from "./parse.ts";
import { splitRich, type SplitOptions } from "./split.ts";

export interface PieceOptions<T> extends MarkdownOptions, SplitOptions {
  /** Limit of a chunk's text, measured by `measure`. */
  readonly limit: number;
  readonly render: (rich: RichText) => T;
  /** Size of the rendered chunk, where the platform counts the markup too. A chunk over `limit` is split further. */
  readonly size?: ((rendered: T) => number) | undefined;
}

export interface RenderedPiece<T> {
  readonly rich: RichText;
  readonly rendered: T;
}

/** Splits and renders. */
function renderPieces<T>(rich: RichText, options: PieceOptions<T>): RenderedPiece<T>[] {
  const { limit, render, size } = options;
  const renderWithin = (whole: RichText, space: number): RenderedPiece<T>[] =>
    splitRich(whole, space, options).flatMap((piece) => {
      const rendered = render(piece);
      const tooLong = size !== undefined && limit > 0 && size(rendered) > limit;
      if (!tooLong || space <= 1) return [{ rich: piece, rendered }];
      return renderWithin(piece, Math.min(space - 1, Math.floor((Math.min(space, piece.text.length) * limit) / size(rendered))) || 1);
    });
  return renderWithin(rich, limit);
}

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
  const { createMarkdownReader } = await import("./parse.ts");
  const parseMarkdown = createMarkdownReader();
  return {
    parseMarkdown,
    renderRichPieces: (markdown, options) => renderPieces(parseMarkdown(markdown, options), options),
    expandLinks,
    splitRich,
    toMarkdown,
    toMarkers,
    toPlain,
    toStyleRanges,
    toTelegramHtml,
  };
}
