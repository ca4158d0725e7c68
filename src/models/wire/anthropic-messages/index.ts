import type { AssistantMessage, ImageContent, TextContent, ThinkingLevel, ToolResultMessage } from "../../../protocol/index.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { prepareHistory } from "../history.ts";
import {
  askedRetention,
  extraBody,
  outputLimit,
  paramFields,
  paramOf,
  requestHeaders,
  temperatureOf,
  thinkingBudget,
  type ParamFields,
} from "../request-fields.ts";
import { plainId } from "../tool-ids.ts";
import { rootObject } from "../tool-schema.ts";
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
  reader: anthropicReader,
};

function betas(request: WireRequest, subscription: boolean): readonly string[] {
  const { model } = request;
  const asked = paramOf(request, "anthropicBeta");
  const extra = typeof asked === "string" ? asked.split(",") : Array.isArray(asked) ? asked.map(String) : [];
  const long = paramOf(request, "context1m") === true && model.provider === "anthropic" && /claude-(?:opus|sonnet)-4/.test(model.id) ? [LONG_CONTEXT_BETA] : [];
  const own = extra.length + long.length > 0 ? [...long, ...extra] : DEFAULT_BETAS;
  return [...new Set([...own, ...(subscription ? ["oauth-2025-04-20"] : [])].map((name) => name.trim()).filter((name) => name !== ""))];
}

/** With reasoning on, the provider refuses other sampling. */
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
    messages: turnsOf(request, mark),
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

type CacheMark = { readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "1h" } };

/**
 * Claude wherever it runs, and models that the user configured with this format; other makers' models that only use the format have their own
 * caching.
 */
const caches = ({ provider, id, source }: WireRequest["model"]): boolean =>
  provider === "anthropic" || ["config", "models.json", "generic"].includes(source) || /claude/i.test(id);

/** The marker on the system prompt and the last user block that makes the provider cache everything before it. */
function cacheMark(request: WireRequest): CacheMark {
  const { model, cacheRetention } = request;
  const retention = askedRetention(request) ?? (caches(model) ? (cacheRetention ?? "short") : "none");
  if (retention === "none") return {};
  const long = retention === "long" && model.baseUrl.includes("api.anthropic.com");
  return { cache_control: { type: "ephemeral", ...(long ? { ttl: "1h" as const } : {}) } };
}

type Block = Record<string, unknown>;
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** Turns alternate: tool results and the user's next message are in one turn. */
function turnsOf(request: WireRequest, mark: CacheMark): readonly Turn[] {
  const turns: Turn[] = [];
  const add = (role: Turn["role"], blocks: readonly Block[]): void => {
    if (blocks.length === 0) return;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  };
  for (const message of prepareHistory(request.messages, request.model, { toolId: plainId, thinking: "own" })) {
    if (message.role === "user") add("user", userBlocks(message.content));
    else if (message.role === "assistant") add("assistant", assistantBlocks(message));
    else add("user", [resultBlock(message)]);
  }
  // A conversation starts with the user.
  if (turns[0]?.role === "assistant") turns.unshift({ role: "user", content: [{ type: "text", text: "(continued)" }] });
  const last = turns.findLast((turn) => turn.role === "user")?.content;
  if (last && mark.cache_control) last[last.length - 1] = { ...last.at(-1), ...mark };
  return turns;
}

function userBlocks(content: string | readonly (TextContent | ImageContent)[]): readonly Block[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((part): Block[] => {
    if (part.type === "image") return [{ type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } }];
    return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  });
}

function assistantBlocks({ content }: AssistantMessage): readonly Block[] {
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "toolCall") return { type: "tool_use", id: part.id, name: part.name, input: part.arguments };
    if (part.redacted) return { type: "redacted_thinking", data: part.thinkingSignature };
    return { type: "thinking", thinking: part.thinking, signature: part.thinkingSignature };
  });
}

function resultBlock(result: ToolResultMessage): Block {
  const content = userBlocks(result.content);
  return {
    type: "tool_result",
    tool_use_id: result.toolCallId,
    content: content.length > 0 ? content : [{ type: "text", text: "(no output)" }],
    is_error: result.isError,
  };
}
