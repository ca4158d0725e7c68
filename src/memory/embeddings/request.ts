import { AppError, messageOf } from "../../base/errors.ts";
import { guardedFetch } from "../../base/guarded-fetch.ts";
import { isRecord } from "../../base/records.ts";
import { createRedactor } from "../../base/redaction.ts";
import { loadProfiles } from "../../models/index.ts";
import type { ProviderAccess } from "./types.ts";

export interface ProviderRequest {
  /** Relative to the base URL, or an absolute URL on the same host. */
  readonly path: string;
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, with this content type. */
  readonly raw?: { readonly type: string; readonly bytes: Uint8Array } | undefined;
  /** Total time, including retries. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The response is text: lines of JSON. */
  readonly text?: boolean;
}

/** Sends requests to one provider. */
export interface ProviderClient {
  readonly access: ProviderAccess;
  ask(request: ProviderRequest): Promise<unknown>;
}

export interface ClientDeps {
  readonly version: string;
  /** How a key is sent. */
  readonly keyHeader: (key: string) => Readonly<Record<string, string>>;
  /** Waits; rejects with the signal's reason. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const TRIES = 3;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
/** A group of 8000 tokens returns about 20 vectors; a batch file has many thousands. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const SHOWN = 200;

/** An error response: its status and the provider's message. */
interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
}

const isWorthRetrying = (status: number): boolean => status === 429 || status === 408 || status >= 500;

/** Milliseconds from a `Retry-After` header, which holds seconds or a date. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The provider's own message in an error response. */
function messageIn(text: string): string {
  const value = parse(text);
  const error = isRecord(value) ? (value["error"] ?? value["detail"] ?? value["message"]) : undefined;
  const found = isRecord(error) ? error["message"] : error;
  return typeof found === "string" ? found : text;
}

const CODES = { 400: "INVALID_INPUT", 401: "PERMISSION_DENIED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "OVERLOADED" } as const;

function failureOf(id: string, status: number, message: string): AppError {
  const code = CODES[status as keyof typeof CODES] ?? "UNAVAILABLE";
  return new AppError(code, `${id} embeddings: status ${status}: ${message}`, { details: { provider: id, status } });
}

const unreachable = (id: string, message: string): AppError => new AppError("UNAVAILABLE", `${id} embeddings: ${message}`, { details: { provider: id } });

export function createClient(access: ProviderAccess, { version, keyHeader, sleep }: ClientDeps): ProviderClient {
  const { id, baseUrl, keys } = access;
  const redactor = createRedactor();
  for (const key of keys) redactor.register(key);
  for (const value of Object.values(access.headers)) redactor.register(value);
  const shown = (text: string): string => redactor.text(text.replaceAll(/\s+/g, " ").trim()).slice(0, SHOWN);

  /** Sends the request once with one key. */
  async function sendOnce(request: ProviderRequest, key: string | undefined, timeoutMs: number): Promise<{ readonly value: unknown } | Refusal> {
    const { path, body, raw, signal, text: asText = false } = request;
    const url = /^https?:\/\//.test(path) ? path : `${baseUrl}${path}`;
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": `openclaw/${version}`,
      ...(raw ? { "content-type": raw.type } : body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : keyHeader(key)),
    };
    for (const [name, value] of Object.entries(access.headers)) headers[name.toLowerCase()] = value;
    // The operator named this host, so it may be on a private network. Redirects are not followed: keys go nowhere else.
    using answer = await guardedFetch({
      url,
      method: request.method ?? (body === undefined && !raw ? "GET" : "POST"),
      headers,
      maxRedirects: 0,
      timeoutMs,
      signal,
      policy: { allowedHostnames: [new URL(baseUrl).hostname] },
      isAllowed: (target) => target.host === new URL(baseUrl).host,
      ...(raw ? { body: raw.bytes } : body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { bytes, truncated } = await answer.read(asText ? MAX_FILE_BYTES : MAX_BYTES);
    const text = bytes.toString("utf8");
    if (answer.status >= 200 && answer.status < 300) {
      if (truncated) throw new AppError("OVERLOADED", `${id} returned more than ${Math.round(bytes.length / 1024 / 1024)} MB`);
      if (asText) return { value: text };
      const value = parse(text);
      if (value === undefined) return { status: 502, message: "its response is not complete JSON", retryAfterMs: undefined };
      return { value };
    }
    return { status: answer.status, message: messageIn(text), retryAfterMs: retryAfter(answer.header("retry-after")) };
  }

  /** Tries each key until one is not rate-limited. */
  async function withKeys(request: ProviderRequest, timeoutMs: number): Promise<{ readonly value: unknown } | Refusal> {
    let last: Refusal | undefined;
    for (const key of keys.length === 0 ? [undefined] : keys) {
      const answer = await sendOnce(request, key, timeoutMs);
      if ("value" in answer) return answer;
      last = answer;
      if (keys.length < 2) break;
      const { wantsNextKey } = await loadProfiles();
      if (!wantsNextKey(`${answer.status} ${answer.message}`)) break;
    }
    return last ?? { status: 0, message: "no key", retryAfterMs: undefined };
  }

  return {
    access,
    async ask(request) {
      const ends = performance.now() + request.timeoutMs;
      let wait = FIRST_WAIT_MS;
      for (let attempt = 1; ; attempt += 1) {
        const left = ends - performance.now();
        let failed: AppError;
        let hint: number | undefined;
        try {
          const answer = await withKeys(request, left);
          if ("value" in answer) return answer.value;
          failed = failureOf(id, answer.status, shown(answer.message));
          hint = answer.retryAfterMs;
          if (!isWorthRetrying(answer.status)) throw failed;
        } catch (error) {
          request.signal.throwIfAborted();
          if (error instanceof AppError && error.code !== "UNAVAILABLE") throw error;
          failed = error instanceof AppError && "provider" in error.details ? error : unreachable(id, shown(messageOf(error)));
        }
        const pause = hint ?? wait;
        if (attempt >= TRIES || pause > LONGEST_WAIT_MS || ends - performance.now() <= pause) throw failed;
        await sleep(pause, request.signal);
        wait = Math.min(LONGEST_WAIT_MS, wait * 4);
      }
    },
  };
}
