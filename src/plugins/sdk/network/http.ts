/** Requests to other services: deadlines, probes, answers that have to be read. */
import { AppError, messageOf } from "../../../base/errors.ts";

/** The promise, or a `TIMEOUT` after `ms`. */
export async function withTimeout<T>(work: Promise<T>, ms: number, label = "the operation"): Promise<T> {
  if (!(ms > 0)) return work;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new AppError("TIMEOUT", `${label} did not finish within ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

type FetchLike = (input: string | URL, init?: RequestInit) => Promise<Response>;

export const fetchWithTimeout = (url: string | URL, init: RequestInit, timeoutMs: number, fetcher: FetchLike = fetch): Promise<Response> =>
  fetcher(url, { ...init, signal: AbortSignal.any([AbortSignal.timeout(Math.ceil(timeoutMs)), ...(init.signal ? [init.signal] : [])]) });

/** Asks a platform whether it answers. A failure is an answer; both say how long it took. */
export async function runChannelProbe<R extends object>(
  timeoutMs: number | undefined,
  probe: (tools: { elapsedMs(): number; signal: AbortSignal }) => Promise<R>,
): Promise<R | { ok: false; error: string; elapsedMs: number }> {
  const start = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - start);
  const ended = new AbortController();
  try {
    const work = probe({ elapsedMs, signal: ended.signal });
    return await (timeoutMs ? withTimeout(work, timeoutMs, "the probe") : work);
  } catch (error) {
    return { ok: false, error: messageOf(error), elapsedMs: elapsedMs() };
  } finally {
    ended.abort();
  }
}

const MAX_ERROR_TEXT = 2000;
const MAX_JSON_BYTES = 16 * 1024 * 1024;

/** A service that answered with an error. */
export class ProviderHttpError extends Error {
  override readonly name = "ProviderHttpError";
  readonly status: number;
  readonly body: string;

  constructor(label: string, status: number, body: string) {
    super(`${label} answered ${status}${body ? `: ${body}` : ""}`);
    this.status = status;
    this.body = body;
  }
}

async function bounded(response: Response, label: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new AppError("INVALID_INPUT", `${label} answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export async function createProviderHttpError(response: Response, label: string): Promise<ProviderHttpError> {
  const text = await bounded(response, label, 64 * 1024).catch(() => "");
  return new ProviderHttpError(label, response.status, text.trim().slice(0, MAX_ERROR_TEXT));
}

export async function assertOkOrThrowProviderError(response: Response, label: string): Promise<void> {
  if (!response.ok) throw await createProviderHttpError(response, label);
}

/** The answer as JSON, within a limit. */
export async function readProviderJsonResponse<T = unknown>(
  response: Response,
  label: string,
  options: { readonly maxBytes?: number | undefined } = {},
): Promise<T> {
  const text = await bounded(response, label, options.maxBytes ?? MAX_JSON_BYTES);
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new AppError("INVALID_INPUT", `${label} returned a response that is not JSON`, { cause: error });
  }
}

/** A list in the answer's field; nothing there is an empty one. */
export async function readProviderJsonArrayFieldResponse<T = unknown>(response: Response, label: string, field: string): Promise<T[]> {
  const value = (await readProviderJsonResponse<Record<string, unknown> | null>(response, label))?.[field];
  return Array.isArray(value) ? value : [];
}

export interface OperationDeadline {
  readonly deadlineAtMs: number | undefined;
  readonly label: string;
  readonly timeoutMs?: number | undefined;
}

export const createProviderOperationDeadline = ({
  timeoutMs,
  label,
}: {
  readonly timeoutMs?: number | undefined;
  readonly label: string;
}): OperationDeadline => ({
  deadlineAtMs: timeoutMs && timeoutMs > 0 ? Date.now() + timeoutMs : undefined,
  label,
  timeoutMs,
});

/** What one request may take of what is left. */
export function resolveProviderOperationTimeoutMs({
  deadline,
  defaultTimeoutMs,
}: {
  readonly deadline: OperationDeadline;
  readonly defaultTimeoutMs: number;
}): number {
  if (deadline.deadlineAtMs === undefined) return defaultTimeoutMs;
  const left = deadline.deadlineAtMs - Date.now();
  if (left <= 0) throw new AppError("TIMEOUT", `${deadline.label} did not finish within ${deadline.timeoutMs} ms`);
  return Math.min(defaultTimeoutMs, left);
}

/** Size that a response states, if it is one. */
export function parseMediaContentLength(value: string | null | undefined): number | undefined {
  return value && /^\d+$/.test(value.trim()) ? Number(value) : undefined;
}
