import type { AssistantMessage, ImageContent, ModelMessage, TextContent, ToolResultMessage, UserMessage } from "../../../protocol/index.ts";
import type { WireCompat } from "../../entry.ts";
import type { WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { beginsWith, remembered, rememberedText } from "../remembered.ts";
import { nineCharacterId, plainId } from "../tool-ids.ts";

type Json = Record<string, unknown>;

/** Fields in which servers of this format send reasoning, and want it back. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

const OPENAI_ID_LENGTH = 40;

export function completionMessages(request: WireRequest, compat: Required<WireCompat>): readonly Json[] {
  const messages: Json[] = [];
  if (request.systemPrompt) {
    messages.push((request.model.reasoning && compat.supportsDeveloperRole ? developerPrompt : systemPrompt)(request.systemPrompt));
  }
  for (const message of conversation(request, compat)) messages.push(message);
  return messages;
}

const systemPrompt = rememberedText((content): Json => ({ role: "system", content }));
const developerPrompt = rememberedText((content): Json => ({ role: "developer", content }));

/** Part of a conversation as it is sent, and who spoke last in it. */
interface Sent {
  readonly sent: readonly Json[];
  readonly lastRole: ModelMessage["role"] | undefined;
}

/** What a conversation began with, and how it was sent. */
interface Beginning extends Sent {
  readonly model: WireRequest["model"];
  readonly messages: readonly ModelMessage[];
}

/** By a conversation's first message. */
const beginnings = new WeakMap<ModelMessage, Beginning>();

/** All messages; those that were sent before, to the same model, are the same objects again. */
function conversation({ messages, model }: WireRequest, compat: Required<WireCompat>): readonly Json[] {
  const [first] = messages;
  if (!first) return [];
  const known = beginnings.get(first);
  const begun = known?.model === model && beginsWith(messages, known.messages) ? known : { model, messages: [], sent: [], lastRole: undefined };
  // The last message of a user comes back as another object: what stands before it comes back as it is.
  const lasting = Math.max(
    begun.messages.length,
    messages.findLastIndex(({ role }) => role === "user"),
  );
  const middle = messages.slice(begun.messages.length, lasting);
  const end = messages.slice(lasting);
  if (!standsAlone(middle, compat) || !standsAlone(end, compat)) return converted(messages, undefined, model, compat).sent;
  const added = converted(middle, begun.lastRole, model, compat);
  const before = middle.length === 0 ? begun : { sent: [...begun.sent, ...added.sent], lastRole: added.lastRole };
  if (middle.length > 0) beginnings.set(first, { model, messages: messages.slice(0, lasting), ...before });
  return [...before.sent, ...converted(end, before.lastRole, model, compat).sent];
}

const idRule = (compat: Required<WireCompat>): ((id: string) => string) =>
  compat.requiresMistralToolIds ? nineCharacterId : (id) => plainId(id, OPENAI_ID_LENGTH);

/**
 * Whether a part can be looked at by itself: every result has its call in it, every call its result, and no id is rewritten, which would have to stay
 * apart from all others of the conversation.
 */
function standsAlone(messages: readonly ModelMessage[], compat: Required<WireCompat>): boolean {
  const rule = idRule(compat);
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

function converted(
  messages: readonly ModelMessage[],
  before: ModelMessage["role"] | undefined,
  model: WireRequest["model"],
  compat: Required<WireCompat>,
): Sent {
  const history = prepareHistory(messages, model, { toolId: idRule(compat), thinking: compat.requiresThinkingAsText ? "text" : "own" });
  const sent: Json[] = [];
  let lastRole = before;
  for (const message of history) {
    if (message.role === "user" && lastRole === "toolResult" && compat.requiresAssistantAfterToolResult)
      sent.push({ role: "assistant", content: "I have the tool results." });
    if (message.role === "user") sent.push(userMessage(message));
    else if (message.role === "assistant") sent.push(assistantMessage(message));
    else sent.push(...(compat.requiresToolResultName ? namedResult : plainResult)(message));
    lastRole = message.role;
  }
  return { sent, lastRole };
}

function userContent(content: string | readonly (TextContent | ImageContent)[]): unknown {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } },
  );
}

const userMessage = remembered((message: UserMessage): Json => ({ role: "user", content: userContent(message.content) }));

const assistantMessage = remembered(({ content }: AssistantMessage): Json => {
  const calls = content.filter((part) => part.type === "toolCall");
  const thinking = content.find((part) => part.type === "thinking");
  const field = REASONING_FIELDS.find((name) => name === thinking?.thinkingSignature);
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(field && thinking ? { [field]: thinking.thinking } : {}),
    ...(calls.length > 0
      ? { tool_calls: calls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments) } })) }
      : {}),
  };
});

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
    : [message, { role: "user", content: [{ type: "text", text: `Image from ${result.toolName}:` }, ...(userContent(images) as Json[])] }];
}

const plainResult = remembered((result: ToolResultMessage) => toolMessages(result, false));
const namedResult = remembered((result: ToolResultMessage) => toolMessages(result, true));
