/** Files from elsewhere, fetched with care. Loaded when the first one is asked for. */
import { basename } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { formatBytes } from "../../../base/text.ts";
import { fetchWithSsrFGuard } from "../../sdk/network/guarded-fetch.ts";
import { DEFAULT_MEDIA_BYTES, detectMime } from "../../../media/index.ts";
import type { LookupFn, SsrFPolicy } from "../../sdk/network/ssrf.ts";
import type { RemoteMedia } from "../../sdk/types/index.ts";

export interface RemoteRequest {
  readonly url: string;
  readonly fetchImpl?: ((input: string, init?: RequestInit) => Promise<Response>) | undefined;
  readonly filePathHint?: string | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly ssrfPolicy?: SsrFPolicy | undefined;
  readonly lookupFn?: unknown;
}

/** The body within a limit; it is not read on once that is passed. */
export async function readResponse(response: Response, what: string, maxBytes: number): Promise<Buffer> {
  const tooLarge = (): AppError => new AppError("INVALID_INPUT", `${what} is larger than the limit of ${formatBytes(maxBytes)}`);
  if (Number(response.headers.get("content-length")) > maxBytes) {
    await response.body?.cancel();
    throw tooLarge();
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function nameOf(response: Response, url: string, hint: string | undefined): string | undefined {
  const stated = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return basename(stated?.trim() || hint || (URL.canParse(url) ? new URL(url).pathname : "")) || undefined;
}

/** What a response holds, with its type by the bytes, the name or the header. */
export async function mediaOf(response: Response, url: string, options: Pick<RemoteRequest, "filePathHint" | "maxBytes">): Promise<RemoteMedia> {
  if (!response.ok)
    throw new AppError("UNAVAILABLE", `${url} answered ${response.status} ${response.statusText}`.trim(), { details: { status: response.status } });
  const buffer = await readResponse(response, url, options.maxBytes ?? DEFAULT_MEDIA_BYTES);
  const fileName = nameOf(response, url, options.filePathHint);
  const contentType = await detectMime({ buffer, headerMime: response.headers.get("content-type"), filePath: fileName });
  return { buffer, contentType, fileName };
}

/** Fetches from a public host, or from where the policy allows. Over the limit, the default of which is 5 MiB, it fails. */
export async function fetchRemoteMedia(request: RemoteRequest): Promise<RemoteMedia> {
  const { url, fetchImpl, ssrfPolicy, maxRedirects, lookupFn } = request;
  const { response, finalUrl, release } = await fetchWithSsrFGuard({
    url,
    policy: ssrfPolicy,
    maxRedirects,
    timeoutMs: 60_000,
    ...(fetchImpl
      ? { fetchImpl: (input: string | URL | Request, init?: RequestInit) => fetchImpl(input instanceof Request ? input.url : String(input), init) }
      : {}),
    ...(lookupFn === undefined ? {} : { lookupFn: lookupFn as LookupFn }),
  });
  try {
    return await mediaOf(response, finalUrl, request);
  } finally {
    await release();
  }
}
