import { shownAgain } from "./label.ts";
import { NotDrawn } from "./statements.ts";

/** A picture of which every element and attribute was looked at. Colours are still names: `{ink}`. */
export interface CleanPicture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
  /** The texts of the picture, as they stand in it. */
  readonly words: string;
}

const ELEMENTS = new Set("g defs marker rect line polyline polygon path circle ellipse text tspan".split(" "));
const ATTRIBUTES = new Set(
  "x y x1 y1 x2 y2 cx cy r rx ry dx dy d points width height transform fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin opacity font-size font-weight font-style text-anchor text-decoration id orient refX refY markerWidth markerHeight marker-start marker-end".split(
    " ",
  ),
);
/** The renderer's names for colours, and the page's. */
const COLOURS: Readonly<Record<string, string>> = {
  bg: "paper",
  fg: "ink",
  _text: "ink",
  "_text-sec": "ink-soft",
  "_text-muted": "ink-soft",
  "_text-faint": "ink-faint",
  _line: "ink-faint",
  _arrow: "ink-soft",
  "_node-fill": "sunken",
  "_node-stroke": "line-strong",
  "_group-fill": "paper",
  "_group-hdr": "sunken",
  "_inner-stroke": "line",
  "_key-badge": "line",
};
/** The names of colours in a clean picture. */
export const COLOUR_NAMES = [
  "paper",
  "ink",
  "ink-soft",
  "ink-faint",
  "sunken",
  "line",
  "line-strong",
  "series-1",
  "series-2",
  "series-3",
  "series-4",
  "series-5",
] as const;

const MOST_LENGTH = 3_000_000;
const MOST_SIDE = 30_000;
const FONT = "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";
const MONO = "ui-monospace, Menlo, Consolas, 'Liberation Mono', monospace";

const TAG = /<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<>]*")*)\s*(\/?)>/y;
const PAIR = /([\w:-]+)="([^"<>]*)"/g;
/** What may stand in an attribute: numbers, names, colours, and marks of the picture itself. */
const VALUE = /^(?:[\w\s#.,%()+'-]|\{[a-z0-9-]+\})*$/;
const MARK = /^url\(#[\w-]+\)$/;

/** What the classes of charts mean, which the renderer says in a style sheet. */
function ofClass(names: string, element: string): Readonly<Record<string, string>> {
  const series = `{series-${(Number(/xychart-color-(\d{1,3})/.exec(names)?.[1] ?? 0) % 5) + 1}}`;
  const has = (name: string): boolean => names.split(/\s+/).includes(name);
  if (has("mono")) return { "font-family": MONO };
  if (has("xychart-grid")) return { fill: "{line}" };
  if (has("xychart-bar")) return { fill: series };
  if (has("xychart-line") || has("xychart-legend-line"))
    return { fill: "none", stroke: series, "stroke-width": "2.5", "stroke-linecap": "round", "stroke-linejoin": "round" };
  if (has("xychart-line-shadow")) return { fill: "none", stroke: "none" };
  if (has("xychart-dot")) return { fill: series, stroke: "{paper}", "stroke-width": "2" };
  return names.includes("xychart-") && element === "text" ? { fill: has("xychart-label") ? "{ink-soft}" : "{ink}" } : {};
}

function cleanValue(value: string): string | undefined {
  const named = value.replaceAll(/var\(--([\w-]+)\)/g, (whole, name: string) => (COLOURS[name] === undefined ? whole : `{${COLOURS[name]}}`));
  if (MARK.test(named)) return named;
  return VALUE.test(named) && !/url|var\(|expression|javascript/i.test(named) ? named : undefined;
}

function attributes(text: string, element: string): string {
  const kept: Record<string, string> = {};
  for (const [, name = "", value = ""] of text.matchAll(PAIR)) {
    if (name === "class") Object.assign(kept, { ...ofClass(value, element), ...kept });
    const clean = ATTRIBUTES.has(name) ? cleanValue(value) : undefined;
    if (clean !== undefined) kept[name] = clean;
  }
  return Object.entries(kept)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("");
}

const side = (text: string, name: string): number => Math.ceil(Number(new RegExp(`\\s${name}="([\\d.]{1,24})"`).exec(text)?.[1]));

/**
 * Writes a picture of the renderer again with what a picture needs, and nothing else: no styles, no scripts, no addresses, no data. Refuses what is not
 * written as the renderer writes it.
 */
export function cleanSvg(source: string): CleanPicture {
  if (source.length > MOST_LENGTH) throw new NotDrawn("large");
  const svg = source.replaceAll(/<style>[\s\S]*?<\/style>/g, "").replaceAll(/<title>[^<]*<\/title>/g, "");
  const parts: string[] = [];
  const words: string[] = [];
  let [width, height, depth, at] = [0, 0, 0, 0];
  while (at < svg.length) {
    const open = svg.indexOf("<", at);
    const text = svg.slice(at, open < 0 ? svg.length : open);
    if (text.trim() !== "") {
      if (/&(?!(?:amp|lt|gt|quot|#39);)/.test(text)) throw new NotDrawn("broken");
      const shown = shownAgain(text);
      parts.push(shown);
      words.push(shown);
    }
    if (open < 0) break;
    TAG.lastIndex = open;
    const [whole, closes, name = "", pairs = "", single] = TAG.exec(svg) ?? [];
    if (whole === undefined) throw new NotDrawn("broken");
    at = open + whole.length;
    if (name === "svg") {
      if (closes) continue;
      [width, height] = [side(pairs, "width"), side(pairs, "height")];
      if (!(width > 0 && height > 0)) throw new NotDrawn("broken");
      if (width > MOST_SIDE || height > MOST_SIDE) throw new NotDrawn("large");
    } else if (!ELEMENTS.has(name)) throw new NotDrawn("broken");
    else {
      if (closes) depth -= 1;
      else if (!single) depth += 1;
      if (name === "text" && closes) words.push("\n");
      parts.push(closes ? `</${name}>` : `<${name}${attributes(pairs, name)}${single ? "/" : ""}>`);
    }
  }
  if (depth !== 0 || width === 0) throw new NotDrawn("broken");
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}">`;
  const lines = words
    .join(" ")
    .split("\n")
    .map((line) => plainText(line))
    .filter((line) => line !== "");
  return {
    svg: `${head}<rect width="${width}" height="${height}" fill="{paper}"/>${parts.join("")}</svg>`,
    width,
    height,
    words: lines.join(", ").slice(0, 600),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const plainText = (text: string): string =>
  text
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/[\s\u200b]+/g, " ")
    .trim();

/** A clean picture in colours. */
export const coloured = (svg: string, colours: Readonly<Record<string, string>>): string =>
  svg.replaceAll(/="\{([a-z0-9-]+)\}"/g, (_, name: string) => `="${colours[name] ?? "gray"}"`);
