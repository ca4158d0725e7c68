import { offsetAt } from "../../../parts/json-editor-text.ts";

/** As the editor draws it. */
const LINE_PX = 20;
const TOP_PX = 8;
const LEFT_PX = 10;
const TAB = 2;
/** A longer line is not measured beyond this. */
const MOST_CHARS = 2000;

/** Where characters stand in a text area with a fixed width of lines and letters. */
export interface TextGeometry {
  /** Where the character at an offset is drawn, in the window. */
  boxAt(offset: number): { readonly left: number; readonly top: number; readonly bottom: number };
  /** The offset of the character that is drawn at a point; undefined where there is none. */
  offsetAt(x: number, y: number): number | undefined;
}

export function createGeometry(area: HTMLTextAreaElement): TextGeometry {
  let context: CanvasRenderingContext2D | null | undefined;
  let letter = 0;

  /** Width of a stretch of a line. Tabs go to the next stop; other scripts are measured. */
  function width(line: string): number {
    context ??= document.createElement("canvas").getContext("2d");
    if (!context) return 0;
    const { font } = getComputedStyle(area);
    if (context.font !== font) {
      context.font = font;
      letter = context.measureText("0").width;
    }
    let columns = 0;
    for (const part of line.slice(0, MOST_CHARS).split(/(\t)/)) {
      if (part === "\t") columns = (Math.floor(columns / TAB) + 1) * TAB;
      else columns += /^[ -~]*$/.test(part) ? part.length : context.measureText(part).width / letter;
    }
    return columns * letter;
  }

  const lineOf = (start: number): string => {
    const end = area.value.indexOf("\n", start);
    return area.value.slice(start, Math.min(end < 0 ? area.value.length : end, start + MOST_CHARS));
  };

  return {
    boxAt(offset) {
      const { value } = area;
      const start = value.lastIndexOf("\n", offset - 1) + 1;
      let line = 0;
      for (let at = value.indexOf("\n"); at >= 0 && at < offset; at = value.indexOf("\n", at + 1)) line += 1;
      const box = area.getBoundingClientRect();
      const top = box.top + TOP_PX + line * LINE_PX - area.scrollTop;
      return { left: box.left + LEFT_PX + width(value.slice(start, offset)) - area.scrollLeft, top, bottom: top + LINE_PX };
    },
    offsetAt(x, y) {
      const box = area.getBoundingClientRect();
      const row = Math.floor((y - box.top - TOP_PX + area.scrollTop) / LINE_PX);
      const wanted = x - box.left - LEFT_PX + area.scrollLeft;
      if (row < 0 || wanted < 0) return undefined;
      const start = offsetAt(area.value, row + 1);
      const line = lineOf(start);
      if (area.value.length === start && row > 0 && area.value[start - 1] !== "\n") return undefined;
      let [low, high] = [0, line.length];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (width(line.slice(0, middle)) <= wanted) low = middle;
        else high = middle - 1;
      }
      return low < line.length ? start + low : undefined;
    },
  };
}
