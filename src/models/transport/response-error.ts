import { messageOf } from "../../base/errors.ts";
import { failureOf, modelFailed, type FailurePhase, type ModelFailure } from "../failure.ts";
import { errorFacts, type ErrorFacts } from "./error-body.ts";
import type { Answer } from "./post.ts";
import { retryHint } from "./retry-hint.ts";

const MAX_BODY_CHARS = 4_000;
const MAX_BODY_BYTES = 64 * 1024;

/** The failure described by an error response. */
export async function failedResponse(response: Answer, now: number): Promise<Error> {
  const facts = errorFacts(await readStart(response), now);
  const requestId = response.headers.get("request-id") ?? response.headers.get("x-request-id");
  // Some providers put errors into a response with status 200.
  const claimed = response.ok && facts.structured === true && (facts.status !== undefined || facts.codes.length > 0);
  const status = response.ok ? facts.status : response.status;
  const words = facts.text === "" ? response.statusText || `status ${response.status}` : facts.text;
  return modelFailed({
    phase: "headers",
    ...(response.ok && !claimed ? { malformed: true } : {}),
    ...(status === undefined ? {} : { status }),
    ...factsOf(facts, retryHint(response.headers, facts, now)),
    text: (response.ok && !claimed ? `the answer is no event stream but ${response.headers.get("content-type")}: ` : "") + words.slice(0, MAX_BODY_CHARS),
  });

  function factsOf(found: ErrorFacts, retryAfterMs: number | undefined): Partial<ModelFailure> {
    return { ...failureFacts(found), ...(retryAfterMs === undefined ? {} : { retryAfterMs }), ...(requestId ? { requestId } : {}) };
  }
}

/** An error inside a stream that started well. `statusOf` is for providers whose codes stand for statuses. */
export function streamFailure(data: string, now: number, statusOf: Readonly<Record<string, number>> = {}): Error {
  const facts = errorFacts(data, now);
  const status = facts.status ?? facts.codes.map((code) => statusOf[code]).find((known) => known !== undefined);
  const retryAfterMs = retryHint(undefined, facts, now);
  return modelFailed({
    phase: "stream",
    ...failureFacts(facts),
    text: facts.text.slice(0, MAX_BODY_CHARS),
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function failureFacts({ code, codes, html, structured }: ErrorFacts): Partial<ModelFailure> {
  return {
    ...(code === undefined ? {} : { code }),
    ...(codes.length === 0 ? {} : { codes }),
    ...(html ? { html } : {}),
    ...(structured ? { structured } : {}),
  };
}

/** As much of the body as an error needs; the rest is not read. */
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
    // What was received is enough.
  }
  return new TextDecoder().decode(Buffer.concat(parts)).slice(0, MAX_BODY_BYTES);
}

/** Network errors as failed calls; an existing failed call gets the facts added. */
export function networkFailure(error: unknown, phase: FailurePhase, facts: Partial<ModelFailure>): Error {
  const known = failureOf(error);
  if (known) return modelFailed({ ...known, ...facts }, error);
  const cause = deepest(error);
  const code = (cause as NodeJS.ErrnoException).code;
  return modelFailed({ phase, text: `the connection failed: ${messageOf(cause)}`, ...(typeof code === "string" ? { code } : {}), ...facts }, error);
}

/** `fetch failed` says nothing; its cause does. */
function deepest(error: unknown): Error {
  let found = error instanceof Error ? error : new Error(String(error));
  for (let depth = 0; depth < 5 && found.cause instanceof Error; depth += 1) found = found.cause;
  return found;
}
