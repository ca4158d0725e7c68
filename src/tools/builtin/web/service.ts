import { AppError } from "../../../base/errors.ts";
import { guardedFetch } from "../../../base/guarded-fetch.ts";
import { isRecord } from "../../../base/records.ts";
import type { WebToolsDeps } from "./deps.ts";

export interface ServiceCall {
  /** For messages. */
  readonly name: string;
  readonly url: string;
  /** Never shown, whatever the service answers. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON; without one it is a GET. */
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const MAX_DETAIL_CHARS = 4000;

/** Asks a service that the operator has chosen, wherever it stands; it may not send the key on. Throws `<name> API error (<status>): …`. */
export async function callService({ clock, network, mark }: WebToolsDeps, call: ServiceCall): Promise<Readonly<Record<string, unknown>>> {
  const { name, url, key, headers, body, timeoutMs, maxBytes, signal } = call;
  if (!URL.canParse(url)) throw new AppError("CONFIG_INVALID", `${name}: ${url.slice(0, 200)} is not a URL; fix its baseUrl`);
  using answer = await guardedFetch({
    url,
    method: body === undefined ? "GET" : "POST",
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
    maxRedirects: 0,
    timeoutMs,
    signal,
    clock,
    policy: { allowedHostnames: [new URL(url).hostname] },
    lookup: network?.lookup,
  });
  const { bytes, truncated } = await answer.read(maxBytes);
  const text = bytes.toString("utf8");
  if (answer.status < 200 || answer.status > 299) {
    const detail = text.replaceAll(key, "***").slice(0, MAX_DETAIL_CHARS) || answer.statusText;
    throw new AppError("UNAVAILABLE", `${name} API error (${answer.status}): ${mark(detail, { source: "api" })}`);
  }
  try {
    const value: unknown = truncated ? undefined : JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Reported below, together with answers that are JSON but no object.
  }
  throw new AppError(
    "UNAVAILABLE",
    `${name} API error (${answer.status}): ${truncated ? `the response is larger than ${maxBytes} bytes` : "the response is not a JSON object"}`,
  );
}
