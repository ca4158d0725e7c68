import type { FileHandle } from "node:fs/promises";
import { BINARY_HEAD_BYTES, textEncoding, type TextEncoding } from "../../../base/binary.ts";
import { detectMime } from "../../../media/index.ts";
import { defineTool } from "../../declaration.ts";
import { failedOutcome, textOutcome, type ToolContext, type ToolOutcome } from "../../tool.ts";
import { filesFor, missingParams, namedPath, PATH_PROPERTIES, resolvePath, textParam, type FileToolsDeps } from "./paths.ts";

const PAGE_LINES = 2000;
const PAGE_BYTES = 50 * 1024;
const MAX_BYTES = 512 * 1024;
/** Of the window, at four bytes a token. */
const WINDOW_SHARE = 0.2;
const BYTES_PER_TOKEN = 4;
/** What is larger than a model takes is scaled by the broker. */
const MAX_IMAGE_BYTES = 32 * 1024 * 1024;
/** Of a binary file, in hexadecimal. */
const SHOWN_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
/** How far a file is read to count its lines once the page is there, and at most to find it. */
const COUNTED_BYTES = 32 * 1024 * 1024;
const SEARCHED_BYTES = 256 * 1024 * 1024;

const IMAGES: readonly { readonly mimeType: string; readonly starts: readonly number[]; readonly at8?: string }[] = [
  { mimeType: "image/png", starts: [0x89, 0x50, 0x4e, 0x47] },
  { mimeType: "image/jpeg", starts: [0xff, 0xd8, 0xff] },
  { mimeType: "image/gif", starts: [0x47, 0x49, 0x46, 0x38] },
  { mimeType: "image/webp", starts: [0x52, 0x49, 0x46, 0x46], at8: "WEBP" },
];

/** Reads a page of a text, or an image. Files of any size: only what is shown is kept. */
export const readTool = defineTool<FileToolsDeps>({
  name: "read",
  groups: ["fs"],
  reach: { reads: "private" },
  promptLine: "look at a file",
  icon: "📖",
  inSandbox: "allowed",
  overHttp: "never",
  label: "read",
  description: `Read a file. Text comes up to ${PAGE_LINES} lines or ${PAGE_BYTES / 1024} KB at a time: use offset and limit for the rest. Images (jpg, png, gif, webp) are returned as images, other binary files as a description.`,
  parameters: {
    type: "object",
    properties: {
      ...PATH_PROPERTIES,
      offset: { type: "number", description: "First line to read, counted from 1" },
      limit: { type: "number", description: "Maximum number of lines" },
      column: { type: "number", description: "Within the line of offset: character to begin with, from 1, for a line longer than a page" },
    },
    required: [],
  },
  idempotent: true,
  executionMode: "parallel",
  paths: namedPath,
  run: (deps) => async (call) => {
    const { params, context, signal } = call;
    const written = textParam(params, "path");
    if (!written?.trim()) return failedOutcome(missingParams(["path"]));
    const path = resolvePath(written, context, deps.home);
    await using file = await filesFor("read", call, deps).open(path);
    const image = await readImage(file);
    if (image) return image;
    const head = await headOf(file);
    const encoding = textEncoding(head);
    if (encoding === undefined) return await describeBinary(file, written, head);
    const asked = { offset: positive(params["offset"]) ?? 1, limit: positive(params["limit"]), column: positive(params["column"]) };
    const said = await readText(file, { ...asked, encoding, budget: asked.limit === undefined ? budgetOf(context) : PAGE_BYTES, signal });
    return encoding === "utf-8" || said.isError ? said : { ...said, content: [...said.content, { type: "text", text: encodingNote(encoding) }] };
  },
});

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value >= 1 ? Math.floor(value) : undefined;
}

function budgetOf({ contextWindow = 0 }: ToolContext): number {
  return Math.max(PAGE_BYTES, Math.min(MAX_BYTES, Math.floor(contextWindow * WINDOW_SHARE * BYTES_PER_TOKEN)));
}

