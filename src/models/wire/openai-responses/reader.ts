import { modelFailed } from "../../failure.ts";
import { streamFailure } from "../provider-error.ts";
import { Draft } from "../draft.ts";
import type { ModelEvent, StreamEvent, WireReader, WireRequest } from "../format.ts";

interface OutputItem {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly type?: string; readonly text?: string; readonly refusal?: string }[];
}

interface Event {
  readonly type: string;
  readonly output_index?: number;
  readonly summary_index?: number;
  readonly delta?: string;
  readonly item?: OutputItem;
  readonly response?: {
    readonly status?: string;
    readonly incomplete_details?: { readonly reason?: string } | null;
    readonly usage?: {
      readonly input_tokens?: number;
      readonly output_tokens?: number;
      readonly input_tokens_details?: { readonly cached_tokens?: number } | null;
    } | null;
  };
}

export function responsesReader(request: WireRequest, { now }: { readonly now: number }): WireReader {
  const draft = new Draft(request.model, now);
  const texts = new Set<number>();
  const streamed = new Set<number>();
  let done = false;

  function added(index: number, item: OutputItem): void {
    if (item.type === "function_call")
      draft.toolCall(index, { id: item.call_id === undefined ? item.id : `${item.call_id}|${item.id ?? ""}`.replace(/\|$/, ""), name: item.name });
  }

  function finished(index: number, item: OutputItem): void {
    if (item.type === "reasoning") draft.sign("thinking", JSON.stringify(item), index);
    else if (item.type === "message") {
      // For servers that send only whole items.
      if (!texts.has(index)) draft.text((item.content ?? []).map((part) => part.text ?? part.refusal ?? "").join(""), index);
      if (item.id !== undefined && draft.hasContent) draft.sign("text", item.id, index);
    } else if (item.type === "function_call") {
      added(index, item);
      whole(draft, index, item.arguments ?? "", streamed.has(index));
    }
  }

  function complete(event: Event): readonly ModelEvent[] {
    done = true;
    const counted = event.response?.usage;
    const cacheRead = counted?.input_tokens_details?.cached_tokens ?? 0;
    if (counted) draft.usage({ input: Math.max(0, (counted.input_tokens ?? 0) - cacheRead), output: counted.output_tokens ?? 0, cacheRead });
    const reason = event.response?.incomplete_details?.reason;
    if (reason === "content_filter") throw modelFailed({ phase: "answer", code: reason, text: "the provider's content filter stopped the answer" });
    return draft.finish(event.type === "response.incomplete" ? "length" : "stop");
  }

  return {
    get done() {
      return done;
    },
    read({ data }: StreamEvent) {
      if (done || data === "[DONE]") return [];
      const event = JSON.parse(data) as Event;
      const index = event.output_index ?? 0;
      switch (event.type) {
        case "response.output_item.added":
          added(index, event.item ?? {});
          break;
        case "response.output_text.delta":
        case "response.refusal.delta":
          texts.add(index);
          draft.text(event.delta ?? "", index);
          break;
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          draft.thinking(event.delta ?? "", index);
          break;
        case "response.reasoning_summary_part.added":
          // Between the parts, not after the last.
          if ((event.summary_index ?? 0) > 0) draft.thinking("\n\n", index);
          break;
        case "response.function_call_arguments.delta":
          streamed.add(index);
          draft.arguments(index, event.delta ?? "");
          break;
        case "response.output_item.done":
          finished(index, event.item ?? {});
          break;
        case "response.completed":
        case "response.incomplete":
          return complete(event);
        case "error":
        case "response.failed":
          throw streamFailure(data, now, STATUS);
        default:
          return [];
      }
      return draft.take();
    },
    end() {
      if (done) return [];
      throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the response was complete" });
    },
  };
}

/** Streamed arguments win unless the whole is an object: it may be truncated, or nested once more. */
function whole(draft: Draft, index: number, json: string, wasStreamed: boolean): void {
  if (json.trim() === "") return;
  const value = tryParse(json);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) draft.wholeArguments(index, value);
  else if (!wasStreamed) draft.arguments(index, json);
}

function tryParse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const STATUS: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  server_error: 500,
  invalid_prompt: 400,
  context_length_exceeded: 400,
};
