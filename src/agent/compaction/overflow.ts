import type { ModelMessage } from "../../protocol/index.ts";
import { contextOf, cutResult, entryOfRow, pathItem, resultsCutEntry, type EntryPosition, type NewEntry, type PathItem } from "../../sessions/index.ts";
import { evenLimit } from "./fit.ts";

/** How often a conversation is made smaller within one call before the turn fails. Each round sends at most half as much. */
export const MAX_OVERFLOW_ROUNDS = 6;
/** How many of these rounds ask a model for a summary; later ones build it by rule. */
export const ROUNDS_WITH_MODEL = 2;

/** What the user is shown when the provider refuses even what cannot be made smaller. */
export const OVERFLOW_TEXT =
  "Context overflow: the request is too large for the model, even with the conversation cut to its last message. Start over with /new (or /reset), choose a model with a larger window, or use fewer tools and shorter workspace files.";

const RESULT_SHARE = 0.3;
const CHARS_PER_TOKEN = 4;
const MOST_CHARS = 400_000;
const LEAST_CHARS = 2_000;

/**
 * The longest that a result may be so that all results together are half of what they are; never more than 30 % of the window, never less than
 * what makes sense. The provider has refused what should have fitted, so that the share alone says little.
 */
export function resultLimit(sizes: readonly number[], window: number): number {
  const most = Math.min(Math.max(Math.floor(window * RESULT_SHARE * CHARS_PER_TOKEN), LEAST_CHARS), MOST_CHARS);
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = Math.floor(sorted.reduce((sum, size) => sum + size, 0) / 2);
  for (const [at, size] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (size > share) return Math.min(Math.max(share, LEAST_CHARS), most);
    left -= size;
  }
  return most;
}

const sizeOf = (message: ModelMessage | undefined): number =>
  message?.role === "toolResult" ? message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0) : 0;

/** The messages with oversized tool results cut, and how many were; the same array when none was. */
export function shrinkToolResults(messages: readonly ModelMessage[], window: number): { readonly messages: readonly ModelMessage[]; readonly cut: number } {
  const maxChars = resultLimit(messages.map(sizeOf), window);
  let cut = 0;
  const out = messages.map((message) => {
    const shorter = message.role === "toolResult" ? cutResult(message, maxChars) : undefined;
    if (shorter) cut += 1;
    return shorter ?? message;
  });
  return { messages: cut === 0 ? messages : out, cut };
}

/**
 * For a path: one entry to append, so that all results together have at most `tokens`, as far as that is possible. Undefined when they have.
 */
export function cutResultsTo(path: readonly PathItem[], window: number, tokens: number, position: EntryPosition): NewEntry | undefined {
  const shown = Math.min(path.findLast(({ resultChars }) => resultChars !== undefined)?.resultChars ?? window, window);
  const sizes = contextOf(path).pieces.flatMap(({ message }) => (message.role === "toolResult" ? [Math.min(sizeOf(message), shown)] : []));
  const limit = Math.max(LEAST_CHARS, evenLimit(sizes, tokens * CHARS_PER_TOKEN));
  return sizes.some((size) => size > limit) ? resultsCutEntry(position, limit) : undefined;
}

/**
 * The same for a path: one entry to append, below which `view` shows less of the results above, and the path with it. Undefined when there is
 * nothing to gain.
 */
export function shrinkPath(
  path: readonly PathItem[],
  window: number,
  position: EntryPosition,
): { readonly entry: NewEntry; readonly path: readonly PathItem[]; readonly cut: number } | undefined {
  // The view never shows more of a result than a character for each token of the window.
  const shown = Math.min(path.findLast(({ resultChars }) => resultChars !== undefined)?.resultChars ?? window, window);
  const sizes = contextOf(path).pieces.map(({ message }) => Math.min(sizeOf(message), shown));
  const maxChars = resultLimit(sizes, window);
  const cut = sizes.filter((size) => size > maxChars).length;
  if (cut === 0) return undefined;
  const entry = resultsCutEntry(position, maxChars);
  const item = entryOfRow(entry);
  return { entry, path: item ? [...path, pathItem(item)] : path, cut };
}
