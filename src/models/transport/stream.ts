import { AppError, messageOf, systemCode } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { Clock } from "../../base/clock.ts";
import { failureOf, modelFailed, type FailurePhase, type ModelFailure } from "../failure.ts";
import type { EncodedRequest, ModelEvent, StreamEvent, WireFormat, WireRequest } from "../wire/format.ts";
import { errorFacts, failureFacts, retryHint } from "../wire/provider-error.ts";
import { post, type Answer, type Post } from "./post.ts";
import { createLineParser, createSseParser, type EventParser } from "./sse.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface StreamOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Time limit for the response headers. */
  readonly headersMs: number;
  /** Longest time without progress of the answer; keep-alives do not count. */
  readonly progressMs: number;
  readonly fetch?: Post | undefined;
  /** Receives every event of the provider before it is parsed. */
  readonly onRaw?: (event: StreamEvent) => void;
  /** Called once, when the response headers are there. */
  readonly onResponse?: (facts: ResponseFacts) => void;
}

export interface ResponseFacts {
  readonly status: number;
  readonly requestId?: string;
  /** Milliseconds from the request to the response headers. */
  readonly headersMs: number;
}

/** A provider may send hundreds of events at once: after this many, the event loop gets a turn. */
const STEPS_PER_TURN = 8;
const SHOWN_EVENT_CHARS = 200;
const MAX_TEXT_CHARS = 4_000;
const MAX_BODY_BYTES = 64 * 1024;
const REQUEST_ID_HEADERS = ["request-id", "x-request-id", "x-goog-request-id", "cf-ray"];

/**
 * One call over the network as a stream of events, the last of which is `end`. Throws `MODEL_FAILED` for every error. The request's bytes are sent as
 * they are and can be sent again.
 */
export async function* streamCall(
  format: WireFormat,
  request: WireRequest,
  encoded: EncodedRequest,
  options: StreamOptions,
): AsyncGenerator<ModelEvent, void, void> {
  const watch = createWatch(options);
  let content = false;
  try {
    const response = await open(encoded, watch, options);
    const now = options.clock.now();
    const reader = format.reader(request, { now });
    let steps = 0;
    for await (const received of receivedEvents(response, format, now)) {
      options.onRaw?.(received);
      let events: readonly ModelEvent[];
      try {
        events = reader.read(received);
      } catch (error) {
        throw unreadable(error, received.data);
      }
      // Events that came before an abort and were not passed on are dropped.
      watch.signal.throwIfAborted();
      steps += 1;
      if (steps % STEPS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      if (events.length === 0) continue;
      watch.progress();
      // The consumer may stop after the last event.
      if (reader.done) watch.over();
      for (const event of events) {
        content = true;
        yield event;
      }
      if (reader.done) return;
    }
    // A body that was cut off by our abort ends like a complete one.
    watch.signal.throwIfAborted();
    watch.over();
    try {
      yield* reader.end();
    } catch (error) {
      throw unreadable(error, "its end");
    }
  } catch (error) {
    throw watch.explain(error, content);
  } finally {
    watch[Symbol.dispose]();
  }
}

interface Watch extends Disposable {
  readonly signal: AbortSignal;
  phase: FailurePhase;
  requestId: string | undefined;
  /** From now on the stream's time limit applies. */
  opened(): void;
  progress(): void;
  /** Everything that matters was read: leaving the body ends it, and nothing is left to abort. */
  over(): void;
  explain(error: unknown, afterContent: boolean): unknown;
}

function createWatch({ clock, signal, headersMs, progressMs }: StreamOptions): Watch {
  const controller = new AbortController();
  let hung: string | undefined;
  let isOver = false;
  let last = clock.monotonic();
  let timer: Disposable | undefined;
  const giveUp = (text: string): void => {
    hung = text;
    controller.abort();
  };
  // One timer that checks for progress, instead of one per event.
  const look = (): void => {
    const left = last + progressMs - clock.monotonic();
    if (left <= 0) giveUp(`no progress for ${Math.round(progressMs / 1000)} s`);
    else timer = clock.after(left, look);
  };
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  timer = clock.after(headersMs, () => giveUp(`no response within ${Math.round(headersMs / 1000)} s`));
  return {
    signal: controller.signal,
    phase: "connect",
    requestId: undefined,
    opened() {
      timer?.[Symbol.dispose]();
      last = clock.monotonic();
      timer = clock.after(progressMs, look);
    },
    progress() {
      last = clock.monotonic();
    },
    over() {
      isOver = true;
    },
    explain(error, afterContent) {
      const facts: Partial<ModelFailure> = {
        ...(afterContent ? { afterContent } : {}),
        ...(this.requestId === undefined ? {} : { requestId: this.requestId }),
      };
      if (hung !== undefined) return modelFailed({ phase: this.phase, text: hung, hung: true, ...facts }, error);
      if (signal?.aborted) return modelFailed({ phase: this.phase, text: "the call was aborted", aborted: true, ...facts }, error);
      return networkFailure(error, this.phase, facts);
    },
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
      signal?.removeEventListener("abort", onAbort);
      // Ends the connection when the reader stops early.
      if (!isOver) controller.abort();
    },
  };
}

