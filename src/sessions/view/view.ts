import type { ModelMessage, TextContent } from "../../protocol/index.ts";
import { contextSize, messageChars, tokensOfChars, type ContextSize } from "../tokens.ts";
import { readPath } from "../transcript/path.ts";
import { contextOf, lastTurns, type Context } from "./context.ts";
import { guard, roomIn, weight } from "./guard.ts";
import { OLDER_IMAGE, REFUSED_IMAGE } from "./images.ts";
import { pathItem, type PathItem } from "./item.ts";
import { createTaken, pair, type Taken } from "./pairing.ts";
import { imagesIn, type Dropped, type Piece } from "./piece.ts";
import { isPrunable, prune, prunedUpTo } from "./pruning.ts";
import { cutMarked } from "./results-cut.ts";
import type { ViewSettings } from "./settings.ts";

/** What the view has to know of a model. */
export interface ViewModel {
  readonly provider: string;
  readonly id: string;
  /** Tokens; 0 when unknown. */
  readonly contextWindow: number;
}

interface ViewOptions {
  readonly model: ViewModel;
  readonly settings?: ViewSettings | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** With it, a path is read in time of what is new since the last view. */
  readonly memo?: ViewMemo | undefined;
}

/** Either lines of a transcript and the entry to look from (default: the last), or a path that was read before. */
export type ViewInput = ViewOptions &
  ({ readonly entries: readonly unknown[]; readonly leafId?: string | null | undefined } | { readonly path: readonly PathItem[] });

/** What a model sees of a session. */
export interface View {
  readonly messages: readonly ModelMessage[];
  /** A guess at the tokens of `messages`. */
  readonly estimate: number;
  /** The same with the provider's last count where there is one. */
  readonly size: ContextSize;
  /** Tokens the view was made for. */
  readonly window: number;
  /** False when it is too much for the window, though every tool result that could go is gone. */
  readonly fits: boolean;
  readonly dropped: Dropped;
}

const DEFAULT_WINDOW = 200_000;
/** Below this nothing sensible fits; callers refuse such models long before. */
const LEAST_WINDOW = 1_000;
/** From more on, providers put tighter bounds on each. */
const MAX_IMAGES = 20;

export function windowTokens(model: Pick<ViewModel, "contextWindow">, settings: ViewSettings = {}): number {
  const own = model.contextWindow > 0 ? model.contextWindow : DEFAULT_WINDOW;
  const cap = settings.contextTokens;
  return Math.max(LEAST_WINDOW, cap !== undefined && cap > 0 ? Math.min(cap, own) : own);
}

/**
 * The one way from a transcript to what a model is sent. Pure and total: the same input gives the same messages, and whatever the transcript
 * holds, they are valid for every provider: each call is directly followed by its result, nothing is empty, and tool results never make it
 * larger than the window.
 */
export function view(input: ViewInput): View {
  const { model, settings = {} } = input;
  const path = "path" in input ? input.path : readPath(input.entries, input.leafId).map(pathItem);
  const window = windowTokens(model, settings);
  return (isWhole(settings, model) && unchanged(path, window, input)) || shortened(path, window, input);
}

const isPruned = ({ pruning }: ViewSettings, { provider, id }: ViewModel): boolean => pruning !== undefined && pruning.ttlMs > 0 && isPrunable(provider, id);

/** Nothing is left out for its age. */
const isWhole = (settings: ViewSettings, model: ViewModel): boolean =>
  !(settings.historyLimit !== undefined && settings.historyLimit >= 1) && !isPruned(settings, model);

/** The view of a path that is shown as it is; undefined when something of it has to be left out. */
function unchanged(path: readonly PathItem[], window: number, { settings, memo = {} }: ViewOptions): View | undefined {
  const { maxImages = MAX_IMAGES } = settings ?? {};
  const begun = beginningOf(path, memo);
  const room = roomIn(window);
  if (!begun || begun.weight > room.total || begun.longestResult > room.result || begun.images > maxImages) return undefined;
  const { messages, estimate, unreadable, results, unanswered } = begun;
  const dropped: Dropped = { history: 0, unreadable, results, unanswered, images: 0, trimmed: 0, cleared: 0, guarded: 0 };
  return { messages, estimate, size: contextSize(messages, begun.since), window, fits: true, dropped };
}

