/** Media from a URL or from a folder that may be read. */
import { realpath, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, fileError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import { readRegular } from "../../../base/open-below.ts";
import { formatBytes } from "../../../base/text.ts";
import { fetchWithSsrFGuard } from "../network/guarded-fetch.ts";
import { sdkHost, sdkState } from "../host-binding.ts";
import { extensionForMime, loadOutgoing, mediaKindFromMime, mediaTypeOf } from "../../../media/index.ts";
import type { MediaKind, WebMediaOptions, WebMediaResult } from "../types/runtime-media.ts";

const MB = 1024 * 1024;
const LIMITS: Readonly<Record<MediaKind, number>> = { image: 6 * MB, audio: 16 * MB, video: 16 * MB, document: 100 * MB, unknown: 100 * MB };
export const LARGEST = 100 * MB;
const LARGEST_IMAGE = 32 * MB;

/** `bytes`: how large it is, where that is known. */
function tooLarge(what: string, limit: number, bytes?: number): AppError {
  const text = `${what} is larger than the limit of ${formatBytes(limit)}; send a smaller file or raise the limit`;
  return new AppError("INVALID_INPUT", text, { details: { limit, ...(bytes === undefined ? {} : { bytes }) } });
}

async function readBounded(response: Response, what: string, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(what, limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function fromUrl(url: string, options: WebMediaOptions): Promise<{ buffer: Buffer; headerMime: string | null; name: string }> {
  const { response, finalUrl, release } = await fetchWithSsrFGuard({ url, policy: options.ssrfPolicy, timeoutMs: 60_000 });
  try {
    if (!response.ok) throw new AppError("UNAVAILABLE", `${url} answered ${response.status} ${response.statusText}`.trim());
    const name = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("content-disposition") ?? "")?.[1];
    const isImage = response.headers.get("content-type")?.startsWith("image/") === true && options.optimizeImages !== false;
    // An image may be larger than what is sent of it.
    const limit = Math.max(options.maxBytes ?? LARGEST, isImage ? LARGEST_IMAGE : 0);
    const stated = Number(response.headers.get("content-length"));
    if (stated > limit) throw tooLarge(url, limit, stated);
    const buffer = await readBounded(response, url, limit);
    return { buffer, headerMime: response.headers.get("content-type"), name: basename(name ?? new URL(finalUrl).pathname) };
  } finally {
    await release();
  }
}

async function fromDisk(path: string, options: WebMediaOptions): Promise<Buffer> {
  if (options.readFile) return options.readFile(path);
  const { localRoots } = options;
  const stateDir = sdkHost()?.stateDir;
  const roots = localRoots ?? (stateDir ? ["media", "agents", "workspace", "sandboxes"].map((name) => join(stateDir, name)) : []);
  try {
    const real = await realpath(path);
    const realRoots = roots === "any" ? [] : await Promise.all(roots.map((root) => realpath(root).catch(() => root)));
    if (roots !== "any" && !realRoots.some((root) => isInside(root, real))) {
      throw new AppError("PERMISSION_DENIED", `${path} is outside the folders that media may be read from: ${roots.join(", ") || "none"}`);
    }
    await sdkHost()?.mediaReadable?.(real);
    const { size } = await stat(real);
    if (size > LARGEST) throw tooLarge(path, LARGEST, size);
    return await readRegular(real);
  } catch (error) {
    throw fileError(path, "could not read media", error);
  }
}

/** Converters that warn once. */
export async function hostConverters(signal?: AbortSignal) {
  const { createConverters } = await loadOutgoing();
  const host = sdkHost();
  const { warned } = sdkState();
  const warn = (message: string): void => {
    if (warned.has(message)) return;
    warned.add(message);
    host?.log?.({ level: "warn", subsystem: "media", message });
  };
  return createConverters({ env: host?.env ?? {}, warn, ...(signal ? { signal } : {}) });
}

/**
 * Loads media within a size limit (by kind where none is given). Local files only from `localRoots`. An image that is too large is scaled unless
 * `optimizeImages` is false.
 */
export async function loadWebMedia(urlOrPath: string, maxBytesOrOptions?: number | WebMediaOptions, more: WebMediaOptions = {}): Promise<WebMediaResult> {
  const options = { ...(typeof maxBytesOrOptions === "number" ? { maxBytes: maxBytesOrOptions } : maxBytesOrOptions), ...more };
  const place = urlOrPath.trim().replace(/^MEDIA:\s*/i, "");
  const remote = /^https?:\/\//i.test(place);
  const path = place.startsWith("file://") ? fileURLToPath(place) : place;
  const source = remote ? await fromUrl(place, options) : { buffer: await fromDisk(path, options), headerMime: null, name: basename(path) };
  const contentType = mediaTypeOf({ data: source.buffer, claim: source.headerMime, fileName: remote ? source.name : path });
  const kind = mediaKindFromMime(contentType);
  const limit = options.maxBytes ?? LIMITS[kind];
  const name = source.name && !source.name.includes(".") ? `${source.name}${extensionForMime(contentType) ?? ""}` : source.name;
  if (source.buffer.length <= limit) return { buffer: source.buffer, contentType, kind, fileName: name || undefined };
  const isScaled = kind === "image" && contentType !== "image/gif" && options.optimizeImages !== false;
  const made = isScaled ? await (await hostConverters()).shrink(source.buffer, contentType, limit) : undefined;
  if (!made) throw tooLarge(place, limit, source.buffer.length);
  return {
    buffer: made.data,
    contentType: made.mimeType,
    kind,
    fileName: `${basename(name || "image", extname(name))}${extensionForMime(made.mimeType) ?? ""}`,
  };
}
