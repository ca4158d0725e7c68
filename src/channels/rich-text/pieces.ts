/** Rich text as messages. */
import type { RichText } from "../../protocol/index.ts";
import type { MarkdownOptions } from "./parse/parse.ts";
import { splitRich, type SplitOptions } from "./split/split.ts";

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
export function renderRichPieces<T>(rich: RichText, options: PieceOptions<T>): RenderedPiece<T>[] {
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
