import { modelFailed } from "../../failure.ts";
import { streamFailure } from "../provider-error.ts";
import { Draft } from "../draft.ts";
import type { ModelEvent, StreamEvent, WireReader, WireRequest } from "../format.ts";

/** Fields in which servers of this format send reasoning, and want it back. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

/** Some providers send content in parts, with the reasoning among them. */
interface ContentPart {
  readonly type?: string;
  readonly text?: string;
  readonly thinking?: string | readonly ContentPart[];
}

interface Counted {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly total_tokens?: number;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number } | null;
  readonly prompt_cache_hit_tokens?: number;
}

/** Arguments come as JSON text, in chunks; some servers send the object itself. */
interface CalledFunction {
  readonly name?: string;
  readonly arguments?: unknown;
}

interface Delta {
  readonly content?: string | ContentPart | (ContentPart | string)[] | null;
  readonly refusal?: string | null;
  readonly tool_calls?: readonly { readonly index?: number; readonly id?: string; readonly function?: CalledFunction | null }[] | null;
  /** The single call of an answer, from before there were several. */
  readonly function_call?: CalledFunction | null;
  readonly [field: string]: unknown;
}

interface Chunk {
  readonly error?: unknown;
  readonly choices?: readonly {
    readonly delta?: Delta;
    readonly message?: Delta;
    readonly finish_reason?: string | null;
    readonly usage?: Counted | null;
  }[];
  readonly usage?: Counted | null;
  readonly x_groq?: { readonly error?: string | null; readonly usage?: Counted | null };
}

const STOPS: Readonly<Record<string, "stop" | "length" | "toolUse">> = {
  stop: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "toolUse",
  function_call: "toolUse",
};

const LEGACY_CALL = "function_call";

/** Finish reasons that are failures, with the equivalent HTTP status. */
const FAILED: Readonly<Record<string, { readonly text: string; readonly status?: number }>> = {
  content_filter: { text: "the provider's content filter stopped the answer" },
  sensitive: { text: "the provider's content filter stopped the answer" },
  insufficient_system_resource: { text: "the provider is overloaded and aborted the response", status: 503 },
  network_error: { text: "the provider aborted the response: network error", status: 502 },
  model_context_window_exceeded: { text: "the conversation is longer than the model's context window", status: 400 },
  error: { text: "the provider aborted the response without a reason", status: 500 },
};

export function completionsReader(request: WireRequest, { now }: { readonly now: number }): WireReader {
  const draft = new Draft(request.model, now);
  let finish: string | undefined;
  let done = false;
  /** By index: number of calls, and the id of the last. */
  const calls = new Map<number, { readonly id: string | undefined; readonly count: number }>();

  /** Some servers give every call the index 0: a new id with a name is a new call. */
  function callKey(index: number, id: string | undefined, name: string | undefined): string {
    const known = calls.get(index);
    const isNew = known === undefined || (id !== undefined && id !== "" && Boolean(name) && known.id !== undefined && known.id !== id);
    const now = isNew ? { id: id || undefined, count: (known?.count ?? 0) + 1 } : { id: known.id ?? (id || undefined), count: known.count };
    calls.set(index, now);
    return `${index}.${now.count}`;
  }

  function content(received: NonNullable<Delta["content"]>): void {
    if (typeof received === "string") return draft.text(received);
    for (const part of Array.isArray(received) ? received : [received]) {
      const { type, text, thinking } = typeof part === "string" ? { text: part } : part;
      if (type === "thinking") draft.thinking(typeof thinking === "string" ? thinking : (thinking ?? []).map((part) => part.text ?? "").join(""));
      else draft.text(text ?? "");
    }
  }

  function calledWith(key: string, args: unknown): void {
    if (typeof args === "string") draft.arguments(key, args);
    else if (args !== undefined && args !== null) draft.wholeArguments(key, args);
  }

  function delta(part: Delta): void {
    for (const field of REASONING_FIELDS) {
      const text = part[field];
      if (typeof text !== "string" || text === "") continue;
      draft.thinking(text);
      draft.sign("thinking", field);
      break;
    }
    if (part.content) content(part.content);
    if (part.refusal) draft.text(part.refusal);
    for (const [at, call] of (part.tool_calls ?? []).entries()) {
      const key = callKey(call.index ?? at, call.id, call.function?.name);
      draft.toolCall(key, { id: call.id, name: call.function?.name });
      calledWith(key, call.function?.arguments);
    }
    if (part.function_call) {
      draft.toolCall(LEGACY_CALL, { name: part.function_call.name });
      calledWith(LEGACY_CALL, part.function_call.arguments);
    }
  }

  function complete(): readonly ModelEvent[] {
    if (done) return [];
    done = true;
    const failed = FAILED[finish ?? ""];
    if (finish !== undefined && failed) throw modelFailed({ phase: "answer", code: finish, ...failed });
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
      if (chunk.error !== undefined && chunk.error !== null) throw streamFailure(data, now);
      if (chunk.x_groq?.error) throw modelFailed({ phase: "stream", text: chunk.x_groq.error });
      const choice = chunk.choices?.[0];
      const part = choice?.delta ?? choice?.message;
      if (part) delta(part);
      if (choice?.finish_reason) finish = choice.finish_reason;
      const counted = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
      if (counted) usage(draft, counted);
      return draft.take();
    },
    end() {
      if (done) return [];
      // Some servers omit the last line; without a finish reason the answer is truncated.
      if (finish === undefined) throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the response was complete" });
      return complete();
    },
  };
}

function usage(draft: Draft, counted: Counted): void {
  const cacheRead = counted.prompt_tokens_details?.cached_tokens ?? counted.prompt_cache_hit_tokens ?? 0;
  const cacheWrite = counted.prompt_tokens_details?.cache_write_tokens ?? 0;
  const [input, output, reasoning] = [counted.prompt_tokens ?? 0, counted.completion_tokens ?? 0, counted.completion_tokens_details?.reasoning_tokens ?? 0];
  // Some count reasoning beside the completion, most within it: the total shows which.
  const beside = reasoning > 0 && counted.total_tokens === input + output + reasoning ? reasoning : 0;
  draft.usage({ input: Math.max(0, input - cacheRead - cacheWrite), output: output + beside, cacheRead, cacheWrite });
}
