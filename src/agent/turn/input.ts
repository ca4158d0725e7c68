import type { ImageContent, ThinkingLevel, ToolCallContent, ToolSchema, Usage } from "../../protocol/index.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { FailureClass, Trouble } from "../../models/index.ts";
import type { Provenance } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { LoopEvent } from "../loop/ports.ts";

/** What the channel of a turn can do, as its plugin and the configuration say. */
export interface ChannelFacts {
  readonly capabilities: readonly string[];
  /** It can have buttons, and the configuration turns them off. */
  readonly buttonsOff?: boolean;
  /** What the channel's plugin says about the message tool. */
  readonly hints?: readonly string[];
  /** How freely the agent reacts to messages. */
  readonly reactions?: "minimal" | "extensive";
}

/** A message that is to be answered, in its session. */
export interface TurnInput {
  /** The turn's id, too. */
  readonly runId: string;
  /** The trace of the message, for hooks. */
  readonly traceId?: string;
  /** Canonical. */
  readonly sessionKey: string;
  readonly agentId: string;
  readonly message: string;
  /** Its sender wrote something that looks like what the gateway puts around messages: people are shown all of it. */
  readonly isVerbatim?: boolean;
  /** The message is in the transcript already, as its last one: it is answered once more. */
  readonly again?: true;
  /** Another session wrote the message. */
  readonly provenance?: Provenance;
  /** What stands before the message, as lines of the system. */
  readonly events?: readonly { readonly text: string; readonly at: number }[];
  readonly images?: readonly ImageContent[];
  /** Where it came in. */
  readonly channel: string;
  readonly senderId?: string;
  /** The login that received it. */
  readonly accountId?: string;
  /** The chat it was written in. */
  readonly chatId?: string;
  readonly channelFacts?: ChannelFacts;
  /** That chat has one other person in it. */
  readonly direct?: boolean;
  /** What the gateway knows of that chat, for the system prompt: one line of JSON in which nothing was written by a person. */
  readonly inbound?: string;
  /** What the message says about its session, as fields of the entry: where it came from, where answers go. */
  readonly entryFields?: Readonly<Record<string, unknown>>;
  /** A session that is made for this turn begins with what was said in this one, of the same agent. */
  readonly forkOf?: string;
  /** Only these skills. */
  readonly skillFilter?: readonly string[];
  /** Whom the answer reaches, where no person waits for it: a chat that it is sent to, or nobody. */
  readonly hearing?: "chat" | "nobody";
  /** What starts it, where no one wrote the message. */
  readonly trigger?: "cron" | "heartbeat";
  /** The scheduled job that it runs for. */
  readonly jobId?: string;
  /** The session whose system lines it gets, where that is another one. */
  readonly eventsOf?: string;
  /** Only these tools. */
  readonly tools?: readonly string[];
  /** The sender may do everything. */
  readonly owner: boolean;
  /** Stands in the system prompt of this turn. */
  readonly systemPrompt?: string;
  /** What the voice settings say about spoken answers. */
  readonly voiceHint?: string;
  readonly thinking?: ThinkingLevel;
  /** The model for this turn only: a reference or an alias. One that may not be used is passed over. */
  readonly model?: string;
  /** With `model`: a turn whose model may not be used fails instead of asking another. */
  readonly modelRequired?: boolean;
  /** Tools that this turn does not have, whatever the policies say. */
  readonly withoutTools?: readonly string[];
  /** Tools that the client carries out: a call of one ends the turn. */
  readonly clientTools?: readonly ToolSchema[];
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** Inputs that end with the turn. */
  readonly inboxIds: readonly number[];
  /** It may have been begun by a process before this one. */
  readonly resumed: boolean;
  /** What plugins decided about it on its way here; stored with the turn. */
  readonly hookLog?: readonly HookLogEntry[];
}

/** A message that came in while the turn ran. */
export interface Steered {
  readonly text: string;
  readonly images?: readonly ImageContent[];
  /** Committed with it: the end of its own input. */
  readonly writes: readonly Write[];
  /** Called when that commit is done. A turn that throws before has not taken the message. */
  readonly committed?: () => void;
}

/** What happens in a turn, as it is shown. */
export type TurnEvent =
  | LoopEvent
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "start"; readonly startedAt: number } }
  | { readonly stream: "compaction"; readonly data: { readonly phase: "start" | "end"; readonly willRetry?: boolean; readonly notice?: string } };

export interface TurnPorts {
  emit(event: TurnEvent): void;
  readonly signal: AbortSignal;
  /** Why it was aborted: `rpc`, `stop-command`, `timeout`. */
  readonly origin: () => string;
  /** Fires when the process stops: the turn is left as it is for the next start. */
  readonly stopping: AbortSignal;
  readonly steered?: () => readonly Steered[];
  /** Asked about the text of an answer after which the turn goes on, before that answer is written. It must not reject. */
  readonly spoken?: (text: string) => Promise<Spoken | undefined>;
  /** What is to be sent, as writes that are committed together with the end. It must not reject. */
  readonly replies?: (end: TurnEnd) => Promise<readonly Write[] | ShownReplies>;
  /** The turn is begun once more, because the session was not as it was thought to be: nothing of it is on disk. */
  readonly again?: () => Promise<void>;
}

/** What plugins made of a text that the model wrote before the end of its turn. */
export interface Spoken {
  /** Shown in place of the text; empty when it is withheld, undefined when nothing was changed. */
  readonly shown?: string;
  /** Committed with the answer. */
  readonly writes: readonly Write[];
  /** Called after that commit. */
  committed(): void;
}

/** Replies that a client is shown, where plugins made something else of the answer. */
export interface ShownReplies {
  readonly writes: readonly Write[];
  /** What is shown in place of the answer; empty when it is withheld. */
  readonly shown: string;
  /** The text belongs to an answer that is in the transcript already, as it is shown. */
  readonly isWritten?: boolean;
  /** The conversation goes on as if there had been no such turn. */
  readonly isForgotten?: boolean;
}

/** Why a turn failed, for machines. */
export interface TurnFailure {
  /** The model's failure, or that the turn reached its own limit. */
  readonly kind: FailureClass | "turn_limit";
  /** HTTP status of the provider. */
  readonly status?: number;
  /** What the model's failure was, where the name of its class would mislead. */
  readonly trouble?: Trouble;
  readonly retryAfterMs?: number;
}

/** How a turn ended; on disk before it is reported. */
export interface TurnEnd {
  readonly status: "ok" | "aborted" | "failed" | "blocked";
  /** What is shown. */
  readonly text: string;
  /** What the client is shown in place of `text`, where plugins changed or cancelled it. */
  readonly shown?: string;
  /** What is sent, one text for each answer that had any. */
  readonly texts: readonly string[];
  readonly error?: string;
  /** Of a turn that was aborted: `rpc`, `stop-command`, `timeout`, `interrupt`. */
  readonly abortedBy?: string;
  /** What kind of failure `error` describes. */
  readonly failure?: TurnFailure;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly provider?: string;
  readonly model?: string;
  /** Of each call of the model, in order. */
  readonly usage: readonly Usage[];
  readonly stopReason?: string;
  readonly calls?: readonly ToolCallContent[];
  readonly silent?: boolean;
  /** Tokens the model can see. */
  readonly window?: number;
  /** The credential that the last answer was paid with. */
  readonly profileId?: string;
}
