import type { WireFormat, WireRequest } from "../format.ts";
import { requestHeaders } from "../headers.ts";
import { outputLimit, temperatureOf } from "../limits.ts";
import { askedRetention, extraBody, paramFields, paramOf, type ParamFields } from "../params.ts";
import { rootObject } from "../tool-schema.ts";
import { responsesInput } from "./input.ts";
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
  reader: (request, { now }) => responsesReader(request, now),
};

const PARAMS: ParamFields = {
  fields: { topP: "top_p", parallelToolCalls: "parallel_tool_calls", serviceTier: "service_tier" },
  fastTier: "priority",
};

function body(request: WireRequest): Record<string, unknown> {
  const { model, tools, sessionId, thinking } = request;
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
    input: responsesInput(request),
    stream: true,
    store: model.provider === "openai" && model.baseUrl.includes("api.openai.com"),
    ...(sessionId === undefined ? {} : { prompt_cache_key: sessionId }),
    ...(retention === "long" ? { prompt_cache_retention: "24h" } : {}),
    max_output_tokens: outputLimit(request),
    ...(temperature === undefined ? {} : { temperature }),
    ...(model.reasoning && thinking !== "off" ? { reasoning: { effort: thinking, summary: "auto" }, include: ["reasoning.encrypted_content"] } : {}),
    ...(verbosity === undefined ? {} : { text: { verbosity } }),
    ...paramFields(request, PARAMS),
    ...extraBody(request),
  };
}
