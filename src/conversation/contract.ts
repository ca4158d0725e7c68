/** Runs that clients ask for: what is asked, what happens, how it ends. */
import type { TurnFailure } from "../agent/index.ts";
import type { ErrorCode } from "../base/errors.ts";
import type { ImageContent, ThinkingLevel, ToolCallContent, ToolSchema } from "../protocol/index.ts";
import type { Provenance } from "../sessions/index.ts";
import type { Write } from "../store/index.ts";
import type { ReplyAddress } from "./address.ts";

/** What the agent is asked after `/new` without a message. Nobody wrote it. */
export const GREETING = [
  "A new conversation has just begun.",
  "Greet the person in one to three short sentences, in your own voice and as the files of your workspace describe you, and ask what they would like to do.",
  "Do not mention this note, tools or how you work internally.",
].join(" ");

export type AbortReason = "rpc" | "stop" | "timeout" | "interrupt";

/** One run, asked for by a client or an HTTP caller. */
export interface RunRequest {
  /** The caller's idempotency key. */
  readonly runId: string;
  /** Canonical: `agent:<id>:…`. */
  readonly sessionKey: string;
  readonly message: string;
  /** Where it came in: `webchat`, `api`, … */
  readonly channel: string;
  readonly systemPrompt?: string;
  readonly timeoutMs?: number;
  readonly images?: readonly ImageContent[];
  /** Files that came with it and are stored: the agent sees where. */
  readonly files?: readonly { readonly path: string; readonly mimeType: string }[];
  /** For this run only. */
  readonly thinking?: ThinkingLevel;
  /** For this run only: a reference or an alias. */
  readonly model?: string;
  /** With `model`: a run whose model may not be used fails instead of asking another. */
  readonly modelRequired?: boolean;
  /** Tools that this run does not have, whatever the policies say. */
  readonly withoutTools?: readonly string[];
  /** Tools that the caller carries out itself: a run in which the model calls one ends with `calls`. */
  readonly clientTools?: readonly ToolSchema[];
  /** Most tokens of an answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** The caller is the owner. Callers with `operator.admin` are. */
  readonly owner?: boolean;
  /** The answer is also sent there. */
  readonly reply?: ReplyAddress;
  /** System lines for the agent, before the message. */
  readonly events?: readonly { readonly text: string; readonly at: number }[];
  /** Nobody wrote the message: the inbox keeps it as an input of this kind. */
  readonly kind?: "exec" | "cron" | "heartbeat" | "webhook" | "subagent" | "announce" | "session" | "regenerate";
  /** With the kind `cron`: the job that it runs for. */
  readonly jobId?: string;
  /** With the kind `regenerate`: the message is in the transcript already, and is answered once more. */
  readonly again?: true;
  /** Of a heartbeat: what is done with its answer. */
  readonly heartbeat?: HeartbeatRun;
  /** The session whose system lines that ask for a heartbeat it gets, where that is another one. */
  readonly eventsOf?: string;
  /** Only these tools. */
  readonly tools?: readonly string[];
  /** Another session wrote the message. */
  readonly provenance?: Provenance;
  /** Whom the turn is for, where a channel's message began what it goes on with: policies hold as for that message. */
  readonly senderId?: string;
  readonly accountId?: string;
  readonly direct?: boolean;
  /** The message may be a command, and the session's queue mode applies to it: these are the rights of its author. */
  readonly scopes?: readonly string[];
}

export interface HeartbeatRun {
  /** It passes something on: a short answer is no acknowledgement. */
  readonly isRelay?: true;
  /** Something has happened that it is about: its answer is sent also when it has the text of the last one. */
  readonly hasNews?: true;
  /** What clients and chats are shown: nothing, when it runs for its own sake. */
  readonly isSilent?: true;
  /** It runs outside this session, which learns what was sent, and remembers it. */
  readonly main?: string;
}

/** What became of a heartbeat's answer. */
export interface HeartbeatResult {
  readonly status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed";
  readonly reason?: string;
  readonly preview?: string;
  readonly hasMedia?: boolean;
  /** The chat was sent the acknowledgement. */
  readonly isShown?: boolean;
}

