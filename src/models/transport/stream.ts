import { AppError, messageOf } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { Clock } from "../../base/clock.ts";
import { modelFailed, type FailurePhase, type ModelFailure } from "../failure.ts";
import { wholeBody, type EncodedRequest, type ModelEvent, type StreamEvent, type WireFormat, type WireReader, type WireRequest } from "../wire/format.ts";
import { post, type Answer, type Post } from "./post.ts";
import { failedResponse, networkFailure } from "./response-error.ts";
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
const REQUEST_ID_HEADERS = ["request-id", "x-request-id", "x-goog-request-id", "cf-ray"];

/**
 * One call over the network as a stream of events, the last of which is `end`. Throws `MODEL_FAILED` for every error. The request's bytes are sent as
 * they
 * are and can be sent again.
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
    const reader = format.reader(request, { now: options.clock.now() });
    let steps = 0;
    for await (const events of read(response, format, reader, options)) {
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
    yield* reading(() => reader.end(), "its end");
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
  const give = (text: string): void => {
    hung = text;
    controller.abort();
  };
  // One timer that checks for progress, instead of one per event.
  const look = (): void => {
    const left = last + progressMs - clock.monotonic();
    if (left <= 0) give(`no progress for ${Math.round(progressMs / 1000)} s`);
    else timer = clock.after(left, look);
  };
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  timer = clock.after(headersMs, () => give(`no answer within ${Math.round(headersMs / 1000)} s`));
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
  const response = await (fetch ? fetch(url, { ...init, body: wholeBody(body) }) : post(url, { ...init, body }));
  watch.phase = "headers";
  const requestId = REQUEST_ID_HEADERS.map((name) => response.headers.get(name)).find((value) => value !== null);
  watch.requestId = requestId ?? undefined;
  onResponse?.({ status: response.status, headersMs: clock.monotonic() - started, ...(requestId ? { requestId } : {}) });
  if (!response.ok) throw await failedResponse(response, clock.now());
  watch.phase = "stream";
  watch.opened();
  return response;
}

async function* read(
  response: Answer,
  format: WireFormat,
  reader: WireReader,
  { clock, onRaw }: StreamOptions,
): AsyncGenerator<readonly ModelEvent[], void, void> {
  const type = response.headers.get("content-type") ?? "";
  if (format.framing === "sse" && /\bapplication\/json\b|\btext\/html\b/.test(type)) throw await failedResponse(response, clock.now());
  if (!response.body) throw modelFailed({ phase: "stream", malformed: true, text: "the answer has no body" });
  const parser: EventParser = format.framing === "sse" ? createSseParser() : createLineParser();
  function* through(events: readonly StreamEvent[]): Generator<readonly ModelEvent[], void, void> {
    for (const event of events) {
      onRaw?.(event);
      yield reading(() => reader.read(event), event.data);
    }
  }
  for await (const bytes of response.body) {
    yield* through(parser.push(bytes));
    if (reader.done) return;
  }
  yield* through(parser.end());
}

/** Parses a part of the answer; a parse error is the provider's failure, never the network's. */
function reading(read: () => readonly ModelEvent[], shown: string): readonly ModelEvent[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (error instanceof SyntaxError)
      throw modelFailed({ phase: "stream", malformed: true, text: `an event of the answer is no JSON: ${messageOf(error)}` }, error);
    // An event that violates its format: not a network error.
    throw modelFailed({ phase: "answer", malformed: true, text: `an event of the answer has an unexpected shape: ${clip(shown, SHOWN_EVENT_CHARS)}` }, error);
  }
}
