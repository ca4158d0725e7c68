import { looksBinary } from "../../../base/binary.ts";
import { formatBytes } from "../../../base/text.ts";
import { documentKind, type Documents } from "../../../media/index.ts";
import type { ExtractMode } from "./settings.ts";

export type Extractor = "cf-markdown" | "readability" | "firecrawl" | "json" | "document" | "raw";

export interface Extracted {
  readonly text: string;
  readonly title?: string | undefined;
  readonly extractor: Extractor;
  readonly warning?: string | undefined;
}

export interface Fetched {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly url: string;
}

const MAX_TITLE_CHARS = 300;
const MAX_PAGES = 200;

/** Whether an answer is a PDF or an office file, by its type and, once there, its content. */
export function isDocument(contentType: string | undefined, bytes?: Uint8Array): boolean {
  const kind = documentKind(mimeOf(contentType), bytes);
  return kind === "pdf" || kind === "office";
}

/** The text of a PDF or office file. Throws with the reason when it cannot be read. */
export async function extractDocument({ bytes, contentType }: Fetched, documents: Documents, maxChars: number, signal: AbortSignal): Promise<Extracted> {
  const read = await documents.read({ data: bytes, mimeType: mimeOf(contentType) }, { maxChars, maxPages: MAX_PAGES }, signal);
  const { pages, pagesRead } = read;
  const warning = pages !== undefined && pagesRead !== undefined && pagesRead < pages ? `Only the first ${pagesRead} of ${pages} pages were read.` : undefined;
  const text = read.text === "" ? "[the document has no text; it may be scanned]" : read.text;
  return { text, title: titleOf(read.title), extractor: "document", warning };
}

/** `text/html` of `text/HTML; charset=…`; what is no type is octets. */
export function mimeOf(contentType: string | undefined): string {
  return /^\s*([\w.+-]{1,60}\/[\w.+-]{1,80})/.exec(contentType ?? "")?.[1]?.toLowerCase() ?? "application/octet-stream";
}

/** What can be read of an answer; undefined when it is a page without text. */
export async function extract(fetched: Fetched, mode: ExtractMode): Promise<Extracted | undefined> {
  const mime = mimeOf(fetched.contentType);
  if (looksBinary(fetched.bytes)) return { text: `[binary content, not shown: ${mime}, ${formatBytes(fetched.bytes.length)}]`, extractor: "raw" };
  const text = decodeBody(fetched.bytes, fetched.contentType, mime);
  if (mime === "text/markdown")
    return { text: mode === "text" ? withoutMarkdown(text) : text, title: titleOf(/^#\s+(.{1,300})$/m.exec(text)?.[1]), extractor: "cf-markdown" };
  if (mime === "text/html" || mime === "application/xhtml+xml") {
    const { readPage } = await import("./html/read-page.ts");
    const page = await readPage(text, { url: fetched.url, mode });
    return page.text.trim() === "" ? undefined : { text: page.text, title: titleOf(page.title), extractor: "readability" };
  }
  if (mime === "application/json" || mime.endsWith("+json")) return indented(text);
  return { text, extractor: "raw" };
}

function titleOf(title: string | undefined): string | undefined {
  return title?.trim().slice(0, MAX_TITLE_CHARS) || undefined;
}

function indented(text: string): Extracted {
  try {
    return { text: JSON.stringify(JSON.parse(text), null, 2), extractor: "json" };
  } catch {
    return { text, extractor: "raw" };
  }
}

/** By its byte order mark, its header, what a page says of itself; UTF-8 otherwise. */
function decodeBody(bytes: Uint8Array, contentType: string | undefined, mime: string): string {
  const head =
    mime.includes("html") || mime.includes("xml") ? Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1") : "";
  const mark = bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined;
  const named =
    mark ??
    /charset\s{0,4}=\s{0,4}["']?([\w:.-]{1,40})/i.exec(contentType ?? "")?.[1] ??
    /charset\s{0,4}=\s{0,4}["']?([\w:.-]{1,40})/i.exec(head)?.[1] ??
    "utf-8";
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Markdown as one would read it aloud. */
export function withoutMarkdown(markdown: string): string {
  return markdown
    .split("\n")
    .filter((line) => !/^ {0,3}(?:`{3,}|~{3,})/.test(line))
    .map((line) =>
      line
        .replace(/^ {0,3}#{1,6}\s+/, "")
        .replace(/^ {0,3}>\s?/, "")
        .replaceAll(/!?\[([^[\]]{0,500})\]\([^()[\]\s]{0,2000}\)/g, "$1")
        .replaceAll(/\*\*|__|`/g, ""),
    )
    .join("\n")
    .trim();
}
