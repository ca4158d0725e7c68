/** What the gateway needs from rooms above it, or from rooms that are not built yet. `app` fills these. */
import type { createSkills } from "../agent/index.ts";
import type { ImageContent, ThinkingLevel, ToolCallContent, ToolSchema } from "../protocol/index.ts";
import type { Approvals, ExecRules, ExecRulesSnapshot } from "../tools/index.ts";

type Skills = ReturnType<typeof createSkills>;

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
  /** For this run only. */
  readonly thinking?: ThinkingLevel;
  /** Tools that the caller carries out itself: a run in which the model calls one ends with `calls`. */
  readonly clientTools?: readonly ToolSchema[];
  /** Most tokens of an answer. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** Whoever asks is the owner. Callers with `operator.admin` are. */
  readonly owner?: boolean;
}

export type RunEvent =
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "start"; readonly startedAt: number } }
  | {
      readonly stream: "lifecycle";
      readonly data: { readonly phase: "end"; readonly endedAt: number; readonly startedAt?: number; readonly aborted?: boolean };
    }
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "error"; readonly error: string; readonly endedAt: number; readonly startedAt?: number } }
  /** `text` is cumulative. */
  | { readonly stream: "assistant"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "thinking"; readonly data: { readonly text: string; readonly delta: string } }
  | { readonly stream: "tool"; readonly data: ToolEvent }
  | { readonly stream: "compaction"; readonly data: { readonly phase: "start" | "end"; readonly willRetry?: boolean } };

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
}

/** How a run ended. It is on disk before this is told. */
export type RunOutcome =
  | ({ readonly status: "ok" } & EndedTurn)
  | ({ readonly status: "aborted" } & EndedTurn)
  | { readonly status: "error"; readonly error: string };

export interface AcceptedRun {
  readonly runId: string;
  /** The same run was accepted before: nothing new was started. */
  readonly duplicate: boolean;
  /** Of a duplicate that has ended. */
  readonly ended?: RunOutcome;
}

/** Takes messages, runs them, and streams what happens. */
export interface Responder {
  /** Resolves when the message is on disk. A repeated `runId` with the same message is the same run; with another one `CONFLICT`. */
  accept(request: RunRequest): Promise<AcceptedRun>;
  /** Resolves when a run has ended; undefined when none of that id is known. */
  outcome(runId: string, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Ends runs: all of a session, or one. Gives the ids of those it reached. */
  abort(target: { readonly sessionKey: string; readonly runId?: string }, reason: "rpc" | "stop" | "timeout"): readonly string[];
  /** Told everything that happens in any run, in order. */
  onEvent(listener: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void): Disposable;
}

/** How much of a file that a caller names by its address is fetched, and from where. */
export interface FetchLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  /** Asked for the address and for each that it leads to. */
  readonly isAllowed: (url: URL) => boolean;
  readonly signal: AbortSignal;
}

/** Fetches a file from the web, guarded against addresses that a stranger must not reach through us. Rejects with an `AppError`. */
export type FetchFile = (url: string, limits: FetchLimits) => Promise<{ readonly data: Uint8Array; readonly mimeType?: string }>;

/** One call of a tool outside of a turn. */
export interface ToolInvocation {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly action?: string;
  /** Canonical. */
  readonly sessionKey: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly owner: boolean;
  readonly signal: AbortSignal;
}

/** Tools, through the one place where they run. */
export interface ToolsPort {
  /** Undefined when policy does not offer the tool to this session. */
  invoke(call: ToolInvocation): Promise<{ readonly content: readonly unknown[]; readonly details?: unknown; readonly isError: boolean } | undefined>;
}

/** Why a session may use a tool, or may not. */
export interface ToolExplanation {
  readonly name: string;
  readonly allowed: boolean;
  readonly layer?: string;
  /** Of the configuration. */
  readonly path?: string;
  readonly entry?: string;
  readonly why: string;
  /** `core`, `plugin:<id>` or `channel:<id>`. */
  readonly source: string;
}

/** A tool as lists show it. */
export interface ListedTool {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  readonly source: "core" | "plugin" | "channel";
  readonly pluginId?: string;
  readonly ownerOnly?: boolean;
  readonly optional?: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What is known about tools. Keys are canonical, and their agents are there. */
export interface ToolFactsPort {
  /** All tools when `tool` is absent; none when there is no such tool. */
  explain(asked: {
    readonly agentId: string;
    readonly sessionKey: string;
    readonly tool?: string;
    readonly owner: boolean;
  }): Promise<readonly ToolExplanation[]>;
  catalog(agentId: string): Promise<readonly ListedTool[]>;
}

/** How a session was summed up. */
export interface CompactionReport {
  readonly compacted: boolean;
  /** Why not. */
  readonly reason?: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/** Questions to operators. */
export type ApprovalsPort = Pick<Approvals, "request" | "resolve" | "onNotice">;

/** The rules for commands on this host. */
export interface ExecRulesPort {
  snapshot(): ExecRulesSnapshot | Promise<ExecRulesSnapshot>;
  replace: ExecRules["replace"];
}

/** What methods need of the agent room. */
export interface AgentPort {
  /** Folder of an agent's files. */
  workspace(agentId: string): string | Promise<string>;
  /** Appends a summary to a session's transcript. Waits for its run to end, or rejects with `UNAVAILABLE`. Absent: lines are cut instead. */
  compact?(request: { readonly sessionKey: string; readonly instructions?: string; readonly signal: AbortSignal }): Promise<CompactionReport>;
  /** Absent: `skills.*` is not answered. */
  readonly skills?: {
    status: Skills["status"];
    changed: Skills["changed"];
    /** Where skills that were installed for all agents are. */
    readonly managedFolder: string;
    readonly platform: string;
  };
}
