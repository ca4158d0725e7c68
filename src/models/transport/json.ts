import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf, systemCode } from "../../base/errors.ts";
import type { Fetch } from "./stream.ts";

/** One request with a short JSON answer: an allowance, a token, a list. */
export interface JsonRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Version of this program, for the `user-agent` header. */
  readonly version: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
  readonly maxBytes?: number;
}

/** The answer, whatever its status. */
export interface JsonAnswer {
  readonly status: number;
  /** Undefined when the answer is not JSON. */
  readonly value: unknown;
}

const MAX_BYTES = 1024 * 1024;

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > maxBytes) throw new AppError("OVERLOADED", `the response is larger than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // An error page; the status says enough.
  }
}

/**
 * Sends one request. Throws `TIMEOUT`, `CANCELLED` or `UNAVAILABLE` without a complete answer; a refusal is an answer. Redirects are not followed:
 * credentials go nowhere else.
 */
export async function askJson(request: JsonRequest): Promise<JsonAnswer> {
  const { url, body, clock, timeoutMs, signal, fetch = globalThis.fetch, maxBytes = MAX_BYTES } = request;
  const controller = new AbortController();
  const stop = (): void => controller.abort(new AppError("CANCELLED", "the caller no longer waits for the response"));
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  using _timer = clock.after(timeoutMs, () => controller.abort(new AppError("TIMEOUT", `no response within ${timeoutMs} ms`)));
  try {
    const response = await fetch(url, {
      method: request.method ?? (body === undefined ? "GET" : "POST"),
      redirect: "error",
      headers: {
        accept: "application/json",
        "user-agent": `openclaw/${request.version}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: controller.signal,
    });
    return { status: response.status, value: parsed(await textOf(response, maxBytes)) };
  } catch (error) {
    if (controller.signal.reason instanceof AppError) throw controller.signal.reason;
    if (error instanceof AppError) throw error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const code = systemCode(cause);
    throw new AppError("UNAVAILABLE", `the request to ${new URL(url).host} failed: ${messageOf(cause)}`, {
      cause: error,
      details: { host: new URL(url).host, ...(code === undefined ? {} : { code }) },
    });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
