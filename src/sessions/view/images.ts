import type { ImageContent, TextContent } from "../../protocol/index.ts";
import { formatBytes } from "../../base/text.ts";
import { fieldsOf, textOf } from "./value.ts";

/** Decoded size above which providers refuse an image. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** How the first bytes of each kind look in base64. */
const KINDS = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
] as const;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,100};base64,/;

const note = (text: string): TextContent => ({ type: "text", text: `[image left out: ${text}]` });

/** An image block as providers take it, or a note in its place. What it claims to be does not count, what it begins with does. */
export function readImage(block: unknown, maxBytes = MAX_IMAGE_BYTES): ImageContent | TextContent {
  const data = textOf(fieldsOf(block)?.["data"])?.replace(DATA_URL, "") ?? "";
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > maxBytes) return note(`${formatBytes(bytes)} is more than ${formatBytes(maxBytes)}`);
  const mimeType = KINDS.find(([start]) => data.startsWith(start))?.[1];
  if (mimeType === undefined) return note("no PNG, JPEG, GIF or WebP");
  return data.length % 4 === 0 && BASE64.test(data) ? { type: "image", data, mimeType } : note("its data is damaged");
}

/** Stands where an image was that is too old to be shown again. */
export const OLDER_IMAGE: TextContent = note("later ones are shown instead");
