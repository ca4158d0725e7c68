/** A part of rich text. */
import type { RichText } from "../../../protocol/index.ts";

/** What lies between two offsets. Styles and links that go on are cut; what would be only blank is left out. */
export function sliceRich(rich: RichText, start: number, end: number): RichText {
  const text = rich.text.slice(start, end);
  const cut = <R extends { start: number; end: number }>(ranges: readonly R[]): R[] =>
    ranges
      .filter((range) => range.start < end && range.end > start)
      .map((range) => ({ ...range, start: Math.max(range.start - start, 0), end: Math.min(range.end, end) - start }))
      .filter((range) => text.slice(range.start, range.end).trim() !== "");
  return { text, styles: cut(rich.styles), links: cut(rich.links) };
}
