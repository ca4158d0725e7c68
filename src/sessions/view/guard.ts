import type { ModelMessage, ToolResultMessage } from "../../protocol/index.ts";
import type { Piece } from "./piece.ts";
import { withText } from "./pruning.ts";
import { cutResult } from "./results-cut.ts";

/** Share of the window, at two characters a token, that one result may take. */
const RESULT_SHARE = 0.5;
const RESULT_CHARS_PER_TOKEN = 2;
/** Share of the window, at four characters a token, that all messages may take. */
const TOTAL_SHARE = 0.75;
const CHARS_PER_TOKEN = 4;
/** What tool results count more than text, since code and data make more tokens. */
const RESULT_WEIGHT = 2;
const IMAGE_CHARS = 8_000;

export const REMOVED = "[tool result removed: the conversation would not fit the model's window]";

export interface Guarded {
  readonly pieces: readonly Piece[];
  readonly guarded: number;
  /** False when there is nothing left to remove and it is still too much: only compaction helps. */
  readonly fits: boolean;
}

/** What may be kept of a window: characters of one result, and the weight of all messages. */
export function roomIn(windowTokens: number): { readonly result: number; readonly total: number } {
  return { result: Math.floor(windowTokens * RESULT_CHARS_PER_TOKEN * RESULT_SHARE), total: windowTokens * CHARS_PER_TOKEN * TOTAL_SHARE };
}

/** What a message weighs, in characters of text. */
export function weight({ message, chars, images }: Piece): number {
  // `chars` holds an image's price in tokens; here it has its own.
  const text = images === 0 ? chars : textChars(message);
  return (message.role === "toolResult" ? text * RESULT_WEIGHT : text) + images * IMAGE_CHARS;
}

function textChars({ content }: ModelMessage): number {
  return typeof content === "string" ? content.length : content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}

/** Cuts what one result may not exceed, then removes the oldest results until all of it fits. */
export function guard(pieces: readonly Piece[], windowTokens: number): Guarded {
  const { result: most, total: budget } = roomIn(windowTokens);
  let out: Piece[] | undefined;
  let guarded = 0;
  let total = 0;
  const replace = (at: number, piece: Piece): void => {
    out ??= [...pieces];
    out[at] = piece;
    guarded += 1;
  };
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    const shorter = piece.message.role === "toolResult" && piece.chars > most ? shorterResult(piece, most) : undefined;
    if (shorter) replace(at, shorter);
    total += weight(shorter ?? piece);
  }
  for (let at = 0; at < pieces.length && total > budget; at += 1) {
    const piece = (out ?? pieces)[at]!;
    if (piece.message.role !== "toolResult") continue;
    const gone = withText(piece, REMOVED);
    const gain = weight(piece) - weight(gone);
    if (gain <= 0) continue;
    replace(at, gone);
    total -= gain;
  }
  return { pieces: out ?? pieces, guarded, fits: total <= budget };
}

/** The beginning and the end of a result's text, with a note; images stay. Undefined when its text is short enough. */
function shorterResult(piece: Piece, most: number): Piece | undefined {
  const message = piece.message as ToolResultMessage;
  const shorter = cutResult(message, most);
  return shorter && { ...piece, message: shorter, chars: piece.chars - textChars(message) + textChars(shorter) };
}
