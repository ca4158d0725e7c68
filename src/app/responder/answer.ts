import type { AssistantMessage, ThinkingLevel } from "../../protocol/index.ts";
import type { SessionPatch } from "./run-log.ts";
import type { UsageInput } from "../../store/index.ts";

/** A message that is to be answered, in its session. */
export interface Question {
  readonly runId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly message: string;
  readonly channel: string;
  readonly systemPrompt?: string;
  readonly thinking?: ThinkingLevel;
  /** The transcript. */
  readonly file: string;
  readonly signal: AbortSignal;
}

/** How an answer ended. Its message is what the transcript keeps. */
export interface AnswerEnd {
  readonly status: "ok" | "failed" | "aborted";
  readonly message: AssistantMessage;
  /** What went wrong, in words for the user. */
  readonly error?: string;
  /** Fields of the session's entry that follow from it. */
  readonly patch?: SessionPatch;
  readonly usage?: UsageInput;
}

export type AnswerEvent =
  | { readonly type: "delta"; readonly delta: string }
  /** What was said so far is void. */
  | { readonly type: "discard" }
  /** Always last. */
  | { readonly type: "end"; readonly end: AnswerEnd };

/** Answers messages. Does not throw for what models do. */
export interface Answerer {
  answer(question: Question): AsyncIterable<AnswerEvent>;
}

/** Loaded when the first message is to be answered. */
export function lazyAnswerer(load: () => Promise<Answerer>): Answerer {
  let loading: Promise<Answerer> | undefined;
  return {
    async *answer(question) {
      yield* (await (loading ??= load())).answer(question);
    },
  };
}
