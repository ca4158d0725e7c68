import type { AssistantMessage, ImageContent, ModelMessage, TextContent, ToolResultMessage, UserMessage } from "../../../protocol/index.ts";
import type { WireCompat } from "../../entry.ts";
import type { WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { remembered } from "../remembered.ts";
import { nineCharacterId, plainId } from "../tool-ids.ts";

type Json = Record<string, unknown>;

/** Fields under which servers of this format send reasoning, and want it back. */
export const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text"] as const;

const OPENAI_ID_LENGTH = 40;

export function completionMessages(request: WireRequest, compat: Required<WireCompat>): readonly Json[] {
  const toolId = compat.requiresMistralToolIds ? nineCharacterId : (id: string) => plainId(id, OPENAI_ID_LENGTH);
  const history = prepareHistory(request.messages, request.model, { toolId, thinking: compat.requiresThinkingAsText ? "text" : "own" });
  const messages: Json[] = [];
  if (request.systemPrompt) {
    messages.push({ role: request.model.reasoning && compat.supportsDeveloperRole ? "developer" : "system", content: request.systemPrompt });
  }
  let lastRole: ModelMessage["role"] | undefined;
  for (const message of history) {
    if (message.role === "user" && lastRole === "toolResult" && compat.requiresAssistantAfterToolResult)
      messages.push({ role: "assistant", content: "I have the tool results." });
    if (message.role === "user") messages.push(userMessage(message));
    else if (message.role === "assistant") messages.push(assistantMessage(message));
    else messages.push(...(compat.requiresToolResultName ? namedResult : plainResult)(message));
    lastRole = message.role;
  }
  return messages;
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

/** A tool's images cannot stand in its message: they follow as the user's. */
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
