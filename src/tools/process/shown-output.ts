/** Most characters of an output that a model is shown at once, and how many of them are its beginning. */
export const SHOWN_CHARS = 40_000;
export const HEAD_CHARS = 10_000;
/** A cut is moved to the end of a line when there is one this near. */
const LINE_SLACK = 500;

/** Two ends of a text, with what is between them left out. */
export interface Ends {
  readonly head: string;
  readonly tail: string;
  readonly left: number;
}

/** The ends of a text of which only these are at hand. `total` is its whole length. */
export function endsOf(head: string, tail: string, total: number, most = SHOWN_CHARS): Ends {
  const first = lineEnd(wellFormed(head.slice(0, Math.floor(most * (HEAD_CHARS / SHOWN_CHARS)))));
  const last = lineStart(wellFormed(tail.slice(-(most - first.length))));
  return { head: first, tail: last, left: Math.max(0, total - first.length - last.length) };
}

/** A text that is too long with its middle left out: what went wrong usually stands at the end, what it was about at the beginning. */
export function middleLeftOut(text: string, most = SHOWN_CHARS, where = ""): string {
  if (text.length <= most) return text;
  return joinedEnds(endsOf(text, text, text.length, most), where);
}

export function joinedEnds({ head, tail, left }: Ends, where = ""): string {
  return `${head.trimEnd()}\n\n[${left} characters left out here${where}]\n\n${tail.trimStart()}`;
}

const wellFormed = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, "");

function lineEnd(text: string): string {
  const at = text.lastIndexOf("\n");
  return at >= 0 && text.length - at < LINE_SLACK ? text.slice(0, at + 1) : text;
}

function lineStart(text: string): string {
  const at = text.indexOf("\n");
  return at >= 0 && at < LINE_SLACK ? text.slice(at + 1) : text;
}
