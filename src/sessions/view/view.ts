import type { ModelMessage } from "../../protocol/index.ts";
import { readPath } from "../transcript.ts";
import { contextSize, tokensOfChars, type ContextSize } from "../usage.ts";
import { contextFrom, contextOf, isCompaction, limitsOf, pathItem, weightOf, type PathItem, type Piece } from "./item.ts";
import { pair, type UsedIds } from "./pairing.ts";
import type { PruningSettings, ViewSettings } from "./settings.ts";
import { cutMarked, guard, isPrunable, lastTurns, prune, prunedUpTo, withLatestPages, withNewestImages, withoutRefusedImages } from "./shorten.ts";

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

/** What was left out or changed on the way, by reason. */
export interface Dropped {
  /** Messages before the last user turns that the limit lets through. */
  readonly history: number;
  /** Entries that no model can read. */
  readonly unreadable: number;
  /** Results without a call, and second results of one call. */
  readonly results: number;
  /** Calls that got an error in place of a result that is not there. */
  readonly unanswered: number;
  /** Images that the provider refused, and older ones beyond the number that is sent. */
  readonly images: number;
  /** Results that show a page which a later result shows again. */
  readonly replaced: number;
  /** Results shortened because the prompt cache has expired. */
  readonly trimmed: number;
  /** Results removed because the prompt cache has expired. */
  readonly cleared: number;
  /** Results cut or removed because they would not fit the window. */
  readonly guarded: number;
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
  const { model, settings = {}, memo = {}, now } = input;
  const path = "path" in input ? input.path : readPath(input.entries, input.leafId).map(pathItem);
  const window = windowTokens(model, settings);
  const pruning = settings.pruning && settings.pruning.ttlMs > 0 && isPrunable(model.provider, model.id) ? settings.pruning : undefined;
  const isLimited = pruning !== undefined || (settings.historyLimit !== undefined && settings.historyLimit >= 1);
  return (isLimited ? undefined : wholeView(path, window, settings, memo)) ?? shortened(path, window, settings, pruning && { pruning, now });
}

function shortened(
  path: readonly PathItem[],
  window: number,
  settings: ViewSettings,
  pruning: { readonly pruning: PruningSettings; readonly now: number } | undefined,
): View {
  const context = contextOf(path);
  const recent = lastTurns(context.pieces, settings.historyLimit, context.compactedAt);
  const latest = withLatestPages(path, recent);
  const accepted = withoutRefusedImages(path, latest.pieces);
  const newest = withNewestImages(accepted.pieces, settings.maxImages ?? MAX_IMAGES);
  const paired = pair(newest.pieces);
  const pruned = pruning
    ? prune(paired.pieces, prunedUpTo(path, pruning.pruning.ttlMs, pruning.now), pruning.pruning, window)
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
      replaced: latest.replaced,
      trimmed: pruned.trimmed,
      cleared: pruned.cleared,
      guarded: guarded + marked.cut,
    },
  };
}

/** A path as a model sees it when nothing has to be shortened, with what decides whether something has. */
interface Whole {
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
  readonly unreadable: number;
  readonly results: number;
  readonly replaced: number;
  readonly used: UsedIds;
}

/**
 * What was made of a path so far; the session's owner holds it from view to view. Items never change, so that a path which begins with those of another
 * begins with what a model sees of it.
 */
export interface ViewMemo {
  known?: Whole | undefined;
}

const NOTHING = { messages: [], estimate: 0, weight: 0, longestResult: 0, images: 0, unreadable: 0, results: 0, replaced: 0 } as const;

/**
 * The view of a path that is shown as it is, in time of what is new since the last one. Undefined when something of it has to be left out: it does not
 * fit, or some of its results are marked to be cut or images to be left out.
 */
function wholeView(path: readonly PathItem[], window: number, { maxImages = MAX_IMAGES }: ViewSettings, memo: ViewMemo): View | undefined {
  const known = knownBeginning(memo, path);
  const from = known?.items.length ?? 0;
  if (path.slice(from).some(({ resultChars, leavesOutImages }) => resultChars !== undefined || leavesOutImages)) return undefined;
  const added = known ? contextFrom(path, from) : contextOf(path);
  const latest = withLatestPages(path, added.pieces);
  const { pieces, results, unanswered, used } = pair(latest.pieces, known?.used);
  const before = known ?? NOTHING;
  let { estimate, weight, longestResult, images } = before;
  for (const piece of pieces) {
    estimate += tokensOfChars(piece.chars);
    weight += weightOf(piece);
    images += piece.images;
    if (piece.message.role === "toolResult" && piece.chars > longestResult) longestResult = piece.chars;
  }
  const whole: Whole = {
    items: path,
    messages: pieces.length === 0 ? before.messages : [...before.messages, ...pieces.map(({ message }) => message)],
    estimate,
    weight,
    longestResult,
    images,
    since: known ? known.since : sinceOf(pieces, added.compactedAt),
    unreadable: before.unreadable + added.unreadable,
    results: before.results + results,
    replaced: before.replaced + latest.replaced,
    used: used.size === 0 && known ? known.used : new Map([...(known?.used ?? []), ...used]),
  };
  // A call that has no result may still get it: what was made of it does not last.
  if (unanswered === 0) memo.known = whole;
  const limits = limitsOf(window);
  if (weight > limits.total || longestResult > limits.result || images > maxImages) return undefined;
  const { unreadable, replaced } = whole;
  const dropped: Dropped = { history: 0, unreadable, results: whole.results, unanswered, images: 0, replaced, trimmed: 0, cleared: 0, guarded: 0 };
  return { messages: whole.messages, estimate, size: contextSize(whole.messages, whole.since), window, fits: true, dropped };
}

/** What is known of the beginning of this path, unless a compaction or a page came since: they change what is shown before them. */
function knownBeginning({ known }: ViewMemo, path: readonly PathItem[]): Whole | undefined {
  if (!known || known.items.length > path.length) return undefined;
  for (const [at, item] of path.entries()) if (at < known.items.length ? item !== known.items[at] : isCompaction(item) || item.page) return undefined;
  return known;
}

/** Position of the first message after a compaction. */
function sinceOf(pieces: readonly Piece[], compactedAt: number): number {
  return compactedAt < 0 ? 0 : pieces.findLastIndex(({ at }) => at <= compactedAt) + 1;
}
