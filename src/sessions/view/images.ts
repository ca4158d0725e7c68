import type { ImageContent, TextContent } from "../../protocol/index.ts";
import { formatBytes } from "../../base/text.ts";
import { checkImage } from "../../base/image-check.ts";
import { fieldsOf, textOf } from "./value.ts";

/** Decoded size above which providers refuse an image. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,100};base64,/;

const note = (text: string): TextContent => ({ type: "text", text: `[image left out: ${text}]` });

/** An image block as providers take it, or a note in its place. What it claims to be does not count, its bytes do. */
export function readImage(block: unknown, maxBytes = MAX_IMAGE_BYTES): ImageContent | TextContent {
  const data = textOf(fieldsOf(block)?.["data"])?.replace(DATA_URL, "") ?? "";
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > maxBytes) return note(`${formatBytes(bytes)} is more than ${formatBytes(maxBytes)}`);
  if (data.length % 4 !== 0 || !BASE64.test(data)) return note(data === "" ? "it is empty" : "its data is damaged");
  const { type, problem } = checkImage(Buffer.from(data, "base64"));
  return problem === undefined ? { type: "image", data, mimeType: type } : note(problem);
}

/** Stands where an image was that is too old to be shown again. */
export const OLDER_IMAGE: TextContent = note("later ones are shown instead");

/** Stands where an image was that the provider refused. */
export const REFUSED_IMAGE: TextContent = note("the provider refused the pictures that were sent up to here");