async function open(encoded: EncodedRequest, watch: Watch, { clock, fetch, onResponse }: StreamOptions): Promise<Answer> {
  const started = clock.monotonic();
  const { url, headers, body } = encoded;
  const init = { method: "POST", headers, signal: watch.signal, redirect: "error" } as const;
  const response = await (fetch ? fetch(url, { ...init, body: body instanceof Uint8Array ? body : Buffer.concat(body) }) : post(url, { ...init, body }));
  watch.phase = "headers";
  for (const name of REQUEST_ID_HEADERS) watch.requestId ??= response.headers.get(name) ?? undefined;
  const { requestId } = watch;
  onResponse?.({ status: response.status, headersMs: clock.monotonic() - started, ...(requestId ? { requestId } : {}) });
  if (!response.ok) throw await failedResponse(response, clock.now());
  watch.phase = "stream";
  watch.opened();
  return response;
}

async function* receivedEvents(response: Answer, { framing }: WireFormat, now: number): AsyncGenerator<StreamEvent, void, void> {
  const type = response.headers.get("content-type") ?? "";
  if (framing === "sse" && /\bapplication\/json\b|\btext\/html\b/.test(type)) throw await failedResponse(response, now);
  if (!response.body) throw modelFailed({ phase: "stream", malformed: true, text: "the response has no body" });
  const parser: EventParser = framing === "sse" ? createSseParser() : createLineParser();
  for await (const bytes of response.body) yield* parser.push(bytes);
  yield* parser.end();
}

/** A part of the answer that cannot be parsed is the provider's failure, never the network's. */
function unreadable(error: unknown, shown: string): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof SyntaxError)
    return modelFailed({ phase: "stream", malformed: true, text: `an event of the response is not JSON: ${messageOf(error)}` }, error);
  return modelFailed({ phase: "answer", malformed: true, text: `an event of the response has an unexpected shape: ${clip(shown, SHOWN_EVENT_CHARS)}` }, error);
}

/** The failure described by an error response. */
async function failedResponse(response: Answer, now: number): Promise<Error> {
  const facts = errorFacts(await readStart(response), now);
  const requestId = response.headers.get("request-id") ?? response.headers.get("x-request-id");
  // Some providers put errors into a response with status 200.
  const claimed = response.ok && facts.structured === true && (facts.status !== undefined || facts.codes.length > 0);
  const status = response.ok ? facts.status : response.status;
  const text = facts.text === "" ? response.statusText || `status ${response.status}` : facts.text;
  return modelFailed({
    phase: "headers",
    ...(response.ok && !claimed ? { malformed: true } : {}),
    ...(status === undefined ? {} : { status }),
    ...failureFacts(facts, retryHint(response.headers, facts, now)),
    ...(requestId ? { requestId } : {}),
    text: (response.ok && !claimed ? `the response is not an event stream but ${response.headers.get("content-type")}: ` : "") + text.slice(0, MAX_TEXT_CHARS),
  });
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
function networkFailure(error: unknown, phase: FailurePhase, facts: Partial<ModelFailure>): Error {
  const known = failureOf(error);
  if (known) return modelFailed({ ...known, ...facts }, error);
  // `fetch failed` says nothing; its cause does.
  let cause = error instanceof Error ? error : new Error(String(error));
  for (let depth = 0; depth < 5 && cause.cause instanceof Error; depth += 1) cause = cause.cause;
  const code = systemCode(cause);
  return modelFailed({ phase, text: `the connection failed: ${messageOf(cause)}`, ...(code === undefined ? {} : { code }), ...facts }, error);
}
