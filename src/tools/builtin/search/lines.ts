import type { FileHandle } from "node:fs/promises";

/** Of a longer line only the beginning is kept and searched. */
export const MAX_LINE_CHARS = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Whole lines that follow each other. */
export interface Block {
  readonly lines: readonly string[];
  /** Number of the first, from 1. */
  readonly first: number;
  /** One of them was longer than what is kept. */
  readonly cut: boolean;
}

/** A file in blocks, of any size and with lines of any length. Ends where something begins that is no text. */
export async function* blocksOf(file: FileHandle): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = "";
  let first = 1;
  for (let at = 0; ;) {
    // What the disk does not give ends it too.
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at).catch(() => ({ bytesRead: 0 }));
    const chunk = buffer.subarray(0, bytesRead);
    if (chunk.includes(0)) return;
    at += bytesRead;
    const lines = (rest + decoder.decode(chunk, { stream: bytesRead > 0 })).split("\n");
    // A text that ends with a line end has no line after it.
    if (bytesRead === 0 && lines.at(-1) === "") lines.pop();
    rest = bytesRead === 0 ? "" : lines.pop()!;
    // One char more than what is kept shows that there was more.
    if (rest.length > MAX_LINE_CHARS) rest = rest.slice(0, MAX_LINE_CHARS + 1);
    if (lines.length > 0) {
      yield { lines: lines.map(shortened), first, cut: lines.some((line) => line.length > MAX_LINE_CHARS) };
      first += lines.length;
    }
    if (bytesRead === 0) return;
  }
}

function shortened(line: string): string {
  if (line.length > MAX_LINE_CHARS) return line.slice(0, MAX_LINE_CHARS);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
