import { isRecord } from "../../base/records.ts";
import type { AssistantMessage, ModelMessage, ToolResultMessage, TranscriptEntry } from "../../protocol/index.ts";
import { CUSTOM } from "../transcript.ts";
import { messageChars } from "../usage.ts";
import { countOf, filledText, readMessage, readUserMessage } from "./read-message.ts";

/** One entry of a path, read once. What it means to a model does not depend on its neighbours, so it can be held from turn to turn. */
export interface PathItem {
  /** As it was stored. In an open session only `type` and `id`, unless it is a summary: the rest is in the other fields. */
  readonly entry: TranscriptEntry;
  /** What a model sees of it, when it is within the context. */
  readonly message?: ModelMessage;
  /** Characters of `message`. */
  readonly chars: number;
  /** Images in `message`. */
  readonly images: number;
  /** Set on a compaction: where the part begins that stays word for word. */
  readonly firstKeptId?: string;
  /** Set where tool results above are cut to so many characters. */
  readonly resultChars?: number;
  /** Set on a message that the user wrote, as opposed to another session or a program. */
  readonly byUser?: true;
  /** Set where the images above are left out. */
  readonly leavesOutImages?: true;
  /** Set on a result that shows a page which later results show again. `whole`: those before it with this key say nothing more about the page. */
  readonly page?: { readonly key: string; readonly whole: boolean };
  /** When the provider's prompt cache was used, and by what, if this entry says so. */
  readonly touch?: { readonly at: number; readonly provider: string; readonly model: string };
}

const summaryTag = (lead: string, summary: string): string => `${lead}\n\n<summary>\n${summary.replaceAll("</summary>", "<\\/summary>").trim()}\n</summary>`;

/** How a model is shown what a compaction left of the conversation. */
export function compactionText(summary: string): string {
  return summaryTag("This conversation started earlier; this summary covers what happened up to here:", summary);
}

export function branchText(summary: string): string {
  return summaryTag("The conversation was continued from an earlier point; this is what happened on the branch that was left:", summary);
}

function entryMessage(entry: TranscriptEntry): ModelMessage | undefined {
  const { type, timestamp } = entry;
  const at = countOf(typeof timestamp === "string" ? Date.parse(timestamp) : timestamp);
  if (type === "message") return readMessage(entry["message"], at);
  if (type === "custom_message") return readUserMessage(entry["content"], at);
  if (type !== "compaction" && type !== "branch_summary") return undefined;
  const summary = filledText(entry["summary"]);
  return summary === undefined ? undefined : readUserMessage(type === "compaction" ? compactionText(summary) : branchText(summary), at);
}

/** What an entry means for others on its path. */
type Marks = Pick<PathItem, "firstKeptId" | "resultChars" | "byUser" | "leavesOutImages" | "page" | "touch">;

function marksOf(entry: TranscriptEntry, message: ModelMessage | undefined): Marks {
  if (entry.type === "compaction") return { firstKeptId: filledText(entry["firstKeptEntryId"]) ?? "" };
  if (entry.type === "custom") return customMarks(entry["customType"], isRecord(entry["data"]) ? entry["data"] : {});
  if (entry.type !== "message" || !message) return {};
  if (message.role === "assistant") {
    // The gateway's own messages and failed calls touched no cache.
    const asked = message.usage.totalTokens > 0 && message.stopReason !== "error";
    return asked ? { touch: { at: message.timestamp, provider: message.provider, model: message.model } } : {};
  }
  const stored = entry["message"];
  if (message.role === "toolResult") return isRecord(stored) ? pageMark(stored["details"]) : {};
  return isRecord(stored) && stored["role"] === "user" && stored["provenance"] === undefined ? { byUser: true } : {};
}

/** What a tool says in the details of its result: `{page: {key, whole}}`. */
function pageMark(details: unknown): Marks {
  const page = isRecord(details) ? details["page"] : undefined;
  const key = isRecord(page) ? filledText(page["key"]) : undefined;
  return key === undefined || !isRecord(page) ? {} : { page: { key, whole: page["whole"] === true } };
}

/** Fewer would say nothing. */
const LEAST_RESULT_CHARS = 200;

function customMarks(customType: unknown, data: Readonly<Record<string, unknown>>): Marks {
  if (customType === CUSTOM.imagesLeftOut) return { leavesOutImages: true };
  if (customType === CUSTOM.resultsCut) {
    const chars = countOf(data["maxChars"]);
    return chars === 0 ? {} : { resultChars: Math.max(chars, LEAST_RESULT_CHARS) };
  }
  const at = customType === CUSTOM.cacheTouch ? countOf(data["timestamp"]) : 0;
  return at === 0 ? {} : { touch: { at, provider: filledText(data["provider"]) ?? "", model: filledText(data["modelId"]) ?? "" } };
}

