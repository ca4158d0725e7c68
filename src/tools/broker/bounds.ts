import type { ImageContent, TextContent } from "../../protocol/index.ts";
import type { ToolOutcome } from "../tool.ts";

/** Longest text of a result that is kept. */
export const MAX_RESULT_CHARS = 400_000;
/** Longest `details` that are kept, as JSON. */
const MAX_DETAILS_CHARS = 64_000;
const MAX_PARTS = 64;

/** A result as it may be kept and shown: of the right shape, bounded, without cycles. Whatever a tool returns, this is what everybody else sees. */
export function boundedOutcome(tool: string, raw: unknown): ToolOutcome {
  const found = isRecord(raw) ? raw : {};
  const parts = Array.isArray(found["content"]) ? found["content"].slice(0, MAX_PARTS).flatMap((part) => contentPart(part)) : [];
  const content = parts.length > 0 || Array.isArray(found["content"]) ? cut(parts) : [{ type: "text" as const, text: plainText(tool, raw) }];
  const details = boundedDetails(found["details"]);
  return {
    content,
    ...(details === undefined ? {} : { details }),
    isError: found["isError"] === true,
    ...(found["terminate"] === true ? { terminate: true } : {}),
  };
}

function contentPart(part: unknown): (TextContent | ImageContent)[] {
  if (!isRecord(part)) return [];
  if (part["type"] === "text" && typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
  if (part["type"] === "image" && typeof part["data"] === "string" && typeof part["mimeType"] === "string") {
    return [{ type: "image", data: part["data"], mimeType: part["mimeType"] }];
  }
  return [];
}

function cut(parts: readonly (TextContent | ImageContent)[]): readonly (TextContent | ImageContent)[] {
  let left = MAX_RESULT_CHARS;
  return parts.map((part) => {
    if (part.type !== "text" || part.text.length <= left) {
      if (part.type === "text") left -= part.text.length;
      return part;
    }
    const kept = part.text.slice(0, left);
    const gone = part.text.length - kept.length;
    left = 0;
    return { type: "text", text: `${kept}\n\n[${gone} more characters were cut off]` };
  });
}

/** A tool that returned something else than a result: what it was, in words. */
function plainText(tool: string, raw: unknown): string {
  if (typeof raw === "string") return raw;
  return raw === undefined || raw === null ? `(${tool} returned nothing)` : (json(raw) ?? `(${tool} returned something that is no result)`);
}

/** Too large or not writable: a summary stands for them. */
function boundedDetails(details: unknown): unknown {
  if (details === undefined) return undefined;
  const text = json(details);
  if (text !== undefined && text.length <= MAX_DETAILS_CHARS) return JSON.parse(text) as unknown;
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
