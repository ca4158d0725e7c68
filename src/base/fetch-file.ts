import type { Clock } from "./clock.ts";
import { AppError } from "./errors.ts";
import { guardedFetch } from "./guarded-fetch.ts";

/** Fetches a file from a URL that came from outside: guarded, bounded, typed by what the server says. */
export async function fetchFile(
  url: string,
  limits: {
    readonly maxBytes: number;
    readonly timeoutMs: number;
    readonly maxRedirects?: number;
    readonly isAllowed?: (url: URL) => boolean;
    readonly signal: AbortSignal;
  },
  clock: Clock,
): Promise<{ readonly data: Uint8Array; readonly mimeType?: string }> {
  const { maxBytes, ...route } = limits;
  using answer = await guardedFetch({ url, clock, ...route });
  if (answer.status < 200 || answer.status > 299) throw new AppError("UNAVAILABLE", `${new URL(url).host} answered with status ${answer.status}`);
  const { bytes, truncated } = await answer.read(maxBytes);
  if (truncated) throw new AppError("INVALID_INPUT", `what is behind the address is larger than ${maxBytes} bytes`);
  const mimeType = answer.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  return { data: bytes, ...(mimeType === undefined ? {} : { mimeType }) };
}
