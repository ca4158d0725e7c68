/** What of a diagram's own styles is drawn: colours, and how wide lines are. */
export type Styles = Readonly<Partial<Record<"fill" | "stroke" | "color" | "stroke-width", string>>>;

const COLOUR = /^(?:#[\da-f]{3,8}|[a-z]{3,24}|(?:rgb|hsl)a?\([\d\s.,%/-]{1,60}\))$/i;
const WIDTH = /^(\d(?:\.\d{1,2})?)(?:px)?$/;
/** Not colours, though they look like their names. */
const NONE = /^(?:none|transparent|inherit|initial|unset|auto|var|url)$/i;

/** How light a colour is, from 0 to 1, where it is written in digits. */
function lightness(colour: string): number | undefined {
  const hex = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(colour)?.[1];
  const whole = hex?.length === 3 ? hex.replaceAll(/./g, "$&$&") : hex;
  const parts = whole?.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? /^rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)/i.exec(colour)?.slice(1).map(Number);
  if (!parts || parts.length < 3) return undefined;
  const [r, g, b] = parts.map((part) => (Math.min(255, part) / 255) ** 2.2) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Names of colours that are dark; text on the others is dark. */
const DARK = new Set(
  "black navy blue mediumblue darkblue darkgreen green teal indigo purple maroon brown firebrick darkred crimson midnightblue darkslategray darkslategrey darkslateblue rebeccapurple darkmagenta saddlebrown dimgray dimgrey darkviolet".split(
    " ",
  ),
);

/** Ink that is read on a fill, in light and dark colours alike. */
const inkOn = (fill: string): string => ((lightness(fill) ?? (DARK.has(fill.toLowerCase()) ? 0 : 1)) > 0.22 ? "#17171a" : "#ffffff");

/** `fill:#f9f,stroke:#333,…` as far as it is drawn. A fill without a colour for its text gets one that can be read on it. */
export function readStyles(text: string): Styles {
  const found: Partial<Record<string, string>> = {};
  for (const pair of text.split(/[,;](?![^(]*\))/)) {
    const at = pair.indexOf(":");
    const name = pair.slice(0, at).trim().toLowerCase();
    const value = pair.slice(at + 1).trim();
    const isColour = COLOUR.test(value) && !NONE.test(value);
    if ((name === "fill" || name === "stroke" || name === "color") && isColour) found[name] = value;
    if (name === "stroke-width") found[name] = WIDTH.exec(value)?.[1];
  }
  if (found["fill"] !== undefined) found["color"] ??= inkOn(found["fill"]);
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

/** The renderer separates values by commas: colours with some are written with spaces. */
export const styleText = (styles: Styles): string =>
  Object.entries(styles)
    .map(([name, value]) => `${name}:${value.replaceAll(/\s*,\s*/g, " ")}`)
    .join(",");
