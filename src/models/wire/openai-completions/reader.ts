import { modelFailed } from "../../failure.ts";
import { words } from "../../transport/response-error.ts";
import { Draft } from "../draft.ts";
import type { ModelEvent, StreamEvent, WireReader, WireRequest } from "../format.ts";
import { REASONING_FIELDS } from "./messages.ts";

interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly tool_calls?:
    | readonly { readonly index?: number; readonly id?: string; readonly function?: { readonly name?: string; readonly arguments?: string } }[]
    | null;
  readonly [field: string]: unknown;
}

interface Chunk {
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: Delta; readonly message?: Delta; readonly finish_reason?: string | null }[];
  readonly usage?: {
    readonly prompt_tokens?: number;
    readonly completion_tokens?: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
    readonly prompt_cache_hit_tokens?: number;
  } | null;
}

const STOPS: Readonly<Record<string, "stop" | "length" | "toolUse">> = {
  stop: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
};

export function completionsReader(request: WireRequest, now: number): WireReader {
  const draft = new Draft(request.model, now);
  let finish: string | undefined;
  let done = false;

  function delta(part: Delta): void {
    for (const field of REASONING_FIELDS) {
      const text = part[field];
      if (typeof text !== "string" || text === "") continue;
      draft.thinking(text);
      draft.sign("thinking", field);
      break;
    }
    if (part.content) draft.text(part.content);
    if (part.refusal) draft.text(part.refusal);
    for (const [at, call] of (part.tool_calls ?? []).entries()) {
      const key = call.index ?? at;
      draft.toolCall(key, { id: call.id, name: call.function?.name });
      draft.arguments(key, call.function?.arguments ?? "");
    }
  }

  function complete(): readonly ModelEvent[] {
    if (done) return [];
    done = true;
    if (finish === "content_filter") throw modelFailed({ phase: "answer", code: "content_filter", text: "the provider's content filter stopped the answer" });
    return draft.finish(STOPS[finish ?? "stop"] ?? "stop");
  }

  return {
    get done() {
      return done;
    },
    read({ data }: StreamEvent) {
      if (done) return [];
      if (data === "[DONE]") return complete();
      const chunk = JSON.parse(data) as Chunk | null;
      if (!chunk) return [];
      if (chunk.error !== undefined && chunk.error !== null) throw streamError(data);
      const choice = chunk.choices?.[0];
      const part = choice?.delta ?? choice?.message;
      if (part) delta(part);
      if (choice?.finish_reason) finish = choice.finish_reason;
      if (chunk.usage) usage(draft, chunk.usage);
      return draft.take();
    },
    end() {
      if (done) return [];
      // Some servers leave out the last line; without a finish reason the answer is cut.
      if (finish === undefined) throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the answer did" });
      return complete();
    },
  };
}

function usage(draft: Draft, counted: NonNullable<Chunk["usage"]>): void {
  const cacheRead = counted.prompt_tokens_details?.cached_tokens ?? counted.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = counted.prompt_tokens_details?.cache_write_tokens ?? 0;
  draft.usage({ input: Math.max(0, (counted.prompt_tokens ?? 0) - cacheRead - cacheWrite), output: counted.completion_tokens ?? 0, cacheRead, cacheWrite });
}

/** An error inside a stream that began well; some servers put the status into it. */
export function streamError(data: string): Error {
  const { text, code } = words(data);
  const status = Number(code);
  return modelFailed({
    phase: "stream",
    text,
    ...(code === undefined ? {} : { code }),
    ...(Number.isInteger(status) && status >= 400 && status < 600 ? { status } : {}),
  });
}
