import { blocksOf } from "../chat/markdown/blocks.ts";
import { parseMarkdown, plainText } from "../chat/markdown/parse.ts";

/** A part of a note that is drawn by itself, and its first line. */
export interface NoteBlock {
  readonly text: string;
  readonly first: number;
}

const countLines = (text: string): number => text.split("\n").length - 1;

/** The parts of a note with their lines, from 1 on. */
export function noteBlocks(text: string): readonly NoteBlock[] {
  let [at, line] = [0, 1];
  return blocksOf(text).map((block) => {
    const from = text.indexOf(block, at);
    line += countLines(text.slice(at, from));
    const first = line;
    at = from + block.length;
    line += countLines(block);
    return { text: block, first };
  });
}

/** A text that is too long to be drawn, apart at a line: what is before it, the line, and what follows. Without such a line all of it comes first. */
export function splitAtLine(text: string, line: number | undefined): readonly [before: string, line: string | undefined, after: string] {
  if (line === undefined || line < 1) return [text, undefined, ""];
  let from = 0;
  for (let number = 1; number < line; number += 1) {
    const end = text.indexOf("\n", from);
    if (end === -1) return [text, undefined, ""];
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  return [text.slice(0, from), end === -1 ? text.slice(from) : text.slice(from, end), end === -1 ? "" : text.slice(end)];
}

/** Which of the lines that read alike a line is, among those of its block: 0 is the first. */
export function occurrence(text: string, line: number, first: number): number {
  const lines = text.split("\n");
  const wanted = lines[line - 1]?.trim() ?? "";
  return lines.slice(first - 1, line - 1).filter((other) => other.trim() === wanted).length;
}

/** The next line from a line on that has a text; the line itself when none has. */
export function writtenLine(text: string, line: number): number {
  const lines = text.split("\n");
  const found = lines.findIndex((other, index) => index >= line - 1 && other.trim() !== "");
  return found === -1 ? line : found + 1;
}

/** How a line of Markdown reads once it is drawn. */
export function drawnLine(text: string, line: number): string {
  const written = text.split("\n")[line - 1]?.trim() ?? "";
  return plainText(parseMarkdown(written)).replaceAll(/\s+/g, " ").trim();
}
