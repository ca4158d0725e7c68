import { AppError, messageOf } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import { formatBytes } from "../../../base/text.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import { documentKind, fileBlock, mediaTypeOf, type DocumentLimits, type Documents } from "../../../media/index.ts";
import type { ImageContent } from "../../../protocol/index.ts";
import { createMarkUntrusted } from "../../../tools/index.ts";
import { isBase64, sizeOf } from "../../methods/chat/attachments.ts";
import type { FetchFile } from "../../ports.ts";
import type { FileSource } from "./file-sources.ts";
import { isListed } from "./images.ts";
import { invalid, unsupported } from "./refusal.ts";

const MAX_BYTES = 5_242_880;
const MAX_CHARS = 200_000;
const MAX_URL_PARTS = 8;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MAX_PAGES = 4;
const MAX_PIXELS = 4_000_000;
const MIN_TEXT_CHARS = 200;

export interface FileDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly ids: Pick<Ids, "hex">;
  /** Without it files come only inside the request. */
  readonly fetchFile?: FetchFile | undefined;
  /** Without it no files are read. */
  readonly documents?: Documents | undefined;
}

export interface LoadedFiles {
  /** For the message. */
  readonly blocks: readonly string[];
  /** Pages without text. */
  readonly images: readonly ImageContent[];
}

interface FileData {
  readonly data: Buffer;
  readonly mimeType: string | undefined;
}

/** The files of a request as text. Limits are those of `gateway.http.endpoints.responses.files`. `fetched`: images that are fetched as well. */
export async function loadFiles(sources: readonly FileSource[], fetched: number, signal: AbortSignal, deps: FileDeps): Promise<LoadedFiles> {
  const { config, fetchFile, documents } = deps;
  const { files, maxUrlParts = MAX_URL_PARTS } = config.current.gateway?.http?.endpoints?.responses ?? {};
  const {
    allowUrl = true,
    urlAllowlist = [],
    timeoutMs = TIMEOUT_MS,
    maxRedirects = MAX_REDIRECTS,
    maxBytes = MAX_BYTES,
    maxChars = MAX_CHARS,
    pdf,
  } = files ?? {};
  const mimes = files?.allowedMimes?.map((mime) => mime.toLowerCase());
  const limits: DocumentLimits = {
    maxChars,
    maxPages: pdf?.maxPages ?? MAX_PAGES,
    maxPixels: pdf?.maxPixels ?? MAX_PIXELS,
    minTextChars: pdf?.minTextChars ?? MIN_TEXT_CHARS,
    timeoutMs,
  };
  const mark = createMarkUntrusted(deps.ids);
  const [first] = sources.filter((source) => "url" in source);
  const count = fetched + sources.filter((source) => "url" in source).length;
  if (first && count > maxUrlParts) throw invalid(`${count} parts have a URL to fetch; the limit is ${maxUrlParts}`, first.at);
  const isAllowed = (url: URL): boolean => urlAllowlist.length === 0 || isListed(url.hostname, urlAllowlist);

  async function dataOf(source: FileSource): Promise<FileData> {
    const { at } = source;
    if ("data" in source) {
      const written = source.data.replaceAll(/\s/g, "");
      if (written === "" || !isBase64(written)) throw invalid(`${at}: the file is not valid base64`, at);
      const bytes = sizeOf(written);
      if (bytes > maxBytes) throw invalid(`${at}: the file has ${formatBytes(bytes)}; the limit is ${formatBytes(maxBytes)}`, at);
      return { data: Buffer.from(written, "base64"), mimeType: source.mimeType };
    }
    if (!allowUrl) throw invalid(`${at}: fetching files is turned off; send them as file_data`, at);
    if (!URL.canParse(source.url) || !isAllowed(new URL(source.url))) throw invalid(`${at}: files may not be fetched from this host`, at);
    if (!fetchFile) throw unsupported("files by URL", at);
    const { data, mimeType } = await fetchFile(source.url, { maxBytes, timeoutMs, maxRedirects, isAllowed, signal });
    return { data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), mimeType };
  }

  async function load(source: FileSource) {
    const { at, name = "file" } = source;
    if (!documents) throw unsupported("files", at);
    try {
      const found = await dataOf(source);
      const mimeType = mediaTypeOf({ data: found.data, fileName: name, claim: found.mimeType });
      if (documentKind(mimeType, found.data) === undefined || (mimes && !mimes.includes(mimeType))) {
        throw invalid(`${at}: files of type ${mimeType} are not supported${mimes ? `; expected ${mimes.join(", ")}` : ""}`, at);
      }
      const read = await documents.read({ data: found.data, mimeType, fileName: name }, limits, signal);
      return { block: fileBlock(mark, { name, mimeType }, read), pictures: read.pictures ?? [] };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw invalid(`${at}: the file could not be read: ${messageOf(error)}`, at);
      throw error;
    }
  }

  const loaded = await Promise.all(sources.map(load));
  return {
    blocks: loaded.map(({ block }) => block),
    images: loaded.flatMap(({ pictures }) => pictures).map((data) => ({ type: "image", mimeType: "image/jpeg", data: Buffer.from(data).toString("base64") })),
  };
}