async function readImage(file: FileHandle): Promise<ToolOutcome | undefined> {
  const head = Buffer.alloc(16);
  await file.read(head, 0, head.length, 0);
  const kind = IMAGES.find(({ starts, at8 }) => starts.every((byte, at) => head[at] === byte) && (at8 === undefined || head.toString("latin1", 8, 12) === at8));
  if (!kind) return undefined;
  const { size } = await file.stat();
  if (size > MAX_IMAGE_BYTES)
    return failedOutcome(`The image has ${kilobytes(size)}; at most ${kilobytes(MAX_IMAGE_BYTES)} can be shown. Make it smaller first.`);
  const data = Buffer.alloc(size);
  await file.read(data, 0, size, 0);
  return {
    content: [
      { type: "text", text: `Read image file [${kind.mimeType}]` },
      { type: "image", data: data.toString("base64"), mimeType: kind.mimeType },
    ],
    isError: false,
  };
}

async function headOf(file: FileHandle): Promise<Buffer> {
  const buffer = Buffer.alloc(BINARY_HEAD_BYTES);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  return buffer.subarray(0, bytesRead);
}

const encodingNote = (encoding: TextEncoding): string =>
  `[The file is in ${encoding === "windows-1252" ? "Latin-1 (windows-1252)" : encoding.toUpperCase()}, not UTF-8: edit and apply_patch do not change it; convert it with exec and iconv first.]`;

/** Describes a file that is not text: its bytes are of no use to a model. */
async function describeBinary(file: FileHandle, written: string, head: Buffer): Promise<ToolOutcome> {
  const mimeType = (await detectMime({ buffer: head, filePath: written })) ?? "application/octet-stream";
  const { size } = await file.stat();
  const bytes = head
    .subarray(0, SHOWN_BYTES)
    .toString("hex")
    .replaceAll(/(..)(?=.)/g, "$1 ");
  const text = `${written} is a binary file (${mimeType}, ${kilobytes(size)}), so it is not shown. It begins with the bytes ${bytes}. Use exec with a program for such files (file, strings, xxd, unzip -l, pdftotext, …) to inspect it.`;
  return textOutcome(text, { binary: true, mimeType, size });
}

interface Wanted {
  readonly offset: number;
  readonly limit: number | undefined;
  /** Character of the line at `offset`, when only this line is wanted. */
  readonly column: number | undefined;
  readonly encoding: TextEncoding;
  readonly budget: number;
  readonly signal: AbortSignal;
}

interface Page {
  readonly lines: string[];
  /** Lines of the file, as far as it was read. */
  total: number;
  bytes: number;
  /** The first wanted line is longer than the whole budget. */
  tooLong: boolean;
  full: boolean;
  /** There is more of the file than was read. */
  unread: boolean;
}

async function readText(file: FileHandle, wanted: Wanted): Promise<ToolOutcome> {
  if (wanted.column !== undefined) return await readLine(file, wanted, wanted.column);
  const page = await collect(file, wanted);
  const { offset } = wanted;
  if (page.tooLong) return await readLine(file, wanted, 1);
  if (page.unread && page.lines.length === 0)
    return failedOutcome(`The file is too large to look for line ${offset} in it. Use exec with tail, sed or grep to see a part of it.`);
  if (page.lines.length === 0 && offset > 1) return failedOutcome(`Offset ${offset} is beyond the end of the file (${page.total} lines)`);
  const last = offset + page.lines.length - 1;
  const more = page.total - last;
  const body = page.lines.join("\n");
  if (more <= 0 && !page.unread) return textOutcome(body);
  const least = page.unread ? "more than " : "";
  const notice = page.full
    ? `[Showing lines ${offset}-${last} of ${least}${page.total} (${kilobytes(wanted.budget)} limit). Use offset=${last + 1} to continue.]`
    : `[${least}${more} more lines in file. Use offset=${last + 1} to continue.]`;
  return textOutcome(`${body}\n\n${notice}`, {
    truncation: { truncated: true, totalLines: page.total, outputLines: page.lines.length, outputBytes: page.bytes },
  });
}

