import type { OutgoingHttpHeaders } from "node:http";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError, systemCode } from "../../../base/errors.ts";
import { createRootedFiles } from "../../../base/rooted-files.ts";
import type { Exchange } from "../route.ts";
import { acceptedEncodings, isKnown, SUFFIX, type Encoding } from "./negotiation.ts";
import { fileHeaders } from "./policy.ts";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  json: "application/json; charset=utf-8",
  map: "application/json; charset=utf-8",
  webmanifest: "application/manifest+json; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  svg: "image/svg+xml; charset=utf-8",
  png: "image/png",
  jpg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  ico: "image/x-icon",
  woff2: "font/woff2",
  wasm: "application/wasm",
};

/** The content type of a file of the page; undefined for what is none. */
export function typeOf(name: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/.exec(name)?.[1] ?? "";
  return Object.hasOwn(TYPES, extension) ? TYPES[extension] : undefined;
}

/** Named after its content by the build, so that it never changes. */
const HASHED = /^assets\/(?:.+\/)?[^/]+-[\w-]{8,}\.[a-z0-9]+$/;
const FOR_EVER = "public, max-age=31536000, immutable";

/** What opening a file that is not there, no file, or elsewhere ends with. */
const ABSENT: ReadonlySet<string> = new Set(["NOT_FOUND", "INVALID_INPUT", "PERMISSION_DENIED"]);
const ABSENT_CAUSES: ReadonlySet<string> = new Set(["ENOTDIR", "ENAMETOOLONG", "ELOOP", "ENXIO"]);

/** Opens a file below the folder; undefined when there is none, links that lead out included. The caller closes it. */
export async function openBelow(folder: string, name: string): Promise<FileHandle | undefined> {
  try {
    return await createRootedFiles({ root: folder, unique: () => "" }).open(join(folder, name));
  } catch (error) {
    if (error instanceof AppError && (ABSENT.has(error.code) || ABSENT_CAUSES.has(systemCode(error.cause) ?? ""))) return undefined;
    throw error;
  }
}

interface Opened {
  readonly handle: FileHandle;
  readonly encoding: Encoding;
}

/** The best form that is there and that the caller takes. */
async function openBest(folder: string, name: string, header: string | undefined): Promise<Opened | undefined> {
  for (const encoding of acceptedEncodings(header)) {
    const handle = await openBelow(folder, name + SUFFIX[encoding]);
    if (handle) return { handle, encoding };
  }
  return undefined;
}

/** Sends a file of the page. False when there is none of this name. */
export async function sendFile({ request, response }: Pick<Exchange, "request" | "response">, folder: string, name: string): Promise<boolean> {
  const type = typeOf(name);
  const found = type === undefined ? undefined : await openBest(folder, name, request.headers["accept-encoding"]?.toString());
  if (type === undefined || !found) return false;
  const { encoding } = found;
  await using handle = found.handle;
  const { size, mtimeMs, ctimeMs } = await handle.stat();
  const etag = `"${[size, mtimeMs, ctimeMs].map((part) => Math.round(part).toString(36)).join("-")}${SUFFIX[encoding]}"`;
  const caching: OutgoingHttpHeaders = { "cache-control": HASHED.test(name) ? FOR_EVER : "no-cache", etag, vary: "Accept-Encoding" };
  if (isKnown(request.headers["if-none-match"], etag)) {
    response.writeHead(304, caching).end();
    return true;
  }
  const encoded = encoding === "identity" ? {} : { "content-encoding": encoding };
  response.writeHead(200, { ...fileHeaders(type), ...caching, ...encoded, "content-type": type, "content-length": size });
  if (request.method === "HEAD" || size === 0) response.end();
  // Read as it is taken: callers that do not read hold no file in memory. One that leaves is no failure.
  else await pipeline(handle.createReadStream({ autoClose: false, end: size - 1 }), response).catch(() => response.destroy());
  return true;
}