export type RunEvent =
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "start"; readonly startedAt: number } }
  | {
      readonly stream: "lifecycle";
      readonly data: {
        readonly phase: "end";
        readonly endedAt: number;
        readonly startedAt?: number;
        readonly aborted?: boolean;
        /** Why it was aborted. */
        readonly reason?: AbortReason;
        /** The answer as the session's settings show it, where that is more than the model's text. */
        readonly shown?: string;
      };
    }
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "error"; readonly error: string; readonly endedAt: number; readonly startedAt?: number } }
  /** `text` is cumulative. */
  | { readonly stream: "assistant"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "thinking"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "tool"; readonly data: ToolEvent }
  | { readonly stream: "compaction"; readonly data: { readonly phase: "start" | "end"; readonly willRetry?: boolean; readonly notice?: string } };

/** What a call of a tool does. */
export type ToolEvent = { readonly name: string; readonly toolCallId: string } & (
  | { readonly phase: "start"; readonly args: unknown }
  | { readonly phase: "update"; readonly partialResult: unknown }
  | { readonly phase: "result"; readonly isError: boolean; readonly result: unknown }
);

/** Tokens. */
export interface RunUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

interface EndedTurn {
  readonly text: string;
  readonly sessionId: string;
  readonly durationMs: number;
  readonly provider?: string;
  readonly model?: string;
  /** Of all calls of the model together. */
  readonly usage?: RunUsage;
  /** Of the last call: how full the context is. */
  readonly lastCallUsage?: RunUsage;
  readonly stopReason?: string;
  /** Calls of tools that the caller brought, which it is to carry out. */
  readonly calls?: readonly ToolCallContent[];
  /** The answer was `NO_REPLY`. */
  readonly silent?: boolean;
  readonly heartbeat?: HeartbeatResult;
  /** Everything the caller is shown, message by message, where that is more than `text`: asides, reasoning, the usage footer. */
  readonly payloads?: readonly string[];
}

/** Why a run failed, for machines. Absent when nobody foresaw it. */
export type RunFailure =
  | TurnFailure
  /** The gateway stops: the run goes on after the restart, and its answer is found under the same id. */
  | { readonly kind: "restarting" }
  /** It was cut off too often. */
  | { readonly kind: "interrupted" }
  /** Something other than the model refused; the code is that of the error. */
  | { readonly kind: "error"; readonly code: ErrorCode };

/** How a run ended. It is on disk before this is reported. */
export type RunOutcome =
  | ({ readonly status: "ok" } & EndedTurn)
  /** `abortedBy`: `rpc`, `stop-command`, `timeout`, `interrupt`. */
  | ({ readonly status: "aborted"; readonly abortedBy?: string } & EndedTurn)
  | { readonly status: "error"; readonly error: string; readonly failure?: RunFailure; readonly heartbeat?: HeartbeatResult };

export interface AcceptedRun {
  readonly runId: string;
  /** The same run was accepted before: nothing new was started. */
  readonly duplicate: boolean;
  /** Of a duplicate that has ended. */
  readonly ended?: RunOutcome;
}

/** Takes messages, runs them, and streams what happens. */
export interface Responder {
  /**
   * Resolves when the message is on disk. A repeated `runId` with the same message is the same run; with another one `CONFLICT`. `also` is committed with
   * it: what is refused refuses both, and a repeated one commits neither.
   */
  accept(request: RunRequest, also?: readonly Write[]): Promise<AcceptedRun>;
  /** Resolves when a run has ended, also one that the previous process left and that is not resumed yet; undefined when none of that id is known. */
  outcome(runId: string, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Ends runs: all of a session, with what waits there, or one. Gives the ids of those it reached. */
  abort(target: { readonly sessionKey: string; readonly runId?: string }, reason: "rpc" | "stop" | "timeout"): readonly string[];
  /** Shows a message that waits to the turn that runs, at its next step. False: it does not wait, or that turn does not take it. */
  steer?(target: { readonly sessionKey: string; readonly runId: string }): boolean;
  /** Carries out a stop command at once, without a run of its own. Gives the ids of the runs it reached; undefined when the text is no command here. */
  stopCommand?(request: Pick<RunRequest, "sessionKey" | "message" | "channel" | "scopes" | "owner">): Promise<readonly string[] | undefined>;
  /** Called with everything that happens in any run, in order. */
  onEvent(listener: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void): Disposable;
}