/** Goes through the file to count its lines, but keeps only the page; of a huge one, not to its end. */
async function collect(file: FileHandle, { offset, limit, budget, signal, encoding }: Wanted): Promise<Page> {
  const page: Page = { lines: [], total: 0, bytes: 0, tooLong: false, full: false, unread: false };
  const mostLines = limit ?? (budget > PAGE_BYTES ? Number.POSITIVE_INFINITY : PAGE_LINES);
  const take = (line: string): void => {
    page.total += 1;
    if (page.total < offset || page.full || page.lines.length >= mostLines) return;
    const size = Buffer.byteLength(line) + 1;
    if (page.bytes + size > budget) {
      page.full = true;
      page.tooLong = page.lines.length === 0;
      return;
    }
    page.lines.push(line);
    page.bytes += size;
  };
  const isEnough = (bytes: number, pending: number): boolean => {
    // A line that is already longer than the whole budget will not get shorter.
    if (pending > budget && page.total + 1 === offset) return (page.tooLong = true);
    return bytes > SEARCHED_BYTES || (bytes > COUNTED_BYTES && (page.full || page.lines.length >= mostLines));
  };
  page.unread = await eachLine(file, { most: budget, take, isEnough, signal, encoding });
  return page;
}

interface Reading {
  readonly most: number;
  readonly take: (line: string) => void;
  /** Receives how many bytes were read, and how long the line is that has not ended. */
  readonly isEnough: (bytes: number, pending: number) => boolean;
  readonly signal: AbortSignal;
  readonly encoding: TextEncoding;
}

/** A line longer than what could be shown is cut while it is read: its rest is not kept. True when it was left before the end. */
async function eachLine(file: FileHandle, { most, take, isEnough, signal, encoding }: Reading): Promise<boolean> {
  let rest = "";
  for await (const { text, bytes } of decoded(file, encoding, signal)) {
    const [first = "", ...others] = text.split("\n");
    const lines = [rest.length <= most * 2 ? rest + first : rest, ...others];
    rest = lines.pop() ?? "";
    for (const line of lines) take(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (isEnough(bytes, rest.length)) return true;
  }
  if (rest !== "") take(rest);
  return false;
}

/** The text of a file from its beginning, piece by piece, and how many bytes were read. */
async function* decoded(file: FileHandle, encoding: TextEncoding, signal: AbortSignal): AsyncGenerator<{ readonly text: string; readonly bytes: number }> {
  const decoder = new TextDecoder(encoding);
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let bytes = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes);
    bytes += bytesRead;
    yield { text: decoder.decode(buffer.subarray(0, bytesRead), { stream: bytesRead > 0 }), bytes };
    if (bytesRead === 0) return;
  }
}

/** A part of one line, by its characters: for lines that are longer than a page. */
async function readLine(file: FileHandle, { offset, budget, encoding, signal }: Wanted, column: number): Promise<ToolOutcome> {
  let line = 1;
  /** Characters of the wanted line that were read. */
  let length = 0;
  let part = "";
  let isWhole = true;
  reading: for await (const { text, bytes } of decoded(file, encoding, signal)) {
    if (bytes > SEARCHED_BYTES || (bytes > COUNTED_BYTES && part.length >= budget)) {
      isWhole = false;
      break;
    }
    for (const [at, piece] of text.split("\n").entries()) {
      if (at > 0) line += 1;
      if (line > offset) break reading;
      if (line < offset) continue;
      if (part.length < budget) part += piece.slice(Math.max(0, column - 1 - length), Math.max(0, column - 1 - length) + budget - part.length);
      length += piece.length;
    }
  }
  if (line < offset) return failedOutcome(`Offset ${offset} is beyond the end of the file (${line} lines)`);
  const shown = withinBytes(part, budget);
  if (shown === "") return failedOutcome(`Column ${column} is beyond the end of line ${offset} (${length} characters)`);
  const last = column + shown.length - 1;
  const next = last < length ? `Use offset=${offset} column=${last + 1} to continue.` : `Use offset=${offset + 1} for the next line.`;
  return textOutcome(`${shown}\n\n[Line ${offset}, characters ${column}-${last} of ${isWhole ? "" : "more than "}${length}. ${next}]`, {
    truncation: { truncated: last < length, outputLines: 1, outputBytes: Buffer.byteLength(shown) },
  });
}

/** The beginning of a text that has at most so many bytes. */
function withinBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text.replace(/[\uD800-\uDBFF]$/, "");
  return bytes
    .subarray(0, most)
    .toString("utf8")
    .replace(/\uFFFD$/, "");
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)}KB`;
}
