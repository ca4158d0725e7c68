import type { Passage } from "../storage/passages.ts";

export interface ChunkSizes {
  /** About four characters each. */
  readonly tokens: number;
  readonly overlap: number;
}

const CHARS_PER_TOKEN = 4;
const LEAST_CHARS = 32;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const FENCE = /^\s*(?:```|~~~)/;

interface Line {
  readonly text: string;
  /** Counted from 1. A long line comes in parts with the same number. */
  readonly number: number;
}

function* linesOf(content: string, most: number): Generator<Line> {
  let number = 0;
  for (const text of content.split(/\r\n|\n|\r/)) {
    number += 1;
    if (text.length <= most) yield { text, number };
    else for (let at = 0; at < text.length; at += most) yield { text: text.slice(at, at + most).toWellFormed(), number };
  }
}

/** The last lines that are worth at least `chars` characters: the next chunk begins with them. */
function tail(lines: readonly Line[], chars: number): Line[] {
  const kept: Line[] = [];
  let size = 0;
  for (const line of lines.toReversed()) {
    if (size >= chars) break;
    kept.unshift(line);
    size += line.text.length + 1;
  }
  return kept.length < lines.length ? kept : [];
}

/** A day that a file is named after, such as `memory/2026-03-01.md`, in seconds. */
export function dayOfPath(path: string): number | null {
  const found = /(?:^|[/\\])(\d{4})-(\d{2})-(\d{2})(?![\d])[^/\\]*$/.exec(path);
  if (!found) return null;
  const at = Date.parse(`${found[1]}-${found[2]}-${found[3]}T12:00:00Z`);
  return Number.isNaN(at) ? null : at / 1000;
}

/**
 * Cuts a note into passages: whole lines up to the size, the next one repeating the last lines of the one before. A heading begins a new one, and each
 * knows the headings above it.
 */
export function chunksOf(content: string, { tokens, overlap }: ChunkSizes, at: number | null): readonly Passage[] {
  const most = Math.max(LEAST_CHARS, tokens * CHARS_PER_TOKEN);
  const passages: Passage[] = [];
  const headings: string[] = [];
  let lines: Line[] = [];
  let size = 0;
  let fresh = false;
  let fenced = false;

  function close(): void {
    const [from, to] = [lines.findIndex((line) => line.text.trim() !== ""), lines.findLastIndex((line) => line.text.trim() !== "")];
    const text = lines
      .slice(Math.max(from, 0), to + 1)
      .map((line) => line.text)
      .join("\n");
    const [first, last] = [lines[from], lines[to]];
    if (fresh && first && last && text.trim() !== "") {
      const about = headings.filter(Boolean).join(" › ");
      passages.push({ first: first.number, last: last.number, at, role: "note", entry: null, about: about === "" ? null : about.slice(0, 300), text });
    }
    fresh = false;
  }

  for (const line of linesOf(content, most)) {
    if (FENCE.test(line.text)) fenced = !fenced;
    const heading = fenced ? null : HEADING.exec(line.text);
    if (heading?.[1] !== undefined) {
      close();
      [lines, size] = [[], 0];
      headings.length = heading[1].length - 1;
      headings[heading[1].length - 1] = heading[2] ?? "";
    } else if (size + line.text.length + 1 > most && lines.length > 0) {
      close();
      lines = tail(lines, overlap * CHARS_PER_TOKEN);
      size = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
      if (size + line.text.length + 1 > most) [lines, size] = [[], 0];
    }
    lines.push(line);
    size += line.text.length + 1;
    fresh = true;
  }
  close();
  return passages;
}
