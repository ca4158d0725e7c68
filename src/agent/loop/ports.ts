import type { CallEvent } from "../../models/index.ts";
import type {
  AssistantMessage,
  ImageContent,
  ModelMessage,
  TextContent,
  ToolCallContent,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../../protocol/index.ts";

/** What a tool answered. */
export interface ToolAnswer {
  readonly content: readonly (TextContent | ImageContent)[];
  /** For the transcript and the screen; no model sees it. */
  readonly details?: unknown;
  readonly isError: boolean;
  /** The turn ends after this result. */
  readonly terminate?: boolean;
}

/** What happens in a turn, as it is shown. Texts are cumulative beside their delta. */
export type LoopEvent =
  | { readonly stream: "assistant"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "thinking"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "tool"; readonly data: { readonly phase: "start"; readonly name: string; readonly toolCallId: string; readonly args: unknown } }
  | {
      readonly stream: "tool";
      readonly data: { readonly phase: "update"; readonly name: string; readonly toolCallId: string; readonly partialResult: unknown };
    }
  | {
      readonly stream: "tool";
      readonly data: { readonly phase: "result"; readonly name: string; readonly toolCallId: string; readonly isError: boolean; readonly result: unknown };
    };

/** Everything the loop needs of the world. */
export interface LoopPorts {
  /** Asks the model with the conversation so far, and with what belongs to this question alone. The last event is `done`. */
  ask(messages: readonly ModelMessage[], only?: readonly ModelMessage[]): AsyncIterable<CallEvent>;
  /** Counts what a part of an answer took that is stored with the rest of it. */
  spent(part: AssistantMessage): void;
  /** Carries out a call. Never rejects: whatever goes wrong is the answer. */
  runTool(call: ToolCallContent, update: (partial: unknown) => void): Promise<ToolAnswer>;
  /** Whether a call may run beside its neighbours that may, too. */
  isParallel(call: ToolCallContent): boolean;
  /** Makes a step durable before the next one is taken: an answer with its calls, a result, a message that came in between. Gives the message as it is used from now on. */
  keep<M extends AssistantMessage | ToolResultMessage | UserMessage>(message: M): Promise<M>;
  /** The user's messages since it was last called. */
  steered(): readonly UserMessage[];
  /** The natural end: undefined accepts it, messages ask for one more pass. */
  finalize(answer: AssistantMessage): Promise<readonly UserMessage[] | undefined>;
  emit(event: LoopEvent): void;
  now(): number;
}

/** Why the loop ended. */
export type LoopEnd =
  | { readonly kind: "answered"; readonly answer: AssistantMessage }
  | { readonly kind: "aborted"; readonly text: string }
  | { readonly kind: "failed"; readonly failure: Extract<CallEvent, { type: "done" }>["result"] & { readonly ok: false } }
  | { readonly kind: "limit"; readonly text: string };

export interface LoopResult {
  readonly end: LoopEnd;
  /** What was added to the conversation, in order. */
  readonly added: readonly ModelMessage[];
  /** Answers of the model, in order; the last is the latest. */
  readonly answers: readonly AssistantMessage[];
  /** What each call of the model took. */
  readonly usage: readonly Usage[];
  /** The text of the answer that was not finished. */
  readonly partial: string;
}
