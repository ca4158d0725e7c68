/** Documents of messages, as blocks for the prompt. */
import { readFile, stat } from "node:fs/promises";
import { AppError } from "../base/errors.ts";
import { formatBytes } from "../base/text.ts";
import { documentKind, extractOriginalFilename, type DocumentLimits, type DocumentText } from "../media/index.ts";
import type { UnderstandingDeps } from "./deps.ts";
import type { ReceivedFile } from "./types.ts";

/** Of the model's context window, in characters of four to a token. */
const WINDOW_SHARE = 0.25;
const CHARS_PER_TOKEN = 4;
const MESSAGE_CHARS = 50_000;
const MESSAGE_PAGES = 100;
const SCAN_CHARS = 200;
const MAX_BYTES = 25 * 1024 * 1024;

/** Limits of a message's document: what is set for files of requests, else more pages and fewer characters, and never most of the context window. */
export function messageLimits({ config }: UnderstandingDeps, windowTokens: number | undefined): DocumentLimits {
  const { maxChars, timeoutMs, pdf } = config.current.gateway?.http?.endpoints?.responses?.files ?? {};
  const most = windowTokens === undefined ? MESSAGE_CHARS : Math.floor(windowTokens * CHARS_PER_TOKEN * WINDOW_SHARE);
  return {
    maxChars: Math.min(maxChars ?? MESSAGE_CHARS, most),
    maxPages: pdf?.maxPages ?? MESSAGE_PAGES,
    minTextChars: pdf?.minTextChars ?? SCAN_CHARS,
    ...(pdf?.maxPixels === undefined ? {} : { maxPixels: pdf.maxPixels }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** Undefined: this is no document. Rejects with the reason when it cannot be read. */
export async function readMessageFile(
  deps: UnderstandingDeps,
  { path, mimeType }: ReceivedFile,
  limits: DocumentLimits,
  signal: AbortSignal,
): Promise<DocumentText | undefined> {
  if (path === undefined || documentKind(mimeType) === undefined) return undefined;
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new AppError("INVALID_INPUT", `it has ${formatBytes(size)}; at most ${formatBytes(MAX_BYTES)} are read`);
  return await deps.documents.read({ data: await readFile(path), mimeType, fileName: path }, limits, signal);
}

export const displayName = ({ path }: ReceivedFile): string => (path === undefined ? "file" : extractOriginalFilename(path));
