/** File types, by name and by their first bytes. */
import { basename, extname } from "node:path";

export type MediaKind = "image" | "audio" | "video" | "document" | "unknown";

/** The first extension of a type is used for new files. */
const TYPES: readonly (readonly [mime: string, ...extensions: string[]])[] = [
  ["image/jpeg", ".jpg", ".jpeg"],
  ["image/png", ".png"],
  ["image/webp", ".webp"],
  ["image/gif", ".gif"],
  ["image/heic", ".heic"],
  ["image/heif", ".heif"],
  ["image/svg+xml", ".svg"],
  ["audio/ogg", ".ogg", ".oga", ".opus"],
  ["audio/mpeg", ".mp3"],
  ["audio/mp4", ".m4a"],
  ["audio/x-m4a", ".m4a"],
  ["audio/aac", ".aac"],
  ["audio/flac", ".flac"],
  ["audio/wav", ".wav"],
  ["video/mp4", ".mp4"],
  ["video/quicktime", ".mov"],
  ["video/webm", ".webm"],
  ["application/pdf", ".pdf"],
  ["application/json", ".json"],
  ["application/zip", ".zip"],
  ["application/gzip", ".gz"],
  ["application/x-tar", ".tar"],
  ["application/x-7z-compressed", ".7z"],
  ["application/vnd.rar", ".rar"],
  ["application/msword", ".doc"],
  ["application/vnd.ms-excel", ".xls"],
  ["application/vnd.ms-powerpoint", ".ppt"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"],
  ["text/plain", ".txt"],
  ["text/markdown", ".md"],
  ["text/csv", ".csv"],
  ["text/html", ".html", ".htm"],
];

const GENERIC: ReadonlySet<string> = new Set(["application/octet-stream", "binary/octet-stream", "application/zip"]);

/** `Image/JPEG; q=1` → `image/jpeg`. */
export function normalizeMimeType(mime?: string | null): string | undefined {
  return mime?.split(";")[0]?.trim().toLowerCase() || undefined;
}

/** In lower case with its dot, also of a URL. */
export function getFileExtension(filePath?: string | null): string | undefined {
  if (!filePath) return undefined;
  const path = /^https?:\/\//i.test(filePath) && URL.canParse(filePath) ? new URL(filePath).pathname : filePath;
  return extname(path).toLowerCase() || undefined;
}

export function extensionForMime(mime?: string | null): string | undefined {
  const wanted = normalizeMimeType(mime);
  return TYPES.find(([type]) => type === wanted)?.[1];
}

function mimeForExtension(extension: string | undefined): string | undefined {
  return extension === undefined ? undefined : TYPES.find(([, ...extensions]) => extensions.includes(extension))?.[0];
}

const SIGNATURES: readonly (readonly [mime: string, offset: number, bytes: string])[] = [
  ["image/jpeg", 0, "ffd8ff"],
  ["image/png", 0, "89504e470d0a1a0a"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
  ["audio/wav", 8, "57415645"],
  ["audio/ogg", 0, "4f676753"],
  ["audio/flac", 0, "664c6143"],
  ["audio/mpeg", 0, "494433"],
  ["audio/mpeg", 0, "fffb"],
  ["video/webm", 0, "1a45dfa3"],
  ["application/pdf", 0, "25504446"],
  ["application/zip", 0, "504b0304"],
  ["application/gzip", 0, "1f8b"],
  ["application/x-7z-compressed", 0, "377abcaf271c"],
  ["application/vnd.rar", 0, "526172211a07"],
];

function sniffed(buffer: Uint8Array): string | undefined {
  const hex = Buffer.from(buffer.subarray(0, 16)).toString("hex");
  const brand = hex.slice(8, 16) === "66747970" ? Buffer.from(buffer.subarray(8, 12)).toString("latin1") : undefined;
  if (brand !== undefined)
    return brand.startsWith("M4A") ? "audio/mp4" : brand.startsWith("hei") ? "image/heic" : brand === "qt  " ? "video/quicktime" : "video/mp4";
  return SIGNATURES.find(([, offset, bytes]) => hex.startsWith(bytes, offset * 2))?.[0];
}

/** By content, unless that only says "an archive"; then by name, then by the sender's claim. */
export async function detectMime(params: {
  buffer?: Uint8Array | undefined;
  headerMime?: string | null | undefined;
  filePath?: string | undefined;
}): Promise<string | undefined> {
  const bytes = params.buffer ? sniffed(params.buffer) : undefined;
  const name = mimeForExtension(getFileExtension(params.filePath));
  const header = normalizeMimeType(params.headerMime);
  const found = [bytes, name, header].filter((mime) => mime !== undefined);
  return found.find((mime) => !GENERIC.has(mime)) ?? found[0];
}

export function mediaKindFromMime(mime?: string | null): MediaKind {
  const type = normalizeMimeType(mime);
  const family = type?.split("/")[0];
  if (family === "image" || family === "audio" || family === "video") return family;
  return family === "application" || family === "text" ? "document" : "unknown";
}

/** The original name of a stored file: `<name>---<uuid>.<ext>`. */
export function extractOriginalFilename(filePath: string): string {
  const name = basename(filePath);
  const match = /^(.+)---[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(\.[^.]*)?$/i.exec(name);
  return match ? `${match[1]}${match[2] ?? ""}` : name || "file.bin";
}
