/** Text without markup, for platforms that have none or take ranges beside it. */
import type { RichStyle, RichText } from "../../protocol/index.ts";
import { saysAddress } from "./spans.ts";

/** Adds the URL of each link after its text, unless the text already shows it: for platforms without links. Call it before splitting. */
export function expandLinks(rich: RichText): RichText {
  const isInside = ({ start, end }: { start: number; end: number }): boolean => start >= 0 && start < end && end <= rich.text.length;
  const styles = rich.styles.filter(isInside);
  const added = rich.links
    .filter(({ start, end, href }) => href !== "" && isInside({ start, end }) && !saysAddress(rich.text.slice(start, end), href))
    .map(({ end, href }) => ({ at: end, text: ` (${href})` }))
    .sort((a, b) => a.at - b.at);
  if (added.length === 0) return { text: rich.text, styles, links: [] };
  const parts: string[] = [];
  /** Offsets and how much was inserted before them. */
  const shifts: { at: number; by: number }[] = [];
  let from = 0;
  let by = 0;
  for (const { at, text } of added) {
    parts.push(rich.text.slice(from, at), text);
    shifts.push({ at, by: (by += text.length) });
    from = at;
  }
  const moved = (offset: number, isEnd: boolean): number => {
    let low = 0;
    let high = shifts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { at } = shifts[middle] ?? { at: Infinity };
      if (isEnd ? at < offset : at <= offset) low = middle + 1;
      else high = middle;
    }
    return offset + (shifts[low - 1]?.by ?? 0);
  };
  return {
    text: parts.join("") + rich.text.slice(from),
    styles: styles.map((style) => ({ ...style, start: moved(style.start, false), end: moved(style.end, true) })),
    links: [],
  };
}

/** The text alone. `append` (default) adds the URL of a link after its text, as `text (url)`. */
export function toPlain(rich: RichText, options: { readonly links?: "append" | "drop" | undefined } = {}): string {
  return options.links === "drop" ? rich.text : expandLinks(rich).text;
}

const RANGES: Readonly<Partial<Record<RichStyle["style"], string>>> = {
  bold: "BOLD",
  heading: "BOLD",
  italic: "ITALIC",
  strikethrough: "STRIKETHROUGH",
  code: "MONOSPACE",
  code_block: "MONOSPACE",
  spoiler: "SPOILER",
};

/** Text with style ranges, each `start:length:STYLE` in UTF-16 units, as signal-cli takes them. URLs of links are in the text. */
export function toStyleRanges(rich: RichText): { text: string; ranges: string[] } {
  const { text, styles } = expandLinks(rich);
  const merged = new Map<string, { start: number; end: number }[]>();
  for (const { start, end, style } of styles.toSorted((a, b) => a.start - b.start)) {
    const name = RANGES[style];
    if (!name) continue;
    const ranges = merged.get(name) ?? [];
    const last = ranges.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
    merged.set(name, ranges);
  }
  const all = [...merged].flatMap(([name, ranges]) => ranges.map(({ start, end }) => ({ start, length: end - start, name })));
  return { text, ranges: all.sort((a, b) => a.start - b.start || b.length - a.length).map(({ start, length, name }) => `${start}:${length}:${name}`) };
}
