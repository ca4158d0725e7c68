import type { BegunCommands } from "./begun.ts";
import type { SystemPromptReport } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { ConfigEdit, OpenClawConfig } from "../../config/index.ts";
import type { ModelRef } from "../../models/index.ts";
import type {
  MethodResult,
  PluginCommandContext,
  PluginCommandResult,
  ReplyPayload,
  SessionEntry,
  ThinkingLevel,
  TranscriptEntry,
} from "../../protocol/index.ts";
import type { ChoiceUse, ExecSettings } from "../../tools/index.ts";
import type { Voice } from "../../voice/index.ts";
import type { RunOutcome } from "../contract.ts";
import type { CommandCall } from "./commands.ts";

/** What commands need of the rest. A port that is absent makes its command say that it is not there yet. */
export interface CommandPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Masks secrets in whatever is shown. */
  readonly redact: (text: string) => string;
  /** A command failed in a way that nobody foresaw. */
  readonly onError: (command: string, error: unknown) => void;
  readonly config: ConfigPort;
  readonly session: SessionPort;
  readonly runs: RunsPort;
  readonly status: StatusPort;
  readonly models: ModelsPort;
  /** What `~` stands for in paths. */
  readonly home?: string;
  /** Folder of an agent's files. */
  readonly workspace: (agentId: string) => string | Promise<string>;
  /** Whether the sender's commands may leave the sandbox; else which settings say no. `named`: the configuration names them by id, and not by `*`. */
  readonly elevation: (
    call: CommandCall,
  ) => { readonly permitted: true; readonly named: boolean } | { readonly permitted: false; readonly reasons: readonly string[] };
  readonly choice: ChoicePort;
  /** Fires the internal hook `command:<action>`. Gives what handlers want to show the user. */
  readonly fire: (action: "new" | "reset" | "stop", sessionKey: string, context: Readonly<Record<string, unknown>>) => Promise<readonly string[]>;
  /** Stands in the next prompt of the session. */
  readonly systemEvent?: (sessionKey: string, text: string) => Promise<void> | void;
  readonly context?: ContextPort;
  readonly plugins?: PluginCommandsPort;
  /** Marks the buttons of an answer as the gateway's own. Without it they write plain text. */
  readonly sealButtons?: (reply: ReplyPayload) => Promise<ReplyPayload>;
  readonly begun?: BegunCommands;
  readonly skills?: SkillsPort;
  readonly approvals?: ApprovalPort;
  readonly allowlist?: AllowlistPort;
  readonly usage?: UsagePort;
  readonly subagents?: SubagentsPort;
  readonly memory?: MemoryPort;
  readonly voice?: () => Promise<Voice>;
  readonly bash?: BashPort;
  /** Gives how it is done: `in this process`, `through systemd` … */
  readonly restart?: (reason: string) => Promise<string> | string;
  /** How a message of a session was answered, as short text: the one that is named, else the last that a turn answered. */
  readonly why?: (sessionKey: string, id: string | undefined) => Promise<string | undefined>;
}

/** What decides how much of a session's choice about commands holds. */
export interface ChoicePort {
  /** The session's tools work in a sandbox. */
  sandboxed(agentId: string, sessionKey: string): boolean;
  /** Whether the one who granted a value may still do so. */
  stillMay(agentId: string): ChoiceUse["stillMay"];
  /** The same rules as the approvals file narrows them. */
  approvals?(agentId: string, rules: Pick<ExecSettings, "security" | "ask">): Promise<Pick<ExecSettings, "security" | "ask">>;
}

export interface ConfigPort {
  /** With the overrides of `/debug`. */
  current(): OpenClawConfig;
  /** What the file says, without secrets. */
  shown(): Promise<unknown>;
  /** All or nothing. Throws an `AppError` with the first issue when the result would not be valid. */
  edit(edit: ConfigEdit): Promise<void>;
  /** Overrides in memory. */
  readonly overrides?: {
    get(): Readonly<Record<string, unknown>>;
    set(path: readonly (string | number)[], value: unknown): void;
    /** False when there was none. */
    unset(path: readonly (string | number)[]): boolean;
    reset(): void;
  };
}

