import type { ModelMessage } from "../../../protocol/index.ts";
import { modelFailed } from "../../failure.ts";
import { streamFailure } from "../provider-error.ts";
import { Draft } from "../draft.ts";
import type { StreamEvent, WireFormat, WireReader, WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { extraBody, outputLimit, paramFields, requestHeaders, temperatureOf, type ParamFields } from "../request-fields.ts";
import { rootObject } from "../tool-schema.ts";

/** `POST <base>/api/chat`: a line of JSON per step. */
export const ollama: WireFormat = {
  api: "ollama",
  framing: "ndjson",
  address: (request) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/api/chat`,
    headers: requestHeaders(request, { accept: "application/x-ndjson", authorization: request.apiKey === undefined ? undefined : `Bearer ${request.apiKey}` }),
  }),
  body,
  reader,
};

const PARAMS: ParamFields = {
  fields: {
    topP: "top_p",
    topK: "top_k",
    seed: "seed",
    stop: "stop",
    frequencyPenalty: "frequency_penalty",
    presencePenalty: "presence_penalty",
    numCtx: "num_ctx",
  },
};

function body(request: WireRequest): Record<string, unknown> {
  const { model, tools, systemPrompt, thinking } = request;
  const temperature = temperatureOf(request);
  const history = prepareHistory(request.messages, model, { thinking: "drop" });
  return {
    model: model.id,
    ...(tools && tools.length > 0
      ? {
          tools: tools.map((tool) => ({
            type: "function",
            function: { name: tool.name, description: tool.description, parameters: rootObject(tool.parameters) },
          })),
        }
      : {}),
    messages: [...(systemPrompt ? [{ role: "system", content: systemPrompt }] : []), ...history.map(message)],
    stream: true,
    ...(model.reasoning ? { think: thinking !== "off" } : {}),
    options: {
      num_ctx: model.contextWindow,
      num_predict: outputLimit(request),
      ...(temperature === undefined ? {} : { temperature }),
      ...paramFields(request, PARAMS),
    },
    ...extraBody(request),
  };
}

function message(from: ModelMessage): Record<string, unknown> {
  if (from.role === "toolResult") return { role: "tool", tool_name: from.toolName, content: textOf(from.content), ...images(from.content) };
  if (from.role === "user") return { role: "user", content: textOf(from.content), ...images(from.content) };
  const calls = from.content.filter((part) => part.type === "toolCall");
  return {
    role: "assistant",
    content: textOf(from.content),
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => ({ function: { name: call.name, arguments: call.arguments } })) } : {}),
  };
}

function images(content: ModelMessage["content"]): Record<string, unknown> {
  const found = typeof content === "string" ? [] : content.flatMap((part) => (part.type === "image" ? [part.data] : []));
  return found.length > 0 ? { images: found } : {};
}

interface Step {
  readonly error?: unknown;
  readonly message?: {
    readonly content?: string;
    readonly thinking?: string;
    readonly tool_calls?: readonly { readonly function?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> } }[];
  };
  readonly done?: boolean;
  readonly done_reason?: string;
  readonly prompt_eval_count?: number;
  readonly eval_count?: number;
}

function reader(request: WireRequest, { now }: { readonly now: number }): WireReader {
  const draft = new Draft(request.model, now);
  let done = false;
  let calls = 0;
  return {
    get done() {
      return done;
    },
    read({ data }: StreamEvent) {
      if (done) return [];
      const step = JSON.parse(data) as Step;
      if (step.error !== undefined) throw streamFailure(data, now);
      if (step.message?.thinking) draft.thinking(step.message.thinking);
      if (step.message?.content) draft.text(step.message.content);
      for (const call of step.message?.tool_calls ?? []) {
        calls += 1;
        // Ollama has no ids: these are unique in the conversation by the time of the answer.
        draft.toolCall(calls, { id: `call_${now}_${calls}`, name: call.function?.name });
        draft.wholeArguments(calls, call.function?.arguments ?? {});
      }
      if (!step.done) return draft.take();
      done = true;
      draft.usage({ input: step.prompt_eval_count ?? 0, output: step.eval_count ?? 0 });
      return draft.finish(step.done_reason === "length" ? "length" : "stop");
    },
    end() {
      if (done) return [];
      throw modelFailed({ phase: "stream", malformed: true, text: "the stream ended before the response was complete" });
    },
  };
}
