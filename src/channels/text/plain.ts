/** Splits plain text. Together the chunks are the text, except for white space at the cuts. */
import { cutPlain } from "./cut.ts";

/** Chunks of at most `limit` characters: cut at the last line break, else the last blank outside of parentheses, else hard. No limit: one chunk. */
export function chunkText(text: string, limit: number): string[] {
  if (!text) return [];
  if (limit <= 0 || text.length <= limit) return [text];
  const chunks: string[] = [];
  let at = 0;
  while (text.length - at > limit) {
    const { end, next } = cutPlain(text, at, limit);
    const chunk = text.slice(at, end).trimEnd();
    if (chunk) chunks.push(chunk);
    at = next;
  }
  const rest = text.slice(at);
  return rest.trim() ? [...chunks, rest] : chunks;
}

export interface LineOptions {
  /** Lines over the limit are cut. Default true. */
  readonly splitLongLines?: boolean | undefined;
  /** Default true. */
  readonly trimLines?: boolean | undefined;
  /** Whether a line break may end a chunk. */
  readonly isSafeBreak?: ((index: number) => boolean) | undefined;
}

/** One chunk per line; empty lines go before the next chunk, trimmed away with `trimLines`. */
export function chunkByNewline(text: string, maxLineLength: number, options: LineOptions = {}): string[] {
  const { splitLongLines = true, trimLines = true, isSafeBreak = () => true } = options;
  if (!text) return [];
  const chunks: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); from <= text.length; at = text.indexOf("\n", at + 1)) {
    if (at >= 0 && !isSafeBreak(at)) continue;
    const end = at < 0 ? text.length : at;
    const line = trimLines ? text.slice(from, end).trim() : text.slice(from, end);
    if (line.trim()) chunks.push(...(splitLongLines && maxLineLength > 0 ? chunkText(line, maxLineLength) : [line]));
    if (at < 0) break;
    from = at + 1;
  }
  return chunks;
}
