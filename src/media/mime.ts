/** File types, by their first bytes and by name. */
import { isUtf8 } from "node:buffer";
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
  ["image/avif", ".avif"],
  ["image/tiff", ".tiff", ".tif"],
  ["image/bmp", ".bmp"],
  ["image/svg+xml", ".svg"],
  ["audio/ogg", ".ogg", ".oga", ".opus"],
  ["audio/mpeg", ".mp3"],
  ["audio/mp4", ".m4a"],
  ["audio/x-m4a", ".m4a"],
  ["audio/aac", ".aac"],
  ["audio/flac", ".flac"],
  ["audio/wav", ".wav"],
  ["audio/amr", ".amr"],
  ["audio/x-caf", ".caf"],
  ["video/mp4", ".mp4", ".m4v"],
  ["video/quicktime", ".mov"],
  ["video/webm", ".webm"],
  ["video/x-matroska", ".mkv"],
  ["video/x-msvideo", ".avi"],
  ["video/3gpp", ".3gp"],
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
  ["application/vnd.oasis.opendocument.text", ".odt"],
  ["application/vnd.oasis.opendocument.spreadsheet", ".ods"],
  ["application/vnd.oasis.opendocument.presentation", ".odp"],
  ["text/plain", ".txt"],
  ["text/markdown", ".md"],
  ["text/csv", ".csv"],
  ["text/html", ".html", ".htm"],
];

const OCTETS = "application/octet-stream";
const GENERIC: ReadonlySet<string> = new Set([OCTETS, "binary/octet-stream", "application/zip"]);

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

/** `.png` → `image/png`. */
export function mimeForExtension(extension: string | undefined): string | undefined {
  return extension === undefined ? undefined : TYPES.find(([, ...extensions]) => extensions.includes(extension))?.[0];
}

const SIGNATURES: readonly (readonly [mime: string, offset: number, bytes: string])[] = [
  ["image/jpeg", 0, "ffd8ff"],
  ["image/png", 0, "89504e470d0a1a0a"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
  ["image/tiff", 0, "49492a00"],
  ["image/tiff", 0, "4d4d002a"],
  ["audio/wav", 8, "57415645"],
  ["video/x-msvideo", 8, "41564920"],
  ["audio/ogg", 0, "4f676753"],
  ["audio/flac", 0, "664c6143"],
  ["audio/mpeg", 0, "494433"],
  ["audio/mpeg", 0, "fffb"],
  ["audio/mpeg", 0, "fff3"],
  ["audio/mpeg", 0, "fff2"],
  ["audio/aac", 0, "fff1"],
  ["audio/aac", 0, "fff9"],
  ["audio/amr", 0, "2321414d52"],
  ["audio/x-caf", 0, "63616666"],
  ["application/pdf", 0, "25504446"],
  ["application/zip", 0, "504b0304"],
  ["application/gzip", 0, "1f8b"],
  ["application/x-7z-compressed", 0, "377abcaf271c"],
  ["application/vnd.rar", 0, "526172211a07"],
];

/** By the major brand of an ISO file, first hit wins. */
const BRANDS: readonly (readonly [brand: RegExp, mime: string])[] = [
  [/^M4[AB]/, "audio/mp4"],
  [/^avi[fs]/, "image/avif"],
  [/^(?:hei|hev)/, "image/heic"],
  [/^(?:mif1|msf1)/, "image/heif"],
  [/^qt/, "video/quicktime"],
  [/^3g/, "video/3gpp"],
  [/^/, "video/mp4"],
];

const EBML = "1a45dfa3";

/** By the first bytes alone. Undefined: they are those of no known type. */
export function sniffMediaType(buffer: Uint8Array): string | undefined {
  const head = Buffer.from(buffer.buffer, buffer.byteOffset, Math.min(buffer.length, 64));
  const hex = head.toString("hex", 0, 16);
  if (hex.slice(8, 16) === "66747970") return BRANDS.find(([brand]) => brand.test(head.toString("latin1", 8, 12)))?.[1];
  if (hex.startsWith(EBML)) return head.includes("matroska") ? "video/x-matroska" : "video/webm";
  if (hex.startsWith("424d") && head.length >= 10 && head.readUInt32LE(6) === 0) return "image/bmp";
  return SIGNATURES.find(([, offset, bytes]) => hex.startsWith(bytes, offset * 2))?.[0];
}

/** By content, unless that only says "an archive"; then by name, then by the sender's claim. */
export async function detectMime(params: {
  buffer?: Uint8Array | undefined;
  headerMime?: string | null | undefined;
  filePath?: string | undefined;
}): Promise<string | undefined> {
  const bytes = params.buffer ? sniffMediaType(params.buffer) : undefined;
  const name = mimeForExtension(getFileExtension(params.filePath));
  const header = normalizeMimeType(params.headerMime);
  const found = [bytes, name, header].filter((mime) => mime !== undefined);
  return found.find((mime) => !GENERIC.has(mime)) ?? found[0];
}

/** Types whose files always begin with a signature: a file without it is none of them, whatever its name. */
const SIGNED: ReadonlySet<string> = new Set([
  ...SIGNATURES.map(([mime]) => mime),
  ...BRANDS.map(([, mime]) => mime),
  "video/webm",
  "video/x-matroska",
  "image/bmp",
  "audio/x-m4a",
]);

/** Bytes that are looked at to tell a text. */
const TEXT_SAMPLE = 4096;

function isText(data: Uint8Array): boolean {
  const sample = data.subarray(0, TEXT_SAMPLE);
  // A character that the sample cuts in two is no fault of the text.
  return !sample.includes(0) && [0, 1, 2, 3].some((cut) => isUtf8(sample.subarray(0, Math.max(0, sample.length - cut))));
}

/** What a file is. Its content says so; its name and its sender's claim count only for types that have no signature. */
export function mediaTypeOf(file: { readonly data: Uint8Array; readonly fileName?: string | undefined; readonly claim?: string | null | undefined }): string {
  const content = sniffMediaType(file.data);
  const named = [mimeForExtension(getFileExtension(file.fileName)), normalizeMimeType(file.claim)].filter((mime) => mime !== undefined);
  // Containers look alike: the same bytes are a recording or a film, an archive or an office file.
  if (content !== undefined) return named.find((mime) => isRefined(content, mime)) ?? (content === "application/zip" ? officeType(file.data) : content);
  const believed = named.find((mime) => !SIGNED.has(mime) && !GENERIC.has(mime));
  return believed ?? (file.data.length > 0 && isText(file.data) ? "text/plain" : OCTETS);
}

const OFFICE_PARTS: readonly (readonly [part: string, mime: string])[] = [
  ["word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
];
/** The first part of an OpenDocument file is its type, not packed. */
const OPEN_DOCUMENT = /^mimetype(application\/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation))/;

/** What an archive is by the names of its parts. */
function officeType(data: Uint8Array): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const open = OPEN_DOCUMENT.exec(bytes.toString("latin1", 30, 120))?.[1];
  return open ?? OFFICE_PARTS.find(([part]) => bytes.includes(part))?.[1] ?? "application/zip";
}

/** Whether a name says more about the same bytes than they do themselves. */
function isRefined(content: string, mime: string): boolean {
  if (content === "application/zip") return mime.startsWith("application/") && !GENERIC.has(mime) && !SIGNED.has(mime);
  if (content === "video/mp4") return mime === "audio/mp4" || mime === "audio/x-m4a";
  if (content === "video/webm") return mime === "audio/webm";
  return content === "audio/ogg" && mime === "video/ogg";
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
