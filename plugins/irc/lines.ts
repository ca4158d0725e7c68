/** Text as lines of IRC. Sizes are bytes of UTF-8. */
import type { RichTextTools } from "openclaw/plugin-sdk/rich-text";

const sizeOf = (text: string): number => Buffer.byteLength(text, "utf8");

/** Whole characters, with what is drawn onto them. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text), ({ segment }) => segment);
}

/** A word that fits into no line, cut between characters; a character that is larger than a line, between its parts. */
function cutWord(word: string, limit: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  const add = (part: string): void => {
    if (piece !== "" && sizeOf(piece) + sizeOf(part) > limit) {
      pieces.push(piece);
      piece = "";
    }
    piece += part;
  };
  for (const character of charactersOf(word)) {
    if (sizeOf(character) <= limit) add(character);
    else for (const point of character) add(point);
  }
  return piece === "" ? pieces : [...pieces, piece];
}

/** One line in pieces of at most `limit` bytes, broken at blanks where there are some. */
function cutLine(line: string, limit: number): string[] {
  if (sizeOf(line) <= limit) return [line];
  const pieces: string[] = [];
  let piece = "";
  for (const word of line.split(/(?<=\s)(?=\S)/)) {
    if (sizeOf((piece + word).trimEnd()) <= limit) {
      piece += word;
      continue;
    }
    if (piece.trim() !== "") pieces.push(piece.trimEnd());
    const cut = cutWord(word, limit);
    pieces.push(...cut.slice(0, -1));
    piece = cut.at(-1) ?? "";
  }
  if (piece.trim() !== "") pieces.push(piece.trimEnd());
  return pieces.filter((one) => one.trim() !== "");
}

/** What would steer the receiver's screen, or end the line. Tabs become blanks. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\t/g, "  ").replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u2028\u2029]/g, "");
}

/** Any text as lines of at most `limit` bytes; blank ones are left out. */
export function linesOf(text: string, limit: number): string[] {
  return printable(text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n"))
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "")
    .flatMap((line) => cutLine(line, limit));
}

const LINE_LIMIT = 512;
/** What a server may make of our name: nick 30, user 12, host 63. */
const MAX_PREFIX_BYTES = ":!@ ".length + 30 + 12 + 63;

/** Bytes that are left for the text: the server puts our name before it for those who receive it. */
export function bytesLeftFor(target: string, prefix: string | undefined, most: number): number {
  const named = prefix === undefined ? MAX_PREFIX_BYTES : sizeOf(`:${prefix} `);
  return Math.max(1, Math.min(most, LINE_LIMIT - 2 - named - sizeOf(`PRIVMSG ${target} :`)));
}

/** Markdown as the plain lines that IRC has. */
export interface Plain {
  /** Has to be done once before texts are cut; later calls cost nothing. */
  load(): Promise<void>;
  /** One message each. Without `load` Markdown stays as it is written. */
  lines(markdown: string, limit: number): string[];
}

export function createPlain(): Plain {
  let tools: RichTextTools | undefined;
  return {
    async load() {
      if (!tools) tools = await (await import("openclaw/plugin-sdk/rich-text")).loadRichText();
    },
    lines(markdown, limit) {
      const text = tools ? tools.toPlain(tools.parseMarkdown(markdown, { tables: "bullets" }), { links: "append" }) : markdown;
      return linesOf(text, limit);
    },
  };
}
