import type { AssistantMessage, ImageContent, TextContent, ToolResultMessage } from "../../../protocol/index.ts";
import type { WireRequest } from "../format.ts";
import { prepareHistory } from "../history.ts";
import { plainId } from "../tool-ids.ts";
import type { CacheMark } from "./cache.ts";

type Block = Record<string, unknown>;
interface Turn {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

/** Turns alternate: tool results and the user's next message are in one turn. */
export function anthropicMessages(request: WireRequest, mark: CacheMark): readonly Turn[] {
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
