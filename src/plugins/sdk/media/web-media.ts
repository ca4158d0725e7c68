/** Media from a URL or from a folder that may be read. */
import { readFile, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AppError, fileError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import { formatBytes } from "../../../base/text.ts";
import { fetchWithSsrFGuard } from "../network/guarded-fetch.ts";
import { sdkHost } from "../host-binding.ts";
import { detectMime, extensionForMime, mediaKindFromMime } from "../../../media/index.ts";
import type { MediaKind, WebMediaOptions, WebMediaResult } from "../types/runtime-media.ts";

const MB = 1024 * 1024;
const LIMITS: Readonly<Record<MediaKind, number>> = { image: 6 * MB, audio: 16 * MB, video: 16 * MB, document: 100 * MB, unknown: 100 * MB };
const LARGEST = 100 * MB;

function tooLarge(what: string, limit: number): AppError {
  return new AppError("INVALID_INPUT", `${what} is larger than ${formatBytes(limit)}, the most that is taken; send a smaller file or raise the limit`);
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
    const stated = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("content-disposition") ?? "")?.[1];
    const buffer = await readBounded(response, url, options.maxBytes ?? LARGEST);
    return { buffer, headerMime: response.headers.get("content-type"), name: basename(stated ?? new URL(finalUrl).pathname) };
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
      throw new AppError("PERMISSION_DENIED", `${path} lies outside the folders that media may be read from: ${roots.join(", ") || "none"}`);
    }
    await sdkHost()?.mediaReadable?.(real);
    return await readFile(real);
  } catch (error) {
    throw fileError(path, "could not read media", error);
  }
}

/** Loads media within a size limit (by kind where none is given). Local files only from `localRoots`. Images are passed on as they are. */
export async function loadWebMedia(urlOrPath: string, maxBytesOrOptions?: number | WebMediaOptions, more: WebMediaOptions = {}): Promise<WebMediaResult> {
  const options = { ...(typeof maxBytesOrOptions === "number" ? { maxBytes: maxBytesOrOptions } : maxBytesOrOptions), ...more };
  const place = urlOrPath.trim().replace(/^MEDIA:\s*/i, "");
  const remote = /^https?:\/\//i.test(place);
  const path = place.startsWith("file://") ? fileURLToPath(place) : place;
  const source = remote ? await fromUrl(place, options) : { buffer: await fromDisk(path, options), headerMime: null, name: basename(path) };
  const contentType = await detectMime({ buffer: source.buffer, headerMime: source.headerMime, filePath: remote ? source.name : path });
  const kind = mediaKindFromMime(contentType);
  const limit = options.maxBytes ?? LIMITS[kind];
  if (source.buffer.length > limit) throw tooLarge(place, limit);
  const name = source.name && !source.name.includes(".") ? `${source.name}${extensionForMime(contentType) ?? ""}` : source.name;
  return { buffer: source.buffer, contentType, kind, fileName: name || undefined };
}