function shortened(path: readonly PathItem[], window: number, { model, settings = {}, now }: ViewOptions): View {
  const context = contextOf(path);
  const recent = lastTurns(context.pieces, settings.historyLimit, context.compactedAt);
  const accepted = withoutRefusedImages(path, recent);
  const newest = withNewestImages(accepted.pieces, settings.maxImages ?? MAX_IMAGES);
  const paired = pair(newest.pieces);
  const { pruning } = settings;
  const pruned =
    pruning && isPruned(settings, model)
      ? prune(paired.pieces, prunedUpTo(path, pruning.ttlMs, now), pruning, window)
      : { pieces: paired.pieces, trimmed: 0, cleared: 0 };
  const marked = cutMarked(path, pruned.pieces);
  const { pieces, guarded, fits } = guard(marked.pieces, window);
  const messages = pieces.map(({ message }) => message);
  let estimate = 0;
  for (const { chars } of pieces) estimate += tokensOfChars(chars);
  return {
    messages,
    estimate,
    size: contextSize(messages, sinceOf(pieces, context.compactedAt)),
    window,
    fits,
    dropped: {
      history: context.pieces.length - recent.length,
      unreadable: context.unreadable,
      results: paired.results,
      unanswered: paired.unanswered,
      images: newest.left + accepted.left,
      trimmed: pruned.trimmed,
      cleared: pruned.cleared,
      guarded: guarded + marked.cut,
    },
  };
}

interface FewerImages {
  readonly pieces: readonly Piece[];
  readonly left: number;
}

/** Leaves notes in place of the images above the last mark that says so. */
function withoutRefusedImages(path: readonly PathItem[], pieces: readonly Piece[]): FewerImages {
  const markedAt = path.findLastIndex(({ leavesOutImages }) => leavesOutImages);
  const left = pieces.reduce((sum, { at, images }) => sum + (at < markedAt ? images : 0), 0);
  return left === 0 ? { pieces, left } : { pieces: withoutFirstImages(pieces, left, REFUSED_IMAGE), left };
}

/** Leaves notes in place of all images but the newest. */
function withNewestImages(pieces: readonly Piece[], max: number): FewerImages {
  let left = -max;
  for (const { images } of pieces) left += images;
  return left <= 0 ? { pieces, left: 0 } : { pieces: withoutFirstImages(pieces, left, OLDER_IMAGE), left };
}

function withoutFirstImages(pieces: readonly Piece[], count: number, note: TextContent): readonly Piece[] {
  let toGo = count;
  return pieces.map((piece) => {
    if (toGo === 0 || piece.images === 0 || piece.message.role === "assistant" || typeof piece.message.content === "string") return piece;
    const content = piece.message.content.map((part) => {
      if (part.type !== "image" || toGo === 0) return part;
      toGo -= 1;
      return note;
    });
    const message: ModelMessage = { ...piece.message, content };
    return { ...piece, message, chars: messageChars(message), images: imagesIn(message) };
  });
}

/** A path as a model sees it when nothing has to be shortened, with what tells whether something has. */
interface Beginning {
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

/**
 * What was made of a path so far; the session's owner holds it from view to view. Items never change, so that a path which begins with those of another
 * begins with what a model sees of it.
 */
export interface ViewMemo {
  known?: Known | undefined;
}

const NOTHING = { messages: [], estimate: 0, weight: 0, longestResult: 0, images: 0, since: 0, compactedAt: -1, unreadable: 0, results: 0 } as const;

/**
 * What a model sees of a path, in time of what is new since it was last asked for. Undefined when it has to be put together as a whole: some of
 * its results are marked to be cut, or images to be left out.
 */
function beginningOf(path: readonly PathItem[], memo: ViewMemo): Beginning | undefined {
  const [first] = path;
  if (!first) return { ...NOTHING, items: path, unanswered: 0 };
  const known = knownOf(memo, path);
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
  if (unanswered === 0) memo.known = { beginning, taken: taken.settled() };
  return beginning;
}

/** What is known of the beginning of this path, unless a compaction came since: it puts other things first. */
function knownOf({ known }: ViewMemo, path: readonly PathItem[]): Known | undefined {
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

/** Position of the first message after a compaction. */
function sinceOf(pieces: readonly Piece[], compactedAt: number): number {
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
