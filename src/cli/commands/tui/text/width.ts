/** How many columns text takes on a terminal. */

const SEGMENTER = /* @__PURE__ */ new Intl.Segmenter("en", { granularity: "grapheme" });

/** Wide and full-width characters of Unicode's East Asian Width that are no emoji; pairs of first and last. */
const WIDE: readonly number[] = [
  0x1100, 0x115f, 0x2329, 0x232a, 0x2e80, 0x303e, 0x3041, 0x33ff, 0x3400, 0x4dbf, 0x4e00, 0xa4cf, 0xa960, 0xa97c, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10,
  0xfe19, 0xfe30, 0xfe6b, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x16fe4, 0x16ff0, 0x16ff6, 0x17000, 0x18cff, 0x18d00, 0x18dff, 0x1aff0, 0x1afff, 0x1b000,
  0x1b2fb, 0x1d300, 0x1d356, 0x1d360, 0x1d376, 0x1f200, 0x1f202, 0x1f210, 0x1f23b, 0x1f240, 0x1f248, 0x1f250, 0x1f251, 0x20000, 0x2fffd, 0x30000, 0x3fffd,
];

const ASCII = /^[\u0020-\u007e]*$/;
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u115f\u1160-\u11ff\u3164\uffa0]/u;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Emoji}\ufe0f)/u;

function isWide(code: number): boolean {
  if (code < (WIDE[0] ?? 0)) return false;
  let low = 0;
  let high = WIDE.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (WIDE[middle * 2] ?? 0)) high = middle - 1;
    else if (code > (WIDE[middle * 2 + 1] ?? 0)) low = middle + 1;
    else return true;
  }
  return false;
}

/** What a reader takes for one character, in order. */
export function graphemes(text: string): string[] {
  return ASCII.test(text) ? text.split("") : Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Columns of one grapheme: 0, 1 or 2. */
export function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  if (code >= 0x20 && code < 0x7f && grapheme.length === 1) return 1;
  if (EMOJI.test(grapheme) || isWide(code)) return 2;
  return NOTHING.test(grapheme) ? 0 : 1;
}

/** Columns of a text without line breaks. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** As much of a text as fits, ending in `…` when it was cut. */
export function fit(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (textWidth(text) <= columns) return text;
  let width = 0;
  let kept = "";
  for (const grapheme of graphemes(text)) {
    const next = graphemeWidth(grapheme);
    if (width + next > columns - 1) break;
    width += next;
    kept += grapheme;
  }
  return `${kept}…`;
}
