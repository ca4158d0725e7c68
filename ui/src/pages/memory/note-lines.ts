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

/** How a line of Markdown reads once it is drawn. */
export function drawnLine(text: string, line: number): string {
  const written = text.split("\n")[line - 1]?.trim() ?? "";
  return plainText(parseMarkdown(written)).replaceAll(/\s+/g, " ").trim();
}
