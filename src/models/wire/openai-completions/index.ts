import { isRecord } from "../../../base/records.ts";
import type { AssistantMessage, ImageContent, ModelMessage, TextContent, ThinkingContent, ThinkingLevel, ToolResultMessage } from "../../../protocol/index.ts";
import type { ModelEntry, WireCompat } from "../../entry.ts";
import { JsonBytes, type EncodedConversation, type WireFormat, type WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { extraBody, outputLimit, paramFields, paramOf, requestHeaders, temperatureOf, type ParamFields } from "../request-fields.ts";
import { nineCharacterId, plainId } from "../tool-ids.ts";
import { rootObject } from "../tool-schema.ts";
import { completionsReader, REASONING_FIELDS } from "./reader.ts";

/** `POST <base>/chat/completions`, used by OpenAI and most local servers. */
export const openAiCompletions: WireFormat = {
  api: "openai-completions",
  framing: "sse",
  address: (request) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/chat/completions`,
    headers: requestHeaders(request, { authorization: request.apiKey === undefined ? undefined : `Bearer ${request.apiKey}` }),
  }),
  body,
  reader: completionsReader,
};

type Json = Record<string, unknown>;

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

function body(request: WireRequest): Json {
  const { model, tools = [] } = request;
  const sent = sentBefore(request);
  const compat = sent?.compat ?? compatOf(model);
  const temperature = temperatureOf(request);
  return {
    model: model.id,
    ...(tools.length > 0 ? { tools: sent ? sent.encodeTools(tools) : wireTools(tools, compat) } : {}),
    messages: sent?.encodeMessages(request) ?? wholeConversation(request, compat),
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

function reasoning(request: WireRequest, compat: Compat): Json {
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

type Compat = Required<WireCompat>;

const NO_STORE = ["cerebras", "xai", "mistral", "chutes", "deepseek", "zai", "opencode"];
const NO_EFFORT = ["xai", "zai"];

/** The server's capabilities: derived from the provider, by its id or with a custom one by its host, and overridden by the configuration. */
function compatOf({ provider, baseUrl, compat }: ModelEntry): Compat {
  const host = URL.parse(baseUrl)?.hostname ?? "";
  const isOne = (names: readonly string[]): boolean =>
    names.some((name) => provider === name || host.includes(name === "zai" ? "z.ai" : name === "xai" ? "x.ai" : name));
  const mistral = isOne(["mistral"]);
  const store = !isOne(NO_STORE);
  return {
    supportsStore: store,
    supportsDeveloperRole: store,
    supportsReasoningEffort: !isOne(NO_EFFORT),
    supportsUsageInStreaming: true,
    supportsStrictMode: true,
    requiresToolResultName: mistral,
    requiresAssistantAfterToolResult: false,
    requiresThinkingAsText: mistral,
    requiresMistralToolIds: mistral,
    maxTokensField: isOne(["mistral", "chutes"]) ? "max_tokens" : "max_completion_tokens",
    thinkingFormat: isOne(["zai"]) ? "zai" : "openai",
    ...compat,
  };
}

function wireTools(tools: NonNullable<WireRequest["tools"]>, compat: Compat): readonly Json[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters: rootObject(parameters), ...(compat.supportsStrictMode ? { strict: false } : {}) },
  }));
}

/** With more capacity than needed, so that most new messages are appended without copying. */
const GROWTH = 1.25;

/** A list of tools as JSON. */
class EncodedTools {
  readonly isStrict: boolean;
  readonly json: JsonBytes;
  readonly #list: NonNullable<WireRequest["tools"]>;

  constructor(list: NonNullable<WireRequest["tools"]>, compat: Compat) {
    this.isStrict = compat.supportsStrictMode;
    this.json = new JsonBytes([Buffer.from(JSON.stringify(wireTools(list, compat)))]);
    this.#list = list;
  }

  /** Whether the list holds these very tools. */
  isOf(tools: NonNullable<WireRequest["tools"]>): boolean {
    return this.#list.length === tools.length && startsWith(tools, this.#list);
  }
}

/** What a session sent to a model so far. The start of its conversation comes back with every call and is encoded once. */
class Sent {
  readonly model: ModelEntry;
  readonly compat: Compat;
  readonly #shared: EncodedConversation["shared"];
  #tools: EncodedTools | undefined;
  #messages: readonly ModelMessage[] = [];
  #lastRole: ModelMessage["role"] | undefined;
  /** `#messages` as JSON, separated by commas; `#length` bytes of it are in use. */
  #bytes = new Uint8Array();
  #length = 0;

  constructor(model: ModelEntry, shared: EncodedConversation["shared"]) {
    this.model = model;
    this.compat = compatOf(model);
    this.#shared = shared;
  }

  encodeTools(tools: NonNullable<WireRequest["tools"]>): JsonBytes {
    if (!this.#tools?.isOf(tools)) this.#tools = this.#findTools(tools);
    return this.#tools.json;
  }

  /** Sessions with the same list hold its bytes once. */
  #findTools(tools: NonNullable<WireRequest["tools"]>): EncodedTools {
    const known = this.#shared?.get(tools);
    if (known instanceof EncodedTools && known.isStrict === this.compat.supportsStrictMode) return known;
    const encoded = new EncodedTools(tools, this.compat);
    this.#shared?.set(tools, encoded);
    return encoded;
  }

  /** Undefined when the conversation has to be looked at as a whole. */
  encodeMessages(request: WireRequest): JsonBytes | undefined {
    const { messages, model } = request;
    if (!startsWith(messages, this.#messages)) {
      this.#messages = [];
      this.#lastRole = undefined;
      this.#length = 0;
      this.#bytes = new Uint8Array();
    }
    // The last message of a user comes back as another object: what stands before it comes back as it is.
    const lasting = Math.max(
      this.#messages.length,
      messages.findLastIndex(({ role }) => role === "user"),
    );
    const middle = messages.slice(this.#messages.length, lasting);
    const end = messages.slice(lasting);
    if (!standsAlone(middle, this.compat) || !standsAlone(end, this.compat)) return undefined;
    if (middle.length > 0) {
      const { list, lastRole } = converted(middle, this.#lastRole, model, this.compat);
      this.#append(list);
      this.#messages = messages.slice(0, lasting);
      this.#lastRole = lastRole;
    }
    const { list } = converted(end, this.#lastRole, model, this.compat);
    const marked = isMarked(model) ? withMark(list) : list;
    if (!marked) return undefined;
    const prompt = promptMessage(request, this.compat);
    const before = prompt ? `[${JSON.stringify(prompt)}${this.#length > 0 ? "," : ""}` : "[";
    const after = marked.length > 0 && (prompt || this.#length > 0) ? "," : "";
    return new JsonBytes([Buffer.from(before), this.#bytes.subarray(0, this.#length), Buffer.from(after + JSON.stringify(marked).slice(1))]);
  }

  #append(list: readonly Json[]): void {
    if (list.length === 0) return;
    const added = Buffer.from((this.#length > 0 ? "," : "") + JSON.stringify(list).slice(1, -1));
    const length = this.#length + added.byteLength;
    if (length > this.#bytes.byteLength) {
      const larger = new Uint8Array(Math.ceil(length * GROWTH));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(added, this.#length);
    this.#length = length;
  }
}

/** What the session of this request sent to this model before; undefined for requests outside of a session. */
function sentBefore({ encoded, model }: WireRequest): Sent | undefined {
  if (!encoded) return undefined;
  if (encoded.value instanceof Sent && encoded.value.model === model) return encoded.value;
  const sent = new Sent(model, encoded.shared);
  encoded.value = sent;
  return sent;
}

/** True when the list begins with these very items. */
function startsWith(list: readonly unknown[], items: readonly unknown[]): boolean {
  if (items.length > list.length) return false;
  for (const [at, item] of items.entries()) if (list[at] !== item) return false;
  return true;
}

function wholeConversation(request: WireRequest, compat: Compat): readonly Json[] {
  const prompt = promptMessage(request, compat);
  const { list } = converted(request.messages, undefined, request.model, compat);
  const all = prompt ? [prompt, ...list] : list;
  return (isMarked(request.model) ? withMark(all) : undefined) ?? all;
}

function promptMessage({ systemPrompt, model }: WireRequest, compat: Compat): Json | undefined {
  return systemPrompt ? { role: model.reasoning && compat.supportsDeveloperRole ? "developer" : "system", content: systemPrompt } : undefined;
}

/** Claude behind OpenRouter caches up to a marker on the last text. */
const isMarked = ({ provider, id }: ModelEntry): boolean => provider === "openrouter" && id.startsWith("anthropic/");

/** Undefined when there is no text to mark. */
function withMark(messages: readonly Json[]): readonly Json[] | undefined {
  const at = messages.findLastIndex(({ role, content }) => (role === "user" || role === "assistant") && content);
  const message = messages[at];
  if (!message) return undefined;
  const parts: readonly unknown[] = Array.isArray(message["content"]) ? message["content"] : [{ type: "text", text: message["content"] }];
  const last = parts.at(-1);
  if (!isRecord(last)) return messages;
  return messages.with(at, { ...message, content: [...parts.slice(0, -1), { ...last, cache_control: { type: "ephemeral" } }] });
}

const OPENAI_ID_LENGTH = 40;

const openAiId = (id: string): string => plainId(id, OPENAI_ID_LENGTH);

/**
 * Whether a part can be looked at by itself: every result has its call in it, every call its result, and no id is rewritten, which would have to stay
 * apart from all others of the conversation.
 */
function standsAlone(messages: readonly ModelMessage[], { requiresMistralToolIds }: Compat): boolean {
  const rule = requiresMistralToolIds ? nineCharacterId : openAiId;
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "toolResult" && !open.delete(message.toolCallId)) return false;
    if (message.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "toolCall") continue;
      if (rule(part.id) !== part.id || open.has(part.id)) return false;
      open.add(part.id);
    }
  }
  return open.size === 0;
}

/** Messages in the format's form, and who spoke last in them. `before` is who spoke last before them. */
function converted(
  messages: readonly ModelMessage[],
  before: ModelMessage["role"] | undefined,
  model: ModelEntry,
  compat: Compat,
): { readonly list: readonly Json[]; readonly lastRole: ModelMessage["role"] | undefined } {
  const rules = { toolId: compat.requiresMistralToolIds ? nineCharacterId : openAiId, thinking: compat.requiresThinkingAsText ? "text" : "own" } as const;
  const list: Json[] = [];
  let lastRole = before;
  for (const message of prepareHistory(messages, model, rules)) {
    if (message.role === "user" && lastRole === "toolResult" && compat.requiresAssistantAfterToolResult)
      list.push({ role: "assistant", content: "I have the tool results." });
    if (message.role === "user") list.push({ role: "user", content: typeof message.content === "string" ? message.content : userParts(message.content) });
    else if (message.role === "assistant") list.push(assistantMessage(message));
    else list.push(...toolMessages(message, compat.requiresToolResultName));
    lastRole = message.role;
  }
  return { list, lastRole };
}

function userParts(content: readonly (TextContent | ImageContent)[]): readonly Json[] {
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

function assistantMessage({ content }: AssistantMessage): Json {
  const calls: Json[] = [];
  let text = "";
  let thinking: ThinkingContent | undefined;
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "thinking") thinking ??= part;
    else calls.push({ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.arguments) } });
  }
  const field = thinking && REASONING_FIELDS.find((name) => name === thinking.thinkingSignature);
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(field && thinking ? { [field]: thinking.thinking } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

/** A tool message cannot contain images: they follow as the user's. */
function toolMessages(result: ToolResultMessage, withName: boolean): readonly Json[] {
  const images = result.content.filter((part) => part.type === "image");
  const text = textOf(result.content);
  const message: Json = {
    role: "tool",
    tool_call_id: result.toolCallId,
    content: text === "" ? (images.length > 0 ? "(see the image below)" : "(no output)") : text,
    ...(withName ? { name: result.toolName } : {}),
  };
  return images.length === 0
    ? [message]
    : [message, { role: "user", content: [{ type: "text", text: `Image from ${result.toolName}:` }, ...userParts(images)] }];
}
