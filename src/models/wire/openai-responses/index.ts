import { isRecord } from "../../../base/records.ts";
import type { AssistantMessage, ImageContent, TextContent, ToolResultMessage } from "../../../protocol/index.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { askedRetention, extraBody, outputLimit, paramFields, paramOf, requestHeaders, temperatureOf, type ParamFields } from "../request-fields.ts";
import { plainId } from "../tool-ids.ts";
import { rootObject } from "../tool-schema.ts";
import { responsesReader } from "./reader.ts";

/** `POST <base>/responses`. */
export const openAiResponses: WireFormat = {
  api: "openai-responses",
  framing: "sse",
  address: (request) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/responses`,
    headers: requestHeaders(request, { authorization: request.apiKey === undefined ? undefined : `Bearer ${request.apiKey}` }),
  }),
  body,
  reader: responsesReader,
};

const PARAMS: ParamFields = {
  fields: { topP: "top_p", parallelToolCalls: "parallel_tool_calls", serviceTier: "service_tier" },
  fastTier: "priority",
};

function body(request: WireRequest): Record<string, unknown> {
  const { model, tools, cacheKey, thinking } = request;
  const retention = askedRetention(request) ?? request.cacheRetention;
  const verbosity = paramOf(request, "textVerbosity");
  const temperature = temperatureOf(request);
  return {
    model: model.id,
    ...(tools && tools.length > 0
      ? {
          tools: tools.map((tool) => ({
            type: "function",
            name: tool.name,
            description: tool.description,
            parameters: rootObject(tool.parameters),
            strict: false,
          })),
        }
      : {}),
    input: inputOf(request),
    stream: true,
    store: model.provider === "openai" && model.baseUrl.includes("api.openai.com"),
    ...(cacheKey === undefined ? {} : { prompt_cache_key: cacheKey }),
    ...(retention === "long" ? { prompt_cache_retention: "24h" } : {}),
    max_output_tokens: outputLimit(request),
    ...(temperature === undefined ? {} : { temperature }),
    ...(model.reasoning && thinking !== "off" ? { reasoning: { effort: thinking, summary: "auto" }, include: ["reasoning.encrypted_content"] } : {}),
    ...(verbosity === undefined ? {} : { text: { verbosity } }),
    ...paramFields(request, PARAMS),
    ...extraBody(request),
  };
}

type Item = Record<string, unknown>;

/** A call has two ids here, `call|item`; each is limited in length. */
function splitId(id: string): { readonly call: string; readonly item: string | undefined } {
  const bar = id.indexOf("|");
  return bar === -1 ? { call: plainId(id), item: undefined } : { call: plainId(id.slice(0, bar)), item: plainId(id.slice(bar + 1)) };
}

function inputOf(request: WireRequest): readonly Item[] {
  const items: Item[] = [];
  if (request.systemPrompt) items.push({ role: request.model.reasoning ? "developer" : "system", content: request.systemPrompt });
  for (const message of prepareHistory(request.messages, request.model, { thinking: "own" })) {
    if (message.role === "user")
      items.push({
        role: "user",
        content: typeof message.content === "string" ? [{ type: "input_text", text: message.content }] : inputParts(message.content),
      });
    else if (message.role === "assistant") items.push(...assistantItems(message));
    else items.push(...resultItems(message));
  }
  return items;
}

function inputParts(content: readonly (TextContent | ImageContent)[]): readonly Item[] {
  return content.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", detail: "auto", image_url: `data:${part.mimeType};base64,${part.data}` },
  );
}

function assistantItems({ content }: AssistantMessage): readonly Item[] {
  const items: Item[] = [];
  for (const [at, part] of content.entries()) {
    if (part.type === "text")
      items.push({
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: part.text, annotations: [] }],
        ...itemId(part.textSignature),
      });
    else if (part.type === "thinking") {
      const item = reasoningItem(part.thinkingSignature);
      // A reasoning item with nothing after it is refused.
      if (item && at < content.length - 1) items.push(item);
    } else {
      const { call, item } = splitId(part.id);
      items.push({
        type: "function_call",
        call_id: call,
        name: part.name,
        arguments: JSON.stringify(part.arguments),
        ...(item?.startsWith("fc_") ? { id: item } : {}),
      });
    }
  }
  return items;
}

function itemId(signature: string | undefined): Item {
  return signature?.startsWith("msg_") ? { id: plainId(signature) } : {};
}

/** The item as it came: the provider wants it back unchanged. */
function reasoningItem(signature: string | undefined): Item | undefined {
  if (!signature?.startsWith("{")) return undefined;
  try {
    const item: unknown = JSON.parse(signature);
    return isRecord(item) && item["type"] === "reasoning" ? item : undefined;
  } catch {
    return undefined;
  }
}

function resultItems(result: ToolResultMessage): readonly Item[] {
  const text = textOf(result.content);
  const images = result.content.filter((part) => part.type === "image");
  const output = {
    type: "function_call_output",
    call_id: splitId(result.toolCallId).call,
    output: text === "" ? (images.length > 0 ? "(see the image below)" : "(no output)") : text,
  };
  return images.length === 0
    ? [output]
    : [output, { role: "user", content: [{ type: "input_text", text: `Image from ${result.toolName}:` }, ...inputParts(images)] }];
}
