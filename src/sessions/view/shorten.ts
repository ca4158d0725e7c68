import type { ModelMessage, TextContent, ToolResultMessage } from "../../protocol/index.ts";
import { messageChars } from "../usage.ts";
import { imagesIn, isResult, limitsOf, textChars, weightOf, type PathItem, type Piece } from "./item.ts";
import { cut, OLDER_IMAGE, REFUSED_IMAGE } from "./read-message.ts";
import type { PruningSettings } from "./settings.ts";

const CHARS_PER_TOKEN = 4;

/** The last `max` characters, never beginning inside a surrogate pair. */
function cutFront(text: string, max: number): string {
  return text.length <= max ? text : max <= 0 ? "" : text.slice(-max).replace(/^[\uDC00-\uDFFF]/, "");
}

/** The last so many user turns; a summary at the beginning stays, it stands for what is gone. 0 or none: no limit. */
export function lastTurns(pieces: readonly Piece[], limit: number | undefined, compactedAt: number): readonly Piece[] {
  if (limit === undefined || !(limit >= 1)) return pieces;
  const isTurn = ({ message, at }: Piece): boolean => message.role === "user" && at !== compactedAt;
  const turns = pieces.flatMap((piece, index) => (isTurn(piece) ? [index] : []));
  if (turns.length <= limit) return pieces;
  const rest = pieces.slice(turns.at(-Math.floor(limit)));
  const [summary] = pieces;
  return summary?.at === compactedAt ? [summary, ...rest] : rest;
}

interface FewerImages {
  readonly pieces: readonly Piece[];
  readonly left: number;
}

/** Leaves notes in place of the images above the last mark that says so. */
export function withoutRefusedImages(path: readonly PathItem[], pieces: readonly Piece[]): FewerImages {
  const markedAt = path.findLastIndex(({ leavesOutImages }) => leavesOutImages);
  const left = pieces.reduce((sum, { at, images }) => sum + (at < markedAt ? images : 0), 0);
  return left === 0 ? { pieces, left } : { pieces: withoutFirstImages(pieces, left, REFUSED_IMAGE), left };
}

