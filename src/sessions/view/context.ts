import type { PathItem } from "./item.ts";
import type { Piece } from "./piece.ts";

/** The part of a path that a model sees. */
export interface Context {
  readonly pieces: Piece[];
  /** Place of the compaction that stands at its beginning; -1 without one. */
  readonly compactedAt: number;
  readonly unreadable: number;
}

/** Where the part of a path begins that is still needed: what the last compaction kept. 0 without a compaction. */
export function keptFrom(items: readonly PathItem[]): number {
  const compaction = items.findLastIndex((item) => item.firstKeptId !== undefined);
  if (compaction < 0) return 0;
  const { firstKeptId } = items[compaction]!;
  const kept = items.findLastIndex((item, at) => at < compaction && item.entry.id === firstKeptId);
  return kept < 0 ? compaction : kept;
}

/** With a compaction on the path: its summary, what it kept, and what came after. Summaries of earlier ones are part of the last. */
export function contextOf(items: readonly PathItem[]): Context {
  const compactedAt = items.findLastIndex((item) => item.firstKeptId !== undefined);
  const pieces: Piece[] = [];
  let unreadable = 0;
  const add = (at: number): void => {
    const { message, chars, images, entry } = items[at]!;
    if (message) pieces.push({ message, chars, images, at });
    else if (entry.type === "message" || entry.type === "custom_message") unreadable += 1;
  };
  if (compactedAt >= 0) add(compactedAt);
  for (let at = keptFrom(items); at < items.length; at += 1) if (items[at]!.firstKeptId === undefined) add(at);
  return { pieces, compactedAt, unreadable };
}

/** The last so many user turns; a summary at the beginning stays, it stands for what is gone. 0 or none: no limit. */
export function lastTurns(pieces: readonly Piece[], limit: number | undefined, compactedAt: number): readonly Piece[] {
  if (limit === undefined || !(limit >= 1)) return pieces;
  let turns = 0;
  for (let at = pieces.length - 1; at >= 0; at -= 1) {
    const piece = pieces[at]!;
    if (piece.message.role !== "user" || piece.at === compactedAt) continue;
    turns += 1;
    if (turns > limit) {
      const first = pieces.findIndex(({ message }, place) => place > at && message.role === "user");
      const rest = pieces.slice(first);
      return pieces[0]!.at === compactedAt ? [pieces[0]!, ...rest] : rest;
    }
  }
  return pieces;
}
