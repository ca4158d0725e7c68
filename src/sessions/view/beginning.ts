import type { ModelMessage } from "../../protocol/index.ts";
import { tokensOfChars } from "../tokens.ts";
import { contextOf, type Context } from "./context.ts";
import { weight } from "./guard.ts";
import type { PathItem } from "./item.ts";
import { createTaken, pair, type Taken } from "./pairing.ts";
import type { Piece } from "./piece.ts";

/** A path as a model sees it when nothing has to be shortened, with what tells whether something has. */
export interface Beginning {
  readonly items: readonly PathItem[];
  readonly messages: readonly ModelMessage[];
  /** A guess at the tokens of `messages`. */
  readonly estimate: number;
  /** What all of them weigh against the window, and how long the longest result is. */
  readonly weight: number;
  readonly longestResult: number;
  readonly images: number;
  /** The first message that was answered after the last compaction. */
  readonly since: number;
  readonly compactedAt: number;
  readonly unreadable: number;
  readonly results: number;
  readonly unanswered: number;
}

interface Known {
  readonly beginning: Beginning;
  readonly taken: Taken;
}

/** By a path's first item. Items never change, so that a path which begins with those of another begins with what a model sees of it. */
const beginnings = new WeakMap<PathItem, Known>();

const NOTHING = { messages: [], estimate: 0, weight: 0, longestResult: 0, images: 0, since: 0, compactedAt: -1, unreadable: 0, results: 0 } as const;

/**
 * What a model sees of a path, in time of what is new since it was last asked for. Undefined when it has to be put together as a whole: some of
 * its results are marked to be cut, or images to be left out.
 */
export function beginningOf(path: readonly PathItem[]): Beginning | undefined {
  const [first] = path;
  if (!first) return { ...NOTHING, items: path, unanswered: 0 };
  const known = knownOf(first, path);
  const from = known?.beginning.items.length ?? 0;
  for (let at = from; at < path.length; at += 1) if (path[at]!.resultChars !== undefined || path[at]!.leavesOutImages) return undefined;
  const before = known?.beginning ?? NOTHING;
  const taken = createTaken(known?.taken);
  const more = known ? addedTo(path, from) : contextOf(path);
  const { pieces, results, unanswered } = pair(more.pieces, taken);
  const beginning: Beginning = {
    items: path,
    messages: pieces.length === 0 ? before.messages : [...before.messages, ...pieces.map(({ message }) => message)],
    ...totals(before, pieces),
    since: known ? before.since : sinceOf(pieces, more.compactedAt),
    compactedAt: known ? before.compactedAt : more.compactedAt,
    unreadable: before.unreadable + more.unreadable,
    results: before.results + results,
    unanswered,
  };
  // A call that has no result may still get it: what was made of it does not last.
  if (unanswered === 0) beginnings.set(first, { beginning, taken: taken.settled() });
  return beginning;
}

/** What is known of the beginning of this path, unless a compaction came since: it puts other things first. */
function knownOf(first: PathItem, path: readonly PathItem[]): Known | undefined {
  const known = beginnings.get(first);
  if (!known) return undefined;
  const { items } = known.beginning;
  if (items.length > path.length) return undefined;
  for (let at = 0; at < items.length; at += 1) if (items[at] !== path[at]) return undefined;
  for (let at = items.length; at < path.length; at += 1) if (path[at]!.firstKeptId !== undefined) return undefined;
  return known;
}

function addedTo(path: readonly PathItem[], from: number): Context {
  const { pieces, unreadable } = contextOf(path.slice(from));
  return { pieces: from === 0 ? pieces : pieces.map((piece) => ({ ...piece, at: piece.at + from })), unreadable, compactedAt: -1 };
}

/** Place of the first message after a compaction. */
export function sinceOf(pieces: readonly Piece[], compactedAt: number): number {
  return compactedAt < 0 ? 0 : pieces.findLastIndex(({ at }) => at <= compactedAt) + 1;
}

function totals(
  before: Pick<Beginning, "estimate" | "weight" | "longestResult" | "images">,
  pieces: readonly Piece[],
): Pick<Beginning, "estimate" | "weight" | "longestResult" | "images"> {
  let { estimate, weight: total, longestResult, images } = before;
  for (const piece of pieces) {
    estimate += tokensOfChars(piece.chars);
    total += weight(piece);
    images += piece.images;
    if (piece.message.role === "toolResult" && piece.chars > longestResult) longestResult = piece.chars;
  }
  return { estimate, weight: total, longestResult, images };
}
