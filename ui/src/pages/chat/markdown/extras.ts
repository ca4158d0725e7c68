import type { MarkdownIt as Parser } from "markdown-it";

const DEFINITION = /^\[\^([^\]\s]{1,40})\]:[ \t]*(.*)$/;
const REFERENCE = /^\[\^([^\]\s]{1,40})\]/;
/** Notes of one text at most. */
const MOST_NOTES = 200;

/** The labels of a text's footnotes, in the order of their definitions. */
export interface NotesEnv {
  notes?: string[];
}

/** `[^1]` in a text and `[^1]: …` at the beginning of a line. A reference without a definition stays as it is written. */
export function footnotes(parser: Parser): void {
  parser.block.ruler.before("reference", "footnote", (state, start, end, silent) => {
    const line = (at: number): string => state.src.slice(state.bMarks[at]! + state.tShift[at]!, state.eMarks[at]);
    const [, label, first = ""] = DEFINITION.exec(line(start)) ?? [];
    const env = state.env as NotesEnv;
    const notes = (env.notes ??= []);
    if (label === undefined || notes.length >= MOST_NOTES || state.sCount[start]! - state.blkIndent >= 4) return false;
    if (silent) return true;
    const lines = [first];
    let next = start + 1;
    while (next < end && line(next).trim() !== "" && !DEFINITION.test(line(next))) lines.push(line(next++).trim());
    if (!notes.includes(label)) notes.push(label);
    state.push("footnote_open", "aside", 1).meta = { number: notes.indexOf(label) + 1 };
    const inline = state.push("inline", "", 0);
    inline.content = lines.join("\n");
    inline.map = [start, next];
    inline.children = [];
    state.push("footnote_close", "aside", -1);
    state.line = next;
    return true;
  });
  parser.inline.ruler.before("link", "footnote_ref", (state, silent) => {
    const [whole, label = ""] = REFERENCE.exec(state.src.slice(state.pos, state.pos + 44)) ?? [];
    const number = ((state.env as NotesEnv).notes ?? []).indexOf(label) + 1;
    if (whole === undefined || number === 0) return false;
    if (!silent) state.push("footnote_ref", "sup", 0).meta = { number };
    state.pos += whole.length;
    return true;
  });
}

/** Characters and lines of one formula at most. */
const MOST_MATH = 2000;
const MOST_LINES = 60;
/** `$x$` as in a text with prices: not where a space is inside of a sign, or a digit behind the second. */
const DOLLARS = /^\$(?![\s$])((?:[^$\\\n]|\\.){0,1999}?[^\s\\$]|[^\s\\$])\$(?!\d)/;
const BRACKETS = /^\\\(((?:[^\\\n]|\\(?!\)).){0,1999}?)\\\)/;
const CLOSED: Readonly<Record<string, string>> = { $$: "$$", "\\[": "\\]" };

/** `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` in a block of their own. */
export function formulas(parser: Parser): void {
  parser.inline.ruler.before("escape", "math_inline", (state, silent) => {
    const sign = state.src.charCodeAt(state.pos);
    if (sign !== 0x24 && sign !== 0x5c) return false;
    const found = (sign === 0x24 ? DOLLARS : BRACKETS).exec(state.src.slice(state.pos, state.pos + MOST_MATH + 8));
    if (!found) return false;
    if (!silent) state.push("math_inline", "math", 0).content = found[1]!;
    state.pos += found[0].length;
    return true;
  });
  parser.block.ruler.before(
    "fence",
    "math_block",
    (state, start, end, silent) => {
      const line = (at: number): string => state.src.slice(state.bMarks[at]! + state.tShift[at]!, state.eMarks[at]).trimEnd();
      const first = line(start);
      const close = CLOSED[first.slice(0, 2)];
      if (close === undefined || state.sCount[start]! - state.blkIndent >= 4) return false;
      const lines: string[] = [first.slice(2)];
      let at = start;
      let length = first.length;
      while (!lines.at(-1)!.endsWith(close)) {
        at += 1;
        const next = at < end ? line(at) : "";
        length += next.length;
        // Also where many lines begin like a formula, each looks only so far.
        if (next.trim() === "" || length > MOST_MATH || lines.length >= MOST_LINES) return false;
        lines.push(next);
      }
      const text = lines.join("\n").slice(0, -2).trim();
      if (text === "" || text.length > MOST_MATH || text.includes(close)) return false;
      if (silent) return true;
      const token = state.push("math_block", "math", 0);
      token.block = true;
      token.content = text;
      state.line = at + 1;
      return true;
    },
    { alt: ["paragraph", "reference", "blockquote", "list"] },
  );
}
