import type { ToolResultMessage } from "../../protocol/index.ts";
import type { PathItem } from "./item.ts";
import type { Piece } from "./piece.ts";
import type { PruningSettings } from "./settings.ts";
import { cut, cutFront } from "./value.ts";

const CHARS_PER_TOKEN = 4;

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
 * Up to which place of the path results were, or are now, pruned: the last time a request came later than `ttl` after the one before. Between
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
  const cutoff = cutoffOf(pieces, end, settings.keepLastAssistants);
  let total = 0;
  for (let at = 0; at < end; at += 1) total += pieces[at]!.chars;
  if (cutoff === undefined || total <= window * settings.softTrimRatio) return { pieces, trimmed: 0, cleared: 0 };
  const out = [...pieces];

  const mayPrune = toolFilter(settings.tools);
  const places: number[] = [];
  for (let at = 0; at < cutoff; at += 1) if (isTextResult(out[at]!) && mayPrune((out[at]!.message as ToolResultMessage).toolName)) places.push(at);

  let trimmed = 0;
  for (const at of places) {
    const shorter = trim(out[at]!, settings.softTrim);
    if (!shorter) continue;
    total += shorter.chars - out[at]!.chars;
    out[at] = shorter;
    trimmed += 1;
  }
  const prunable = places.reduce((sum, at) => sum + out[at]!.chars, 0);
  let cleared = 0;
  if (settings.hardClear.enabled && prunable >= settings.minPrunableToolChars) {
    for (const at of places) {
      if (total <= window * settings.hardClearRatio) break;
      const gone = withText(out[at]!, settings.hardClear.placeholder);
      if (gone.chars >= out[at]!.chars) continue;
      total += gone.chars - out[at]!.chars;
      out[at] = gone;
      cleared += 1;
    }
  }
  return { pieces: out, trimmed, cleared };
}

/** Place of the first of the last answers, after which nothing is pruned; undefined when there are fewer. */
function cutoffOf(pieces: readonly Piece[], end: number, keep: number): number | undefined {
  if (keep <= 0) return end;
  let left = keep;
  for (let at = end - 1; at >= 0; at -= 1) {
    if (pieces[at]!.message.role !== "assistant") continue;
    left -= 1;
    if (left === 0) return at;
  }
  return undefined;
}

const isTextResult = ({ message, images }: Piece): boolean => message.role === "toolResult" && images === 0;

/** The same result with one text in place of its content. */
export function withText(piece: Piece, text: string): Piece {
  const message = piece.message as ToolResultMessage;
  return { ...piece, message: { ...message, content: [{ type: "text", text }] }, chars: text.length, images: 0 };
}

function trim(piece: Piece, { maxChars, headChars, tailChars }: PruningSettings["softTrim"]): Piece | undefined {
  if (piece.chars <= maxChars) return undefined;
  const text = (piece.message as ToolResultMessage).content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
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
