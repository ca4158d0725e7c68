import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { ImageContent } from "../../../protocol/index.ts";
import { isBase64, sizeOf, sniffedType } from "../../methods/chat/attachments.ts";
import type { FetchFile } from "../../ports.ts";
import { invalid, unsupported } from "./refusal.ts";

/** An image of a request: what it holds itself, or where it is. `at` is its place in the body. */
export type ImageSource =
  | { readonly at: string; readonly data: string; readonly mimeType?: string | undefined }
  | { readonly at: string; readonly url: string };

const MAX_BYTES = 10_485_760;
const MAX_URL_PARTS = 8;
const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const MIMES: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i;

/** Reads an address: a `data:` URL is the image itself. */
export function imageAt(address: string, at: string): ImageSource {
  if (/^https?:\/\//i.test(address)) return { at, url: address };
  const head = DATA_URL.exec(address.slice(0, 200));
  if (!head) throw invalid(`${at}: an image must be a base64 data: URL or an http(s) URL`, at);
  return { at, data: address.slice(head[0].length), mimeType: head[1] };
}

/** `*.example.com` stands for everything below it. */
export function isListed(hostname: string, list: readonly string[]): boolean {
  const host = hostname.toLowerCase();
  return list.some((entry) => {
    const wanted = entry.trim().toLowerCase();
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
  });
}

function checked(
  { at }: ImageSource,
  written: string,
  claimed: string | undefined,
  settings: { readonly maxBytes: number; readonly mimes: readonly string[] },
) {
  const data = written.replaceAll(/\s/g, "");
  if (data === "" || !isBase64(data)) throw invalid(`${at}: the image is not valid base64`, at);
  const bytes = sizeOf(data);
  if (bytes > settings.maxBytes) throw invalid(`${at}: the image has ${bytes} bytes; the limit is ${settings.maxBytes}`, at);
  // All but SVG begin with a signature: what has none is no image, whatever it is called.
  const sniffed = sniffedType(data);
  const mimeType = (sniffed ?? claimed ?? "").toLowerCase();
  const hasSignature = sniffed !== undefined || mimeType === "image/svg+xml";
  if (!hasSignature || !settings.mimes.includes(mimeType)) {
    const found = hasSignature || !mimeType.startsWith("image/") ? mimeType || "of an unknown type" : `declared as ${mimeType} but of an unknown type`;
    throw invalid(`${at}: the image is ${found}; expected ${settings.mimes.join(", ")}`, at);
  }
  return { type: "image" as const, mimeType, data } satisfies ImageContent;
}

export interface ImageDeps {
  readonly config: { readonly current: OpenClawConfig };
  /** Without it images come only inside the request. */
  readonly fetchFile?: FetchFile | undefined;
}

/** The images of a request, fetched and checked by what they hold. Limits are those of `gateway.http.endpoints.responses.images`. */
export async function loadImages(sources: readonly ImageSource[], signal: AbortSignal, { config, fetchFile }: ImageDeps): Promise<readonly ImageContent[]> {
  const { images, maxUrlParts = MAX_URL_PARTS } = config.current.gateway?.http?.endpoints?.responses ?? {};
  const { allowUrl = true, urlAllowlist = [], timeoutMs = TIMEOUT_MS, maxRedirects = MAX_REDIRECTS, maxBytes = MAX_BYTES } = images ?? {};
  const settings = { maxBytes, mimes: images?.allowedMimes?.map((mime) => mime.toLowerCase()) ?? MIMES };
  const addresses = sources.filter((source) => "url" in source);
  const [first] = addresses;
  if (first && addresses.length > maxUrlParts) throw invalid(`${addresses.length} images have a URL to fetch; the limit is ${maxUrlParts}`, first.at);
  if (first && !allowUrl) throw invalid(`${first.at}: fetching images is turned off; send them as data: URLs`, first.at);
  const isAllowed = (url: URL): boolean => urlAllowlist.length === 0 || isListed(url.hostname, urlAllowlist);

  async function load(source: ImageSource): Promise<ImageContent> {
    if ("data" in source) return checked(source, source.data, source.mimeType, settings);
    const { at, url } = source;
    if (!URL.canParse(url) || !isAllowed(new URL(url))) throw invalid(`${at}: images may not be fetched from this host`, at);
    if (!fetchFile) throw unsupported("images by URL", at);
    try {
      const { data, mimeType } = await fetchFile(url, { maxBytes, timeoutMs, maxRedirects, isAllowed, signal });
      return checked(source, Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64"), mimeType, settings);
    } catch (error) {
      if (error instanceof AppError) throw invalid(`${at}: the image could not be fetched: ${error.message}`, at);
      throw error;
    }
  }
  return Promise.all(sources.map(load));
}