/** Reads an entry for the view. Never throws: what cannot be read is left out of the view. */
export function pathItem(entry: TranscriptEntry): PathItem {
  try {
    const message = entryMessage(entry);
    const marks = marksOf(entry, message);
    return message ? { entry, message, chars: messageChars(message), images: imagesIn(message), ...marks } : { entry, chars: 0, images: 0, ...marks };
  } catch {
    return { entry, chars: 0, images: 0 };
  }
}

/** Entries whose other fields are still needed once they were read: a compaction goes on from the summary before it. */
const WHOLE: readonly string[] = ["compaction", "branch_summary"];

/** The same for an open session, which holds many of them for long: without a second copy of what `message` has. */
export function heldItem(entry: TranscriptEntry): PathItem {
  const item = pathItem(entry);
  if (WHOLE.includes(entry.type)) return item;
  return { ...item, entry: entry.id === undefined ? { type: entry.type } : { type: entry.type, id: entry.id } };
}

/** A message on its way into the view. */
export interface Piece<M extends ModelMessage = ModelMessage> {
  readonly message: M;
  /** Characters of `message`. */
  readonly chars: number;
  /** Images in `message`. */
  readonly images: number;
  /** Position on the path of the entry it was made from. */
  readonly at: number;
}

export function isResult(piece: Piece): piece is Piece<ToolResultMessage> {
  return piece.message.role === "toolResult";
}

export function isAnswer(piece: Piece): piece is Piece<AssistantMessage> {
  return piece.message.role === "assistant";
}

export function imagesIn({ content }: ModelMessage): number {
  let images = 0;
  if (typeof content !== "string") for (const part of content) if (part.type === "image") images += 1;
  return images;
}

/** Share of the window, at two characters a token, that one result may take. */
const RESULT_SHARE = 0.5;
const RESULT_CHARS_PER_TOKEN = 2;
/** Share of the window, at four characters a token, that all messages may take. */
const TOTAL_SHARE = 0.75;
const CHARS_PER_TOKEN = 4;
/** What tool results count more than text, since code and data make more tokens. */
const RESULT_WEIGHT = 2;
const IMAGE_CHARS = 8_000;

/** What fits a window: characters of one result, and the weight of all messages. */
export function limitsOf(windowTokens: number): { readonly result: number; readonly total: number } {
  return { result: Math.floor(windowTokens * RESULT_CHARS_PER_TOKEN * RESULT_SHARE), total: windowTokens * CHARS_PER_TOKEN * TOTAL_SHARE };
}

/** What a message weighs, in characters of text. */
export function weightOf({ message, chars, images }: Piece): number {
  // `chars` holds an image's price in tokens; here it has its own.
  const text = images === 0 ? chars : textChars(message);
  return (message.role === "toolResult" ? text * RESULT_WEIGHT : text) + images * IMAGE_CHARS;
}

export function textChars({ content }: ModelMessage): number {
  if (typeof content === "string") return content.length;
  let chars = 0;
  for (const part of content) if (part.type === "text") chars += part.text.length;
  return chars;
}

/** The part of a path that a model sees. */
export interface Context {
  readonly pieces: readonly Piece[];
  /** Position of the compaction at its beginning; -1 without one. */
  readonly compactedAt: number;
  readonly unreadable: number;
}

export const isCompaction = ({ firstKeptId }: PathItem): boolean => firstKeptId !== undefined;

/** Where the part of a path begins that is still needed: what the last compaction kept. 0 without a compaction. */
export function keptFrom(items: readonly PathItem[]): number {
  const compactedAt = items.findLastIndex(isCompaction);
  const compaction = items[compactedAt];
  if (!compaction) return 0;
  const kept = items.findLastIndex((item, at) => at < compactedAt && item.entry.id === compaction.firstKeptId);
  return kept < 0 ? compactedAt : kept;
}

/** With a compaction on the path: its summary, what it kept, and what came after. Summaries of earlier ones are part of the last. */
export function contextOf(items: readonly PathItem[]): Context {
  const compactedAt = items.findLastIndex(isCompaction);
  const rest = contextFrom(items, compactedAt < 0 ? 0 : keptFrom(items));
  const { message, chars = 0, images = 0 } = items[compactedAt] ?? {};
  const pieces = message ? [{ message, chars, images, at: compactedAt }, ...rest.pieces] : rest.pieces;
  return { pieces, compactedAt, unreadable: rest.unreadable };
}

/** The messages of a path from a position on, compactions excepted. */
export function contextFrom(items: readonly PathItem[], from: number): Context {
  const pieces: Piece[] = [];
  let unreadable = 0;
  for (const [n, { message, chars, images, entry, firstKeptId }] of items.slice(from).entries()) {
    if (firstKeptId !== undefined) continue;
    if (message) pieces.push({ message, chars, images, at: from + n });
    else if (entry.type === "message" || entry.type === "custom_message") unreadable += 1;
  }
  return { pieces, compactedAt: -1, unreadable };
}