/** Notes and what was said, for `/remember` and `/forget`. */
export interface MemoryPort {
  /** Writes a list item into a note; gives where it stands. */
  remember(agentId: string, text: string, options: { readonly always: boolean }): Promise<{ readonly path: string; readonly line: number }>;
  forget(
    agentId: string,
    request: { readonly text: string; readonly preview?: boolean; readonly plan?: string; readonly only?: readonly number[] },
  ): Promise<MethodResult<"memory.forget">>;
  /** What was shown and waits for a confirmation, by session. It is nowhere else. */
  readonly shown: Map<string, { readonly text: string; readonly plan: string; readonly at: number }>;
}

export interface SessionPort {
  read(key: string): Promise<SessionEntry | undefined>;
  /** Null takes a field away. Makes the entry where there is none. */
  patch(key: string, agentId: string, patch: Readonly<Record<string, unknown>>): Promise<void>;
  /** Ends what runs, then gives the key a new session id. */
  reset(key: string, agentId: string, reason: "new" | "reset"): Promise<{ readonly sessionId: string }>;
  /** Ends what runs, then writes a summary. */
  compact(key: string, agentId: string, instructions: string | undefined, signal: AbortSignal): Promise<CompactReport>;
  /** For the export; undefined when there is none. */
  transcript(key: string): Promise<SessionTranscript | undefined>;
}

export type CompactReport =
  | { readonly compacted: true; readonly tokensBefore: number; readonly tokensAfter: number }
  | { readonly compacted: false; readonly reason: string };

export interface SessionTranscript {
  readonly sessionId: string;
  readonly entries: readonly TranscriptEntry[];
  readonly systemPrompt?: string;
  readonly tools?: readonly { readonly name: string; readonly description: string }[];
}

export interface RunsPort {
  /** Aborts what runs in a session, drops what waits there, and kills what it started, process trees included, within two seconds. */
  stop(key: string): Promise<{
    readonly runIds: readonly string[];
    /** Turns of the model among them; the others were commands, or waited for one. Absent: all. */
    readonly turns?: number;
    readonly waiting?: number;
    readonly processes?: number;
    readonly subagents?: number;
  }>;
  /** Messages that wait. */
  depth(key: string): number | Promise<number>;
}

export interface StatusPort {
  facts(key: string, agentId: string): Promise<StatusFacts>;
}

/** What the session's entry and the configuration do not have. */
export interface StatusFacts {
  readonly version: string;
  readonly commit?: string;
  /** `provider/model`. */
  readonly model: string;
  /** How it is paid for; never a secret. */
  readonly auth?: string;
  /** Paid by tokens. */
  readonly usesApiKey?: boolean;
  readonly costUsd?: number;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly thinkingDefault?: ThinkingLevel;
  readonly runtime: "direct" | "sandbox";
  /** Lines that other parts add: quota, media, voice, sub-agents. */
  readonly lines?: readonly string[];
}

export interface ContextPort {
  /** Of the last run, or an estimate. */
  report(key: string, agentId: string): Promise<SystemPromptReport | undefined>;
}

export interface ListedModel {
  readonly provider: string;
  readonly id: string;
  readonly name?: string;
}

export interface ModelsPort {
  /** Models that could be chosen: known, with a credential. The allow list is applied here. */
  list(agentId: string): Promise<readonly ListedModel[]>;
  /** What the agent uses when nothing is chosen. */
  standard(agentId: string): Promise<ModelRef>;
  /** Also one that cannot be used: `problem` says why, and what to do. */
  current(key: string, agentId: string): Promise<ModelRef & { readonly problem?: string }>;
  /** Levels of thinking that may be chosen with a model. */
  levels(ref: ModelRef): Promise<readonly ThinkingLevel[]>;
  /** Where models are reached and with what. Labels are shown: no secrets in them. */
  providers?(agentId: string): Promise<
    readonly {
      readonly id: string;
      readonly baseUrl?: string;
      readonly api?: string;
      readonly profiles: readonly { readonly id: string; readonly label: string }[];
    }[]
  >;
}

export interface PluginCommandCall {
  readonly name: string;
  /** Undefined when the signal fired first: what the plugin answers later is dropped. */
  run(context: Omit<PluginCommandContext, "args" | "signal">, signal: AbortSignal): Promise<PluginCommandResult | undefined>;
}

export interface PluginCommandsPort {
  /** The command that a text is, ready to run. `name` for `why`. */
  match(text: string): PluginCommandCall | undefined;
  list(): readonly { readonly name: string; readonly description: string; readonly acceptsArgs: boolean; readonly pluginId?: string }[];
}

