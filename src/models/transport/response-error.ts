import { messageOf } from "../../base/errors.ts";
import { failureOf, modelFailed, type FailurePhase, type ModelFailure } from "../failure.ts";
import type { Answer } from "./post.ts";

const MAX_BODY_CHARS = 4_000;
const MAX_BODY_BYTES = 64 * 1024;

/** What a provider said instead of an answer. */
export async function failedResponse(response: Answer, now: number): Promise<Error> {
  const body = await readStart(response);
  const { text, code } = words(body);
  const retryAfterMs = retryAfter(response.headers, now);
  const requestId = response.headers.get("request-id") ?? response.headers.get("x-request-id");
  return modelFailed({
    phase: "headers",
    ...(response.ok ? { malformed: true } : { status: response.status }),
    text:
      (response.ok ? `the answer is no event stream but ${response.headers.get("content-type")}: ` : "") +
      (text === "" ? response.statusText || `status ${response.status}` : text),
    ...(code === undefined ? {} : { code }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(requestId ? { requestId } : {}),
  });
}

/** As much of the body as an error needs; a provider that goes on sending is not listened to. */
async function readStart(response: Answer): Promise<string> {
  if (!response.body) return "";
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const bytes of response.body) {
      parts.push(bytes);
      size += bytes.length;
      if (size >= MAX_BODY_BYTES) break;
    }
  } catch {
    // What came is enough to tell.
  }
  return new TextDecoder().decode(Buffer.concat(parts)).slice(0, MAX_BODY_CHARS);
}

/** Error bodies are JSON with the words at one of a few places, or plain text. */
export function words(body: string): { readonly text: string; readonly code?: string } {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { text: body.trim() };
  }
  const list: unknown = Array.isArray(value) ? value[0] : value;
  const outer = asRecord(list);
  const inner = asRecord(outer["error"] ?? outer["response"]);
  const nested = asRecord(inner["error"]);
  const text = firstText(nested["message"], inner["message"], outer["message"], outer["detail"], outer["error"]) ?? body.trim();
  const code = firstText(nested["code"], inner["code"], nested["type"], inner["type"], inner["status"], outer["code"], outer["type"]);
  return { text, ...(code === undefined ? {} : { code }) };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function firstText(...values: readonly unknown[]): string | undefined {
  for (const value of values) {
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return undefined;
}

/** `retry-after` in seconds or as a date, and `retry-after-ms`. */
export function retryAfter(headers: Answer["headers"], now: number): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Failures of the network in our words; what already is a failed call gets the facts added. */
export function networkFailure(error: unknown, phase: FailurePhase, facts: Partial<ModelFailure>): Error {
  const known = failureOf(error);
  if (known) return modelFailed({ ...known, ...facts }, error);
  const cause = deepest(error);
  const code = (cause as NodeJS.ErrnoException).code;
  return modelFailed({ phase, text: `the connection failed: ${messageOf(cause)}`, ...(typeof code === "string" ? { code } : {}), ...facts }, error);
}

/** `fetch failed` says nothing; what it was caused by does. */
function deepest(error: unknown): Error {
  let found = error instanceof Error ? error : new Error(String(error));
  for (let depth = 0; depth < 5 && found.cause instanceof Error; depth += 1) found = found.cause;
  return found;
}
