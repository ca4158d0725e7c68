import type { ImageContent, ModelMessage, TextContent, ThinkingContent, ToolCallContent } from "../protocol/index.ts";

/** What an image counts as, in characters. */
const IMAGE_CHARS = 4_800;
const CHARS_PER_TOKEN = 4;

function partChars(part: TextContent | ImageContent | ThinkingContent | ToolCallContent): number {
  if (part.type === "text") return part.text.length;
  if (part.type === "thinking") return part.thinking.length;
  return part.type === "image" ? IMAGE_CHARS : part.name.length + JSON.stringify(part.arguments).length;
}

/** Characters of a message: its text, reasoning and tool arguments; an image has a fixed price. */
export function messageChars({ content }: ModelMessage): number {
  if (typeof content === "string") return content.length;
  let chars = 0;
  for (const part of content) chars += partChars(part);
  return chars;
}

/** Tokens of so many characters, rounded up. */
export function tokensOfChars(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** A guess at the tokens of one message: four characters each. */
export function estimateTokens(message: ModelMessage): number {
  return tokensOfChars(messageChars(message));
}

/** How much of the window a conversation fills. */
export interface ContextSize {
  readonly tokens: number;
  /** What the provider counted at the last usable answer; 0 without one. */
  readonly counted: number;
  /** The guess for what came after it. */
  readonly estimated: number;
}

/**
 * The last count a provider gave, and a guess for what came after it. Answers that failed or that the gateway wrote counted nothing, and those
 * before `from` counted another conversation: what a compaction kept was answered when everything was still there.
 */
export function contextSize(messages: readonly ModelMessage[], from = 0): ContextSize {
  const usable = (message: ModelMessage): number =>
    message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted" ? message.usage.totalTokens : 0;
  const last = messages.findLastIndex((message, at) => at >= from && usable(message) > 0);
  const counted = last < 0 ? 0 : usable(messages[last]!);
  let estimated = 0;
  for (const message of messages.slice(last + 1)) estimated += estimateTokens(message);
  return { tokens: counted + estimated, counted, estimated };
}
