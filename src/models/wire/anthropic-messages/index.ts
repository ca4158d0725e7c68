import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { requestHeaders } from "../headers.ts";
import { outputLimit, temperatureOf, thinkingBudget } from "../limits.ts";
import { extraBody, paramFields, paramOf, type ParamFields } from "../params.ts";
import { rootObject } from "../tool-schema.ts";
import { cacheMark } from "./cache.ts";
import { anthropicMessages as conversation } from "./messages.ts";
import { anthropicReader } from "./reader.ts";

const DEFAULT_BETAS = ["fine-grained-tool-streaming-2025-05-14", "interleaved-thinking-2025-05-14"];
const LONG_CONTEXT_BETA = "context-1m-2025-08-07";

/** `POST <base>/v1/messages`. */
export const anthropicMessages: WireFormat = {
  api: "anthropic-messages",
  framing: "sse",
  address(request) {
    const { apiKey } = request;
    // A subscription token is a bearer token; a key is not.
    const subscription = apiKey?.startsWith("sk-ant-oat") ?? false;
    const bearer = apiKey !== undefined && (subscription || request.model.authHeader === true);
    return {
      url: `${request.model.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/messages`,
      headers: requestHeaders(request, {
        "anthropic-version": "2023-06-01",
        "anthropic-beta": betas(request, subscription).join(","),
        ...(bearer ? { authorization: `Bearer ${apiKey}` } : { "x-api-key": apiKey }),
      }),
    };
  },
  body,
  reader: (request, { now }) => anthropicReader(request, now),
};

function betas(request: WireRequest, subscription: boolean): readonly string[] {
  const { model } = request;
  const asked = paramOf(request, "anthropicBeta");
  const extra = typeof asked === "string" ? asked.split(",") : Array.isArray(asked) ? (asked as readonly string[]) : [];
  const long = paramOf(request, "context1m") === true && model.provider === "anthropic" && /claude-(?:opus|sonnet)-4/.test(model.id) ? [LONG_CONTEXT_BETA] : [];
  const own = extra.length + long.length > 0 ? [...long, ...extra] : DEFAULT_BETAS;
  return [...new Set([...own, ...(subscription ? ["oauth-2025-04-20"] : [])].map((name) => name.trim()).filter((name) => name !== ""))];
}

/** With reasoning on, the provider refuses another choice of words. */
const SAMPLING: ParamFields = { fields: { topP: "top_p", topK: "top_k" } };
const PARAMS: ParamFields = { fields: { serviceTier: "service_tier", stop: "stop_sequences" }, fastTier: "auto" };

function body(request: WireRequest): Record<string, unknown> {
  const { model, tools, systemPrompt } = request;
  const mark = cacheMark(request);
  const thinking = reasoning(request);
  const temperature = thinking.thinking ? undefined : temperatureOf(request);
  return {
    model: model.id,
    ...(tools && tools.length > 0
      ? { tools: tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: rootObject(tool.parameters) })) }
      : {}),
    ...(systemPrompt ? { system: [{ type: "text", text: systemPrompt, ...mark }] } : {}),
    messages: conversation(request, mark),
    max_tokens: outputLimit(request),
    stream: true,
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinking.thinking ? {} : paramFields(request, SAMPLING)),
    ...paramFields(request, PARAMS),
    ...thinking,
    ...extraBody(request),
  };
}

const EFFORTS: Readonly<Record<Exclude<ThinkingLevel, "off">, string>> = { minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" };

/** The newest models take an effort for thinking, the others a number of tokens. */
function reasoning(request: WireRequest): { readonly thinking?: unknown; readonly output_config?: unknown; readonly max_tokens?: number } {
  const { model, thinking } = request;
  if (!model.reasoning || thinking === "off") return {};
  if (/opus-4[-.]6/.test(model.id)) return { thinking: { type: "adaptive" }, output_config: { effort: EFFORTS[thinking] } };
  const { budget, maxTokens } = thinkingBudget(request, thinking);
  return { thinking: { type: "enabled", budget_tokens: budget }, max_tokens: maxTokens };
}
