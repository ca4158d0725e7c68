import type { StopReason } from "../../../protocol/index.ts";
import { modelFailed } from "../../failure.ts";
import { streamFailure } from "../provider-error.ts";
import { Draft, type Tokens } from "../draft.ts";
import type { ModelEvent, StreamEvent, WireReader, WireRequest } from "../format.ts";

interface Counted {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: number | null } | null;
}

interface Event {
  readonly type: string;
  readonly index?: number;
  readonly message?: { readonly usage?: Counted };
  readonly content_block?: {
    readonly type: string;
    readonly id?: string;
    readonly name?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly data?: string;
    readonly input?: unknown;
  };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly signature?: string;
    readonly partial_json?: string;
    readonly stop_reason?: string | null;
  };
  readonly usage?: Counted;
}

const STOPS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  // The provider wants a continuation request, as after the length limit.
  pause_turn: "length",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
};
/** The provider's error types and the equivalent HTTP statuses. */
const STATUS: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  authentication_error: 401,
  permission_error: 403,
  billing_error: 402,
  invalid_request_error: 400,
  not_found_error: 404,
  request_too_large: 413,
  api_error: 500,
  timeout_error: 504,
};

export function anthropicReader(request: WireRequest, { now }: { readonly now: number }): WireReader {
  const draft = new Draft(request.model, now);
  /** Blocks that call our tools; the provider's own tools stream arguments, too. */
  const calls = new Set<number>();
  let stop: string | undefined;
  let done = false;

  function started({ index = 0, content_block: block }: Event): void {
    if (block?.type === "text") draft.text(block.text ?? "", index);
    else if (block?.type === "thinking") draft.thinking(block.thinking ?? "", index);
    else if (block?.type === "redacted_thinking") draft.sign("thinking", block.data ?? "", index, { redacted: true });
    else if (block?.type === "tool_use") {
      calls.add(index);
      draft.toolCall(index, { id: block.id, name: block.name });
      // Servers that do not stream arguments put them here.
      const input = block.input;
      if (typeof input === "object" && input !== null && Object.keys(input).length > 0) draft.wholeArguments(index, input);
    }
  }

  function changed({ index = 0, delta }: Event): void {
    if (delta?.type === "text_delta") draft.text(delta.text ?? "", index);
    else if (delta?.type === "thinking_delta") draft.thinking(delta.thinking ?? "", index);
    else if (delta?.type === "signature_delta") draft.sign("thinking", delta.signature ?? "", index, { append: true });
    else if (delta?.type === "input_json_delta" && calls.has(index)) draft.arguments(index, delta.partial_json ?? "");
  }

  function complete(): readonly ModelEvent[] {
    done = true;
    if (stop === "refusal" || stop === "sensitive") throw modelFailed({ phase: "answer", code: stop, text: "the provider refused to answer" });
    return draft.finish(STOPS[stop ?? "end_turn"] ?? "stop");
  }

  return {
    get done() {
      return done;
    },
    read({ data }: StreamEvent) {
      if (done) return [];
      const event = JSON.parse(data) as Event;
      switch (event.type) {
        case "message_start":
          draft.usage(tokens(event.message?.usage));
          return [];
        case "content_block_start":
          started(event);
          return draft.take();
        case "content_block_delta":
          changed(event);
          return draft.take();
        case "message_delta":
          if (event.delta?.stop_reason) stop = event.delta.stop_reason;
          draft.usage(tokens(event.usage));
          return draft.take();
        case "message_stop":
          return complete();
        case "error":
          throw streamFailure(data, now, STATUS);
        default:
          return [];
      }
    },
    end() {
      if (done) return [];
      if (stop === undefined) throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the response was complete" });
      return complete();
    },
  };
}

/** Only counted fields: later events omit what they do not change. */
function tokens(counted: Counted | undefined): Partial<Tokens> {
  const found: { -readonly [K in keyof Tokens]?: number } = {};
  if (typeof counted?.input_tokens === "number") found.input = counted.input_tokens;
  if (typeof counted?.output_tokens === "number") found.output = counted.output_tokens;
  if (typeof counted?.cache_read_input_tokens === "number") found.cacheRead = counted.cache_read_input_tokens;
  if (typeof counted?.cache_creation_input_tokens === "number") found.cacheWrite = counted.cache_creation_input_tokens;
  const long = counted?.cache_creation?.ephemeral_1h_input_tokens;
  if (typeof long === "number") found.longCacheWrite = long;
  return found;
}
