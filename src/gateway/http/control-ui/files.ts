import type { OutgoingHttpHeaders } from "node:http";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { openBelow } from "../../../base/open-below.ts";
import { webFileType } from "../../../base/web-file-types.ts";
import type { Exchange } from "../route.ts";
import { acceptedEncodings, isKnown, SUFFIX, type Encoding } from "./negotiation.ts";
import { fileHeaders } from "./policy.ts";

/** Named after its content by the build, so that it never changes. */
const HASHED = /^assets\/(?:.+\/)?[^/]+-[\w-]{8,}\.[a-z0-9]+$/;
const FOR_EVER = "public, max-age=31536000, immutable";

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
  const type = webFileType(name);
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