/** Leaves notes in place of all images but the newest. */
export function withNewestImages(pieces: readonly Piece[], max: number): FewerImages {
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

/** Pages that were shown again are left out together, once they come to this: each time the provider's prompt cache begins again at the first of them. */
const OLD_PAGE_CHARS = 12_000;
const OLD_PAGE = "[an older view of this tab, left out because a later one follows]";

/** Leaves a note in place of pages that a later result shows whole. What is left out stays so when the path grows. */
export function withLatestPages(path: readonly PathItem[], pieces: readonly Piece[]): { readonly pieces: readonly Piece[]; readonly replaced: number } {
  const current = new Map<string, number[]>();
  const old: number[] = [];
  const gone = new Set<number>();
  let chars = 0;
  for (const [n, piece] of pieces.entries()) {
    const page = isResult(piece) ? path[piece.at]?.page : undefined;
    if (!page) continue;
    const before = current.get(page.key) ?? [];
    if (page.whole) {
      for (const earlier of before) chars += pieces[earlier]?.chars ?? 0;
      old.push(...before);
    }
    current.set(page.key, page.whole ? [n] : [...before, n]);
    if (chars < OLD_PAGE_CHARS) continue;
    for (const earlier of old.splice(0)) gone.add(earlier);
    chars = 0;
  }
  if (gone.size === 0) return { pieces, replaced: 0 };
  return { pieces: pieces.map((piece, n) => (gone.has(n) && isResult(piece) ? withText(piece, OLD_PAGE) : piece)), replaced: gone.size };
}

export interface Pruned {
  readonly pieces: readonly Piece[];
  readonly trimmed: number;
  readonly cleared: number;
}

/** Only Anthropic's models keep a prompt cache that pruning would save. */
export function isPrunable(provider: string, model: string): boolean {
  return provider === "anthropic" || (provider === "openrouter" && model.startsWith("anthropic/"));
}

/**
 * Up to which position of the path results were, or are now, pruned: the last time a request came later than `ttl` after the one before. Between
 * two such times the same results are pruned in the same way, so that the cache begun by the first request serves the following ones.
 */
export function prunedUpTo(items: readonly PathItem[], ttlMs: number, now: number): number {
  let last: number | undefined;
  let boundary = 0;
  for (const [at, { touch }] of items.entries()) {
    if (!touch || !isPrunable(touch.provider, touch.model)) continue;
    if (last !== undefined && touch.at - last > ttlMs) boundary = at;
    last = touch.at;
  }
  return last !== undefined && now - last > ttlMs ? items.length : boundary;
}

/** Shortens, then removes old tool results while the conversation before `upTo` is large. What came after the last answers stays. */
export function prune(pieces: readonly Piece[], upTo: number, settings: PruningSettings, windowTokens: number): Pruned {
  const window = windowTokens * CHARS_PER_TOKEN;
  const end = pieces.findLastIndex(({ at }) => at < upTo) + 1;
  const cutoff = cutoffOf(pieces.slice(0, end), settings.keepLastAssistants);
  let total = 0;
  for (const { chars } of pieces.slice(0, end)) total += chars;
  if (cutoff === undefined || total <= window * settings.softTrimRatio) return { pieces, trimmed: 0, cleared: 0 };

  const mayPrune = toolFilter(settings.tools);
  const isCandidate = (piece: Piece): piece is Piece<ToolResultMessage> => isResult(piece) && piece.images === 0 && mayPrune(piece.message.toolName);
  let trimmed = 0;
  let prunable = 0;
  const shorter = pieces.map((piece, at) => {
    if (at >= cutoff || !isCandidate(piece)) return piece;
    const trimmedPiece = trim(piece, settings.softTrim);
    if (trimmedPiece) trimmed += 1;
    const next = trimmedPiece ?? piece;
    total += next.chars - piece.chars;
    prunable += next.chars;
    return next;
  });
  if (!settings.hardClear.enabled || prunable < settings.minPrunableToolChars) return { pieces: shorter, trimmed, cleared: 0 };
  let cleared = 0;
  const fewer = shorter.map((piece, at) => {
    if (at >= cutoff || total <= window * settings.hardClearRatio || !isCandidate(piece)) return piece;
    const gone = withText(piece, settings.hardClear.placeholder);
    if (gone.chars >= piece.chars) return piece;
    total += gone.chars - piece.chars;
    cleared += 1;
    return gone;
  });
  return { pieces: fewer, trimmed, cleared };
}

/** Position of the first of the last answers, after which nothing is pruned; undefined when there are fewer. */
function cutoffOf(pieces: readonly Piece[], keep: number): number | undefined {
  if (keep <= 0) return pieces.length;
  let left = keep;
  const at = pieces.findLastIndex(({ message }) => message.role === "assistant" && (left -= 1) === 0);
  return at < 0 ? undefined : at;
}

/** The same result with one text in place of its content. */
function withText(piece: Piece<ToolResultMessage>, text: string): Piece<ToolResultMessage> {
  return { ...piece, message: { ...piece.message, content: [{ type: "text", text }] }, chars: text.length, images: 0 };
}

function trim(piece: Piece<ToolResultMessage>, { maxChars, headChars, tailChars }: PruningSettings["softTrim"]): Piece<ToolResultMessage> | undefined {
  if (piece.chars <= maxChars) return undefined;
  const text = piece.message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const shorter = `${cut(text, headChars)}\n...\n${cutFront(text, tailChars)}\n\n[shortened: first ${headChars} and last ${tailChars} of ${text.length} characters]`;
  return shorter.length < text.length ? withText(piece, shorter) : undefined;
}

function toolFilter({ allow, deny }: PruningSettings["tools"]): (tool: string) => boolean {
  const allowed = allow.map(pattern);
  const denied = deny.map(pattern);
  return (tool) => !denied.some((test) => test.test(tool)) && (allowed.length === 0 || allowed.some((test) => test.test(tool)));
}

/** `*` stands for anything, letters in any case. */
function pattern(text: string): RegExp {
  return new RegExp(`^${text.trim().split("*").map(RegExp.escape).join(".*")}$`, "is");
}

/** Share of what stays that comes from the beginning of a result; the rest is its end, where errors stand. */
const HEAD_SHARE = 0.7;

/** The beginning and the end of a result's text within `maxChars`, with a note of what is missing; images stay. Undefined when it is short enough. */
export function cutResult(message: ToolResultMessage, maxChars: number): ToolResultMessage | undefined {
  const total = textChars(message);
  if (total <= maxChars) return undefined;
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const note = `\n[… cut: ${total} characters were too many for the model's window …]\n`;
  const available = Math.max(maxChars - note.length, 0);
  const head = cut(text, Math.ceil(available * HEAD_SHARE));
  const shorter = `${head}${note}${cutFront(text, available - head.length)}`.trim();
  return { ...message, content: [{ type: "text", text: shorter }, ...message.content.filter((part) => part.type === "image")] };
}

/** Applies the last such mark of the path to the results above it. */
export function cutMarked(path: readonly PathItem[], pieces: readonly Piece[]): { readonly pieces: readonly Piece[]; readonly cut: number } {
  const markedAt = path.findLastIndex(({ resultChars }) => resultChars !== undefined);
  const maxChars = path[markedAt]?.resultChars ?? Number.POSITIVE_INFINITY;
  let count = 0;
  const out = pieces.map((piece) => {
    const shorter = piece.at < markedAt && isResult(piece) && piece.chars > maxChars ? cutResult(piece.message, maxChars) : undefined;
    if (!shorter) return piece;
    count += 1;
    return { ...piece, message: shorter, chars: messageChars(shorter) };
  });
  return { pieces: count === 0 ? pieces : out, cut: count };
}

const REMOVED = "[tool result removed: the conversation would not fit the model's window]";

export interface Guarded {
  readonly pieces: readonly Piece[];
  readonly guarded: number;
  /** False when there is nothing left to remove and it is still too much: only compaction helps. */
  readonly fits: boolean;
}

/** Cuts what one result may not exceed, then removes the oldest results until all of it fits. */
export function guard(pieces: readonly Piece[], windowTokens: number): Guarded {
  const { result: most, total: budget } = limitsOf(windowTokens);
  let guarded = 0;
  let total = 0;
  const shorter = pieces.map((piece) => {
    const cutPiece = isResult(piece) && piece.chars > most ? shorterResult(piece, most) : undefined;
    if (cutPiece) guarded += 1;
    total += weightOf(cutPiece ?? piece);
    return cutPiece ?? piece;
  });
  if (total <= budget) return { pieces: guarded === 0 ? pieces : shorter, guarded, fits: true };
  const fewer = shorter.map((piece) => {
    if (total <= budget || !isResult(piece)) return piece;
    const gone = withText(piece, REMOVED);
    const gain = weightOf(piece) - weightOf(gone);
    if (gain <= 0) return piece;
    guarded += 1;
    total -= gain;
    return gone;
  });
  return { pieces: fewer, guarded, fits: total <= budget };
}

/** The beginning and the end of a result's text, with a note; images stay. Undefined when its text is short enough. */
function shorterResult(piece: Piece<ToolResultMessage>, most: number): Piece | undefined {
  const shorter = cutResult(piece.message, most);
  return shorter && { ...piece, message: shorter, chars: piece.chars - textChars(piece.message) + textChars(shorter) };
}
