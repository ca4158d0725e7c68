/** A fenced code block in Markdown. Offsets are of the whole text. */
export interface Fence {
  /** Start of its opening line. */
  readonly start: number;
  /** End of its closing line, before that line's break; the end of the text where it is unclosed. */
  readonly end: number;
  /** Start of its content. */
  readonly body: number;
  /** Start of its closing line; `end` where it is unclosed. */
  readonly closing: number;
  /** The opening line as written. */
  readonly line: string;
  /** The closing marker. */
  readonly marker: string;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;

/** All code blocks, in order. */
export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: { start: number; body: number; line: string; indent: string; marker: string } | undefined;
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at);
    const line = text.slice(at, end).replace(/\r$/, "");
    const [, indent = "", marker = "", info = ""] = FENCE.exec(line) ?? [];
    if (open) {
      const closes = marker.startsWith(open.marker) && info.trim() === "";
      if (closes) fences.push({ ...open, end, closing: at, marker: open.indent + open.marker });
      if (closes) open = undefined;
    } else if (marker && !(marker.startsWith("`") && info.includes("`"))) {
      open = { start: at, body: Math.min(end + 1, text.length), line, indent, marker };
    }
    at = end + 1;
  }
  if (open) fences.push({ ...open, end: text.length, closing: text.length, marker: open.indent + open.marker });
  return fences;
}

/** The block around `index`: after its first character and before its end. */
export function fenceAt(fences: readonly Fence[], index: number): Fence | undefined {
  return fences.find((fence) => fence.start < index && index < fence.end);
}
