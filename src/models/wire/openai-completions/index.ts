import type { ThinkingLevel, ToolSchema } from "../../../protocol/index.ts";
import type { WireCompat } from "../../entry.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { requestHeaders } from "../headers.ts";
import { outputLimit, temperatureOf } from "../limits.ts";
import { extraBody, paramFields, paramOf, type ParamFields } from "../params.ts";
import { remembered } from "../remembered.ts";
import { rootObject } from "../tool-schema.ts";
import { compatOf } from "./compat.ts";
import { completionMessages } from "./messages.ts";
import { completionsReader } from "./reader.ts";

/** `POST <base>/chat/completions`, used by OpenAI and most local servers. */
export const openAiCompletions: WireFormat = {
  api: "openai-completions",
  framing: "sse",
  address: (request) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/chat/completions`,
    headers: requestHeaders(request, { authorization: request.apiKey === undefined ? undefined : `Bearer ${request.apiKey}` }),
  }),
  body: (request) => body(request, compatOf(request.model)),
  lists: ["tools", "messages"],
  reader: (request, { now }) => completionsReader(request, now),
};

const toolFields = ({ name, description, parameters }: ToolSchema): Record<string, unknown> => ({ name, description, parameters: rootObject(parameters) });
const plainTool = remembered((tool: ToolSchema) => ({ type: "function", function: toolFields(tool) }));
const unstrictTool = remembered((tool: ToolSchema) => ({ type: "function", function: { ...toolFields(tool), strict: false } }));

const PARAMS: ParamFields = {
  fields: {
    topP: "top_p",
    topK: "top_k",
    seed: "seed",
    stop: "stop",
    frequencyPenalty: "frequency_penalty",
    presencePenalty: "presence_penalty",
    parallelToolCalls: "parallel_tool_calls",
    serviceTier: "service_tier",
    textVerbosity: "verbosity",
    // Which hosts OpenRouter may use.
    provider: "provider",
  },
  fastTier: "priority",
};

function body(request: WireRequest, compat: Required<WireCompat>): Record<string, unknown> {
  const { model, tools } = request;
  const temperature = temperatureOf(request);
  return {
    model: model.id,
    ...(tools && tools.length > 0
      ? {
          tools: tools.map(compat.supportsStrictMode ? unstrictTool : plainTool),
        }
      : {}),
    messages: marked(request, completionMessages(request, compat)),
    stream: true,
    ...(compat.supportsUsageInStreaming ? { stream_options: { include_usage: true } } : {}),
    ...(compat.supportsStore ? { store: false } : {}),
    [compat.maxTokensField]: outputLimit(request),
    ...(temperature === undefined ? {} : { temperature }),
    ...paramFields(request, PARAMS),
    ...reasoning(request, compat),
    ...extraBody(request),
  };
}

const EFFORTS: Readonly<Record<Exclude<ThinkingLevel, "off">, string>> = { minimal: "minimal", low: "low", medium: "medium", high: "high", xhigh: "xhigh" };

function reasoning(request: WireRequest, compat: Required<WireCompat>): Record<string, unknown> {
  const { model, thinking } = request;
  if (compat.thinkingFormat === "zai") {
    return {
      ...(model.reasoning ? { thinking: { type: thinking === "off" ? "disabled" : "enabled" } } : {}),
      ...(paramOf(request, "toolStream") === false ? {} : { tool_stream: true }),
    };
  }
  if (!model.reasoning) return {};
  if (compat.thinkingFormat === "qwen") return { enable_thinking: thinking !== "off" };
  return compat.supportsReasoningEffort && thinking !== "off" ? { reasoning_effort: EFFORTS[thinking] } : {};
}

/** Claude behind OpenRouter caches up to a marker on the last text. */
function marked({ model }: WireRequest, messages: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] {
  if (model.provider !== "openrouter" || !model.id.startsWith("anthropic/")) return messages;
  const at = messages.findLastIndex((message) => (message["role"] === "user" || message["role"] === "assistant") && message["content"]);
  return messages.map((message, index) => (index === at ? { ...message, content: markedContent(message["content"]) } : message));
}

function markedContent(content: unknown): unknown {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content as Record<string, unknown>[]);
  return parts.map((part, index) => (index === parts.length - 1 ? { ...part, cache_control: { type: "ephemeral" } } : part));
}
