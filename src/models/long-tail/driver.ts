import { AppError } from "../../base/errors.ts";
import type { AssistantMessage } from "../../protocol/index.ts";
import { failureOf, modelFailed, type ModelFailure } from "../failure.ts";
import type { StreamOptions } from "../transport/index.ts";
import { errorFacts, retryHint, type ModelEvent, type WireRequest } from "../wire/index.ts";
import { LONG_TAIL_APIS, LONG_TAIL_PACKAGE, loadLibrary, type Library, type LibraryEvent } from "./library.ts";

const CODEX = "openai-codex-responses";

/** Answers requests in a wire format of the long tail. */
export interface LongTailDriver {
  readonly api: string;
  stream(request: WireRequest, options: StreamOptions): AsyncIterable<ModelEvent>;
}

export interface LongTailDeps {
  /** Folders to resolve the package from. */
  readonly from: readonly string[];
  /** Version of this program, for the `user-agent` header. */
  readonly version: string;
}

/** Throws `UNAVAILABLE` for an unknown format, or when its package is missing. */
export async function loadLongTail(api: string, { from, version }: LongTailDeps): Promise<LongTailDriver> {
  if (!LONG_TAIL_APIS.includes(api)) {
    throw new AppError(
      "UNAVAILABLE",
      `the wire format ${JSON.stringify(api)} is not known; a plugin must provide it, or models.providers must set another api`,
    );
  }
  const library = await loadLibrary(api, from);
  // Older versions send another product's name there, whatever they are configured with.
  if (api === CODEX && library.formatUserAgent === undefined) {
    throw new AppError(
      "UNAVAILABLE",
      `this version of ${LONG_TAIL_PACKAGE} would use another client name than openclaw at this provider; install a newer one: npm install ${LONG_TAIL_PACKAGE}@latest`,
    );
  }
  return { api, stream: (request, options) => streamThrough(library, request, options, version) };
}

/** Adds the failures and progress checks of our own transport. */
async function* streamThrough(library: Library, request: WireRequest, options: StreamOptions, version: string): AsyncGenerator<ModelEvent, void, void> {
  const { clock, signal, headersMs, progressMs } = options;
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  let hung: string | undefined;
  let content = false;
  const failed = (failure: ModelFailure, cause?: unknown): AppError => modelFailed({ ...failure, ...(content ? { afterContent: true } : {}) }, cause);
  const events = library.streamSimple(modelFor(request), contextFor(request), optionsFor(request, controller.signal, version))[Symbol.asyncIterator]();
  try {
    while (true) {
      const budget = content ? progressMs : headersMs;
      const { promise: late, reject } = Promise.withResolvers<never>();
      using _timer = clock.after(budget, () => {
        hung = `no progress for ${Math.round(budget / 1000)} s`;
        controller.abort();
        reject(new Error(hung));
      });
      const next = await Promise.race([events.next(), late]);
      if (next.done === true) throw failed({ phase: "stream", malformed: true, text: "the response ended early" });
      for (const event of translated(next.value, clock.now())) {
        content = true;
        yield event;
        if (event.type === "end") return;
      }
    }
  } catch (error) {
    if (hung !== undefined) throw failed({ phase: "stream", text: hung, hung: true }, error);
    if (signal?.aborted) throw failed({ phase: "stream", text: "the call was aborted", aborted: true }, error);
    const known = failureOf(error);
    throw known ? failed(known, error) : failed({ phase: content ? "stream" : "connect", text: error instanceof Error ? error.message : String(error) }, error);
  } finally {
    signal?.removeEventListener("abort", stop);
    controller.abort();
  }
}

function modelFor({ model }: WireRequest): unknown {
  const { source: _source, ...facts } = model;
  return { ...facts, type: "chat" };
}

const contextFor = ({ systemPrompt, messages, tools }: WireRequest): unknown => ({
  messages,
  ...(systemPrompt === undefined ? {} : { systemPrompt }),
  ...(tools ? { tools } : {}),
});

/** Retries are decided here, not there; and the `user-agent` is openclaw's. */
function optionsFor(request: WireRequest, signal: AbortSignal, version: string): unknown {
  const { apiKey, headers, thinking, maxTokens, temperature, cacheRetention, sessionId, params } = request;
  const name = `openclaw/${version}`;
  return {
    ...params,
    signal,
    maxRetries: 0,
    transport: "sse",
    identity: { userAgent: { custom: name } },
    headers: { "User-Agent": name, ...(request.model.api === CODEX ? { originator: "openclaw" } : {}), ...headers },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(thinking === "off" ? {} : { reasoning: thinking }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(cacheRetention === undefined ? {} : { cacheRetention }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

function translated({ type, contentIndex: index = 0, delta = "", partial, message, error }: LibraryEvent, now: number): readonly ModelEvent[] {
  switch (type) {
    case "text_delta":
      return [{ type: "text", index, delta }];
    case "thinking_delta":
      return [{ type: "thinking", index, delta }];
    case "toolcall_start": {
      const { id, name } = (partial?.content?.[index] ?? {}) as { readonly id?: string; readonly name?: string };
      return [{ type: "toolCall", index, id: id ?? "", name: name ?? "" }];
    }
    case "toolcall_delta":
      return [{ type: "toolCallArguments", index, delta }];
    case "done":
      return [{ type: "end", message: transcriptMessage(message as AssistantMessage) }];
    case "error": {
      const text = (error as AssistantMessage | undefined)?.errorMessage ?? "the call failed without an error message";
      throw modelFailed({ phase: "stream", text, ...factsIn(text, now) });
    }
    default:
      return []; // Starts and ends of parts: their content is in the deltas and in the message.
  }
}

/** The package puts everything into one text: a status, the name of an exception, the provider's JSON. */
function factsIn(text: string, now: number): Partial<ModelFailure> {
  const status = /^(?:[A-Za-z]+: )?([45]\d\d)\b/.exec(text)?.[1];
  const name = /^([A-Za-z]+(?:Exception|Error))\b/.exec(text)?.[1];
  const json = /[{[][\s\S]*[}\]]/.exec(text)?.[0];
  const inner = json === undefined ? [] : errorFacts(json).codes;
  const codes = [...inner, ...(name === undefined || name === "Error" ? [] : [name])];
  const retryAfterMs = retryHint(undefined, { text, codes }, now);
  return {
    ...(status === undefined ? {} : { status: Number(status) }),
    ...(codes[0] === undefined ? {} : { code: codes[0], codes }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Only the fields of transcripts; the package adds its own. */
function transcriptMessage({ content, api, provider, model, usage, stopReason, timestamp }: AssistantMessage): AssistantMessage {
  return { role: "assistant", content, api, provider, model, usage, stopReason, timestamp };
}
