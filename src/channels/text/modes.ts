/** Splits text by the mode that a channel is configured for. */
import type { ChunkMode } from "../../protocol/index.ts";
import { fenceAt, findFences } from "./fences.ts";
import { chunkMarkdownText } from "./markdown.ts";
import { chunkText } from "./plain.ts";

/** Paragraphs, never cut inside of code. */
function paragraphs(text: string): string[] {
  const fences = findFences(text);
  const found: string[] = [];
  let from = 0;
  for (const match of text.matchAll(/\n[^\S\n]*(?:\n[^\S\n]*)+/g)) {
    if (fenceAt(fences, match.index)) continue;
    found.push(text.slice(from, match.index));
    // The indentation of the next paragraph's first line belongs to it.
    from = match.index + match[0].lastIndexOf("\n") + 1;
  }
  return [...found, text.slice(from)].map((paragraph) => paragraph.trimEnd()).filter((paragraph) => paragraph.trim() !== "");
}

/** Joins paragraphs up to `limit`, one blank line between them; a longer one is cut, or kept whole where `splitLong` is false. */
export function chunkByParagraph(text: string, limit: number, options: { readonly splitLongParagraphs?: boolean | undefined } = {}): string[] {
  const chunks: string[] = [];
  for (const paragraph of paragraphs(text.replaceAll(/\r\n?/g, "\n"))) {
    const last = chunks.at(-1);
    if (last !== undefined && (limit <= 0 || last.length + 2 + paragraph.length <= limit)) chunks[chunks.length - 1] = `${last}\n\n${paragraph}`;
    else if (limit > 0 && paragraph.length > limit && options.splitLongParagraphs !== false) chunks.push(...chunkText(paragraph, limit));
    else chunks.push(paragraph);
  }
  return chunks;
}

export function chunkTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  return mode === "newline" ? chunkByParagraph(text, limit) : chunkText(text, limit);
}

export function chunkMarkdownTextWithMode(text: string, limit: number, mode: ChunkMode): string[] {
  if (mode !== "newline") return chunkMarkdownText(text, limit);
  return chunkByParagraph(text, limit, { splitLongParagraphs: false }).flatMap((chunk) => chunkMarkdownText(chunk, limit));
}
