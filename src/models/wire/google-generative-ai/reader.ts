import type { StopReason } from "../../../protocol/index.ts";
import { modelFailed } from "../../failure.ts";
import { streamFailure } from "../provider-error.ts";
import { Draft } from "../draft.ts";
import type { ModelEvent, StreamEvent, WireReader, WireRequest } from "../format.ts";

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: Readonly<Record<string, unknown>> };
}

interface Chunk {
  readonly error?: unknown;
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Part[] }; readonly finishReason?: string }[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly usageMetadata?: {
    readonly promptTokenCount?: number;
    readonly candidatesTokenCount?: number;
    readonly thoughtsTokenCount?: number;
    readonly cachedContentTokenCount?: number;
    readonly toolUsePromptTokenCount?: number;
  };
}

const STOPS: Readonly<Record<string, StopReason>> = { STOP: "stop", MAX_TOKENS: "length" };

export function googleReader(request: WireRequest, { now }: { readonly now: number }): WireReader {
  const draft = new Draft(request.model, now);
  let finish: string | undefined;
  let done = false;
  let calls = 0;

  function part({ text, thought, thoughtSignature, functionCall }: Part): void {
    if (functionCall) {
      calls += 1;
      const key = `call${calls}`;
      draft.toolCall(key, { id: functionCall.id ?? `${functionCall.name ?? "tool"}_${now}_${calls}`, name: functionCall.name, signature: thoughtSignature });
      draft.wholeArguments(key, functionCall.args ?? {});
      return;
    }
    const kind = thought ? "thinking" : "text";
    if (text !== undefined) draft[kind](text);
    if (thoughtSignature !== undefined && (text !== undefined || draft.hasContent)) draft.sign(kind, thoughtSignature);
  }

  function complete(): readonly ModelEvent[] {
    done = true;
    const stop = STOPS[finish ?? ""];
    if (stop === undefined)
      throw modelFailed({
        phase: "answer",
        code: finish ?? "UNKNOWN",
        malformed: finish === "MALFORMED_FUNCTION_CALL",
        text: `the provider ended the answer: ${finish}`,
      });
    return draft.finish(stop);
  }

  return {
    get done() {
      return done;
    },
    read({ data }: StreamEvent) {
      if (done) return [];
      const event = JSON.parse(data) as Chunk | readonly Chunk[];
      // Some proxies pass on the elements of the array form unchanged.
      const chunk = (Array.isArray(event) ? (event[0] ?? {}) : event) as Chunk;
      if (chunk.error) throw streamFailure(data, now);
      const blocked = chunk.promptFeedback?.blockReason;
      if (blocked !== undefined) throw modelFailed({ phase: "answer", code: blocked, text: `the provider refused the prompt: ${blocked}` });
      const candidate = chunk.candidates?.[0];
      for (const each of candidate?.content?.parts ?? []) part(each);
      if (candidate?.finishReason) finish = candidate.finishReason;
      const counted = chunk.usageMetadata;
      if (counted) {
        const cacheRead = counted.cachedContentTokenCount ?? 0;
        const output = (counted.candidatesTokenCount ?? 0) + (counted.thoughtsTokenCount ?? 0);
        const input = Math.max(0, (counted.promptTokenCount ?? 0) - cacheRead) + (counted.toolUsePromptTokenCount ?? 0);
        draft.usage({ input, output, cacheRead });
      }
      return draft.take();
    },
    end() {
      if (done) return [];
      if (finish === undefined) throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the response was complete" });
      return complete();
    },
  };
}