export interface UserSkill {
  readonly name: string;
  readonly description: string;
  /** The tool that answers without a model. */
  readonly tool?: string;
  /** The file with its instructions: the prompt does not list every skill. */
  readonly location?: string;
}

export interface SkillsPort {
  /** Those that are eligible and may be called by users. */
  list(agentId: string): Promise<readonly UserSkill[]>;
  /** Calls a tool through the broker. Undefined when the session may not use it or there is none. */
  callTool?(call: CommandCall, tool: string, args: Readonly<Record<string, unknown>>): Promise<{ readonly text: string } | undefined>;
}

export interface ApprovalPort {
  /** Throws `NOT_FOUND` for ids that are unknown or late. */
  resolve(id: string, decision: "allow-once" | "allow-always" | "deny", by: string | undefined): Promise<void>;
}

export interface AllowlistTarget {
  readonly channel: string;
  readonly accountId: string;
}

export interface AllowlistPort {
  /** Ids of channels that have lists. */
  channels(): readonly string[];
  list(place: AllowlistTarget): Promise<{
    readonly dmPolicy?: string;
    readonly groupPolicy?: string;
    readonly dm: readonly string[];
    readonly group: readonly string[];
    readonly store: readonly string[];
    /** Groups with a list of their own. */
    readonly groups?: Readonly<Record<string, readonly string[]>>;
  }>;
  /** Which of the places were changed; `known`: where it already was as asked. */
  change(
    place: AllowlistTarget,
    change: {
      readonly action: "add" | "remove";
      readonly scope: "dm" | "group";
      readonly entry: string;
      readonly where: readonly ("config" | "store")[];
    },
  ): Promise<{ readonly changed: readonly string[]; readonly known: readonly string[] }>;
}

/** A sub-agent as lists show it. */
export interface SubagentView {
  /** Its number in the list. */
  readonly index: number;
  /** One line of a list. */
  readonly line: string;
  readonly runId: string;
  readonly sessionKey: string;
  readonly sessionId?: string;
  readonly requesterSessionKey: string;
  /** The label, else the beginning of the task. */
  readonly name: string;
  readonly label?: string;
  readonly task: string;
  readonly status: "queued" | "running" | "done" | "failed" | "timed out" | "killed";
  readonly error?: string;
  readonly model?: string;
  readonly depth: number;
  readonly cleanup: "keep" | "delete";
  readonly runTimeoutSeconds: number;
  readonly announced: boolean;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly archiveAt?: number;
  readonly runtimeMs: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly total: number };
  readonly isActive: boolean;
}

/** Sub-agents of a session. Targets that name none, or several, are `INVALID_INPUT`. */
export interface SubagentsPort {
  list(sessionKey: string): Promise<readonly SubagentView[]>;
  find(sessionKey: string, target: string): Promise<SubagentView>;
  kill(
    sessionKey: string,
    target: string,
  ): Promise<{ readonly killed: number; readonly dropped: number; readonly names: readonly string[]; readonly child?: SubagentView }>;
  log(sessionKey: string, target: string, limit: number, withTools: boolean): Promise<readonly { readonly role: string; readonly text: string }[]>;
  /** Undefined when there is no answer in time. */
  send(sessionKey: string, target: string, message: string, timeoutMs: number): Promise<RunOutcome | undefined>;
  steer(sessionKey: string, target: string, message: string): Promise<{ readonly child: SubagentView } | { readonly done: SubagentView }>;
  spawn(
    call: CommandCall,
    asked: {
      readonly sessionKey: string;
      /** The same cause starts the same one. */
      readonly cause: string;
      readonly agentId: string;
      readonly task: string;
      readonly model?: string | undefined;
      readonly thinking?: string | undefined;
    },
  ): Promise<{ readonly status: "accepted"; readonly runId: string } | { readonly status: "forbidden" | "error"; readonly error: string }>;
}

export interface UsageTotal {
  readonly tokens: number;
  readonly costUsd?: number;
  /** Prices were missing for a part. */
  readonly partial?: boolean;
}

export interface UsagePort {
  summary(key: string): Promise<{ readonly session: UsageTotal; readonly today: UsageTotal; readonly last30Days: UsageTotal }>;
}

export interface BashPort {
  /** Through the broker: approvals apply. Gives what is shown. */
  run(call: CommandCall, command: string, foregroundMs: number): Promise<string>;
  poll(call: CommandCall, id: string | undefined): Promise<string>;
  stop(call: CommandCall, id: string | undefined): Promise<string>;
}
