import type { ToolResultMessage } from "../../protocol/index.ts";
import { messageChars } from "../tokens.ts";
import type { PathItem } from "./item.ts";
import type { Piece } from "./piece.ts";
import { cut, cutFront } from "./value.ts";

/** Share of what is kept that comes from the beginning of a result; the rest is its end, where errors stand. */
const HEAD_SHARE = 0.7;

/** The beginning and the end of a result's text within `maxChars`, with a note of what is missing; images stay. Undefined when it is short enough. */
export function cutResult(message: ToolResultMessage, maxChars: number): ToolResultMessage | undefined {
  let total = 0;
  for (const part of message.content) if (part.type === "text") total += part.text.length;
  if (total <= maxChars) return undefined;
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const note = `\n[… cut: ${total} characters were too many for the model's window …]\n`;
  const room = Math.max(maxChars - note.length, 0);
  const head = cut(text, Math.ceil(room * HEAD_SHARE));
  const shorter = `${head}${note}${cutFront(text, room - head.length)}`.trim();
  return { ...message, content: [{ type: "text", text: shorter }, ...message.content.filter((part) => part.type === "image")] };
}

/** Applies the last such mark of the path to the results above it. */
export function cutMarked(path: readonly PathItem[], pieces: readonly Piece[]): { readonly pieces: readonly Piece[]; readonly cut: number } {
  const markedAt = path.findLastIndex(({ resultChars }) => resultChars !== undefined);
  if (markedAt < 0) return { pieces, cut: 0 };
  const maxChars = path[markedAt]!.resultChars!;
  let count = 0;
  const out = pieces.map((piece) => {
    const shorter = piece.at < markedAt && piece.message.role === "toolResult" && piece.chars > maxChars ? cutResult(piece.message, maxChars) : undefined;
    if (!shorter) return piece;
    count += 1;
    return { ...piece, message: shorter, chars: messageChars(shorter) };
  });
  return { pieces: count === 0 ? pieces : out, cut: count };
}
