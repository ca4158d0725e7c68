import { maskValue } from "../../base/secret-search.ts";
import type { ImageContent, TextContent } from "../../protocol/index.ts";
import { middleLeftOut } from "../process/shown-output.ts";
import type { ToolOutcome } from "../tool.ts";
import { isRecord } from "../../base/records.ts";

/** Longest text of a result that is kept. */
export const MAX_RESULT_CHARS = 400_000;
/** Characters left for the notes about what was cut. */
const NOTE_CHARS = 200;
/** Most that the images of a result have together, as base64. */
const MAX_IMAGE_CHARS = 24 * 1024 * 1024;
/** Longest `details` that are kept, as JSON. */
const MAX_DETAILS_CHARS = 64_000;
const MAX_PARTS = 64;
/** Less than this of a text tells nothing. */
const LEAST_SHOWN_CHARS = 1000;

type Mask = (text: string) => string;
const asIs: Mask = (text) => text;

/**
 * A result as it may be kept and shown: of the right shape, bounded, without cycles and without registered secrets. Whatever a tool returns, this is what
 * everybody else sees.
 */
export function boundedOutcome(tool: string, raw: unknown, mask: Mask = asIs): ToolOutcome {
  const found = isRecord(raw) ? raw : {};
  const parts = Array.isArray(found["content"]) ? found["content"].slice(0, MAX_PARTS).flatMap((part) => contentPart(part, mask)) : [];
  const content = parts.length > 0 || Array.isArray(found["content"]) ? cut(parts) : [{ type: "text" as const, text: mask(plainText(tool, raw)) }];
  const details = maskValue(boundedDetails(found["details"]), mask);
  return {
    content,
    ...(details === undefined ? {} : { details }),
    isError: found["isError"] === true,
    ...(found["terminate"] === true ? { terminate: true } : {}),
  };
}

function contentPart(part: unknown, mask: Mask): (TextContent | ImageContent)[] {
  if (!isRecord(part)) return [];
  if (part["type"] === "text" && typeof part["text"] === "string") return [{ type: "text", text: mask(part["text"]) }];
  if (part["type"] === "image" && typeof part["data"] === "string" && typeof part["mimeType"] === "string") {
    return [{ type: "image", data: part["data"], mimeType: part["mimeType"] }];
  }
  return [];
}

/** Of a text that is too long the beginning and the end stay; a note says what is missing. */
function cut(parts: readonly (TextContent | ImageContent)[]): readonly (TextContent | ImageContent)[] {
  const left = { text: MAX_RESULT_CHARS - NOTE_CHARS, image: MAX_IMAGE_CHARS };
  const gone = { text: 0, image: 0 };
  const kept = parts.flatMap((part): (TextContent | ImageContent)[] => {
    if (part.type === "image") {
      if (part.data.length > left.image) return ((gone.image += 1), []);
      left.image -= part.data.length;
      return [part];
    }
    if (part.text.length <= left.text) {
      left.text -= part.text.length;
      return [part];
    }
    const most = left.text;
    left.text = 0;
    if (most > LEAST_SHOWN_CHARS) return [{ type: "text", text: middleLeftOut(part.text, most) }];
    gone.text += part.text.length;
    return [];
  });
  if (gone.text > 0) kept.push({ type: "text", text: `[${gone.text} more characters were cut off]` });
  if (gone.image > 0) kept.push({ type: "text", text: `[${gone.image} images were too large and were left out]` });
  return kept;
}

/** A tool that returned something else than a result: what it was, in words. */
function plainText(tool: string, raw: unknown): string {
  if (typeof raw === "string") return raw;
  return raw === undefined || raw === null ? `(${tool} returned nothing)` : (json(raw) ?? `(${tool} returned an invalid result)`);
}

/** Too large or not writable: a summary stands for them. */
export function boundedDetails(details: unknown): unknown {
  if (details === undefined) return undefined;
  const text = json(details);
  if (text !== undefined && text.length <= MAX_DETAILS_CHARS) {
    const copy: unknown = JSON.parse(text);
    return copy;
  }
  const keys = isRecord(details) ? Object.keys(details).slice(0, 20) : [];
  return { persistedDetailsTruncated: true, ...(text === undefined ? { reason: "not JSON" } : { chars: text.length }), ...(keys.length > 0 ? { keys } : {}) };
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
