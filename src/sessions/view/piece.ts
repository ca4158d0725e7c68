import type { ModelMessage } from "../../protocol/index.ts";

/** A message on its way into the view. */
export interface Piece {
  readonly message: ModelMessage;
  /** Characters of `message`. */
  readonly chars: number;
  /** Images in `message`. */
  readonly images: number;
  /** Place on the path of the entry it was made from. */
  readonly at: number;
}

export function imagesIn({ content }: ModelMessage): number {
  let images = 0;
  if (typeof content !== "string") for (const part of content) if (part.type === "image") images += 1;
  return images;
}

/** What was left out or changed on the way, by reason. */
export interface Dropped {
  /** Messages before the last user turns that the limit lets through. */
  readonly history: number;
  /** Entries that say something no model can read. */
  readonly unreadable: number;
  /** Results without a call, and second results of one call. */
  readonly results: number;
  /** Calls that got an error in place of a result that is not there. */
  readonly unanswered: number;
  /** Images that the provider refused, and older ones beyond the number that is sent. */
  readonly images: number;
  /** Results shortened because the prompt cache has expired. */
  readonly trimmed: number;
  /** Results removed because the prompt cache has expired. */
  readonly cleared: number;
  /** Results cut or removed because they would not fit the window. */
  readonly guarded: number;
}
