/** A conversation as models and transcripts see it. The shapes are those of transcript lines, so that nothing is converted on the way. */

export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly textSignature?: string;
  /** Put there for the model by plugins: no part of what the user wrote. */
  readonly openclawContext?: true;
}

export interface ImageContent {
  readonly type: "image";
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

export interface ThinkingContent {
  readonly type: "thinking";
  readonly thinking: string;
  /** What the provider wants back with it. */
  readonly thinkingSignature?: string;
  readonly redacted?: boolean;
}

export interface ToolCallContent {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Why the arguments could not be read, when they could not: they are empty then, and the call is not made. */
  readonly argumentsError?: string;
  readonly thoughtSignature?: string;
}

export interface UsageCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

/** Tokens, and money in US dollars. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly cost: UsageCost;
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly (TextContent | ImageContent)[];
  readonly timestamp: number;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly (TextContent | ThinkingContent | ToolCallContent)[];
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  readonly errorMessage?: string;
  readonly timestamp: number;
}

export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly (TextContent | ImageContent)[];
  /** The tool's own data; never sent to a model. */
  readonly details?: unknown;
  readonly isError: boolean;
  readonly timestamp: number;
}

export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage;

/** A tool as it is shown to a model. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";
