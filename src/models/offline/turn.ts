import type { ModelMessage, ToolResultMessage, ToolSchema } from "../../protocol/index.ts";
import type { WireRequest } from "../wire/index.ts";
import type { DocSection } from "./docs/pages.ts";
import type { Reply } from "./reply.ts";
import { readUserText, type UserText } from "./user-text.ts";

/** A tool call made since the user's message, with its result. */
export interface Step {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

/** The state of the conversation as the rules see it. */
export interface Turn extends UserText {
  readonly tools: ReadonlyMap<string, ToolSchema>;
  readonly steps: readonly Step[];
  readonly messages: readonly ModelMessage[];
  readonly systemPrompt: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The product's documentation; empty where it is not beside the program. */
  readonly docs: () => Promise<readonly DocSection[]>;
}

/**
 * Something the model knows how to do. `begin` depends on the user's text alone and is called again, with the same result, when tools have answered.
 */
export interface Intent {
  readonly name: string;
  begin(turn: Turn): Reply | undefined | Promise<Reply | undefined>;
  /** What to do when tools have answered; without it, or when it returns nothing, their results are reported. */
  goOn?(turn: Turn): Reply | undefined;
}

export function readTurn(request: WireRequest, now: number, docs: Turn["docs"]): Turn {
  const { messages } = request;
  const at = messages.findLastIndex((message) => message.role === "user");
  const spoken = messages[at];
  return {
    ...readUserText(spoken ? contentText(spoken.content) : ""),
    tools: new Map((request.tools ?? []).map((tool) => [tool.name, tool])),
    steps: stepsOf(messages.slice(at + 1)),
    messages,
    systemPrompt: request.systemPrompt ?? "",
    now,
    docs,
  };
}

function stepsOf(messages: readonly ModelMessage[]): readonly Step[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content.filter((part) => part.type === "toolCall") : []));
  const byId = new Map(calls.map((call) => [call.id, call]));
  return messages
    .filter((message): message is ToolResultMessage => message.role === "toolResult")
    .map((result) => ({
      name: result.toolName,
      arguments: byId.get(result.toolCallId)?.arguments ?? {},
      text: contentText(result.content),
      isError: result.isError,
    }));
}

/** The text of a message; images are mentioned, since this model cannot see them. */
export function contentText(content: ModelMessage["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : part.type === "image" ? "[picture]" : ""))
    .filter((text) => text !== "")
    .join("\n");
}
