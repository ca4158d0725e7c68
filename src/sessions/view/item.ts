import type { ModelMessage, TranscriptEntry } from "../../protocol/index.ts";
import { CUSTOM } from "../transcript/custom.ts";
import { messageChars } from "../tokens.ts";
import { imagesIn } from "./piece.ts";
import { readMessage, userMessage } from "./read-message.ts";
import { countOf, fieldsOf, filledText } from "./value.ts";

/** One entry of a path, read once. What it means to a model does not depend on its neighbours, so it can be kept from turn to turn. */
export interface PathItem {
  /** As it was stored. Of one that a session's memory holds only `type` and `id`, unless it is a summary: the rest is in the other fields. */
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
  /** When the provider's prompt cache was used, and by what, if this entry tells. */
  readonly touch?: { readonly at: number; readonly provider: string; readonly model: string };
}

const summaryTag = (lead: string, summary: string): string => `${lead}\n\n<summary>\n${summary.replaceAll("</summary>", "<\\/summary>").trim()}\n</summary>`;

/** How a model is told what a compaction left of the conversation. */
export function compactionText(summary: string): string {
  return summaryTag("This conversation began earlier; what happened up to here was condensed into this summary:", summary);
}

export function branchText(summary: string): string {
  return summaryTag("The conversation was continued from an earlier point; this is what happened on the way that was left:", summary);
}

function entryMessage(entry: TranscriptEntry, at: number): ModelMessage | undefined {
  switch (entry.type) {
    case "message":
      return readMessage(entry["message"], at);
    case "custom_message":
      return userMessage(entry["content"], at);
    case "compaction":
    case "branch_summary": {
      const summary = filledText(entry["summary"]);
      return summary === undefined ? undefined : userMessage(entry.type === "compaction" ? compactionText(summary) : branchText(summary), at);
    }
    default:
      return undefined;
  }
}

function timeOf(entry: TranscriptEntry): number {
  const { timestamp } = entry;
  return countOf(typeof timestamp === "string" ? Date.parse(timestamp) : timestamp);
}

function touchOf(entry: TranscriptEntry, message: ModelMessage | undefined): PathItem["touch"] {
  if (message?.role === "assistant") {
    // The gateway's own words and failed calls touched no cache.
    const asked = message.usage.totalTokens > 0 && message.stopReason !== "error";
    return asked ? { at: message.timestamp, provider: message.provider, model: message.model } : undefined;
  }
  if (entry.type !== "custom" || entry["customType"] !== CUSTOM.cacheTouch) return undefined;
  const data = fieldsOf(entry["data"]);
  const at = countOf(data?.["timestamp"]);
  return at === 0 ? undefined : { at, provider: filledText(data?.["provider"]) ?? "", model: filledText(data?.["modelId"]) ?? "" };
}

/** Fewer would say nothing. */
const LEAST_RESULT_CHARS = 200;

function resultCharsOf(entry: TranscriptEntry): number | undefined {
  if (entry.type !== "custom" || entry["customType"] !== CUSTOM.resultsCut) return undefined;
  const chars = countOf(fieldsOf(entry["data"])?.["maxChars"]);
  return chars === 0 ? undefined : Math.max(chars, LEAST_RESULT_CHARS);
}

function isByUser(entry: TranscriptEntry, message: ModelMessage | undefined): boolean {
  if (entry.type !== "message" || message?.role !== "user") return false;
  const stored = fieldsOf(entry["message"]);
  return stored?.["role"] === "user" && stored["provenance"] === undefined;
}

/** Reads an entry for the view. Never throws: what cannot be read says nothing. */
export function pathItem(entry: TranscriptEntry): PathItem {
  try {
    const message = entryMessage(entry, timeOf(entry));
    const firstKept = entry.type === "compaction" ? filledText(entry["firstKeptEntryId"]) : undefined;
    const touch = touchOf(entry, message);
    const resultChars = resultCharsOf(entry);
    const leavesOutImages = entry.type === "custom" && entry["customType"] === CUSTOM.imagesLeftOut;
    return {
      entry,
      chars: message ? messageChars(message) : 0,
      images: message ? imagesIn(message) : 0,
      ...(message ? { message } : {}),
      ...(entry.type === "compaction" ? { firstKeptId: firstKept ?? "" } : {}),
      ...(isByUser(entry, message) ? { byUser: true } : {}),
      ...(touch ? { touch } : {}),
      ...(resultChars === undefined ? {} : { resultChars }),
      ...(leavesOutImages ? { leavesOutImages } : {}),
    };
  } catch {
    return { entry, chars: 0, images: 0 };
  }
}

/** Entries whose other fields are still needed once they were read: a compaction goes on from the summary before it. */
const WHOLE: readonly string[] = ["compaction", "branch_summary"];

/** The same for a session's memory, which holds many of them for long: without a second copy of what `message` says. */
export function heldItem(entry: TranscriptEntry): PathItem {
  const item = pathItem(entry);
  if (WHOLE.includes(entry.type)) return item;
  return { ...item, entry: entry.id === undefined ? { type: entry.type } : { type: entry.type, id: entry.id } };
}
