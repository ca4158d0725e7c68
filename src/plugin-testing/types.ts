import type { Clock } from "../base/clock.ts";
import type { LogRecord } from "../base/log/logger.ts";
import type { Breaker, HookContext, HookEvent, HookName, HookOutcome, HookStat, HookTraceRecord } from "../hooks/index.ts";
import type { MethodAnswer, PluginDiagnostic, PluginStatus } from "../plugins/index.ts";

/** A plugin's `register`. */
export type PluginRegister = (api: never) => unknown;

/** A folder or file as it would be installed, or code written in the test. `manifest` are more fields of the manifest that is made for it. */
export type TestPlugin =
  | string
  | PluginRegister
  | { readonly id?: string; readonly register?: PluginRegister; readonly activate?: PluginRegister; readonly manifest?: Readonly<Record<string, unknown>> };

export interface TestHostOptions {
  readonly plugins: readonly TestPlugin[];
  /** The configuration, as it would stand in the file. The plugins are enabled unless it says otherwise. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** `manual` (the default): time stands still until `advance`. `system`: budgets pass by themselves. */
  readonly clock?: "manual" | "system";
  /** Environment variables that the host has; none of those around the test reach it. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a tool knows about the run that it is made for. */
export type ToolCallContext = Readonly<Record<string, unknown>>;

/** A message that comes in over a channel. */
export interface TestMessage {
  /** One that no plugin brought is made by the host. */
  readonly channel: string;
  /** Id of the sender, who is let in unless `isAllowed` is false. */
  readonly from: string;
  readonly text: string;
  readonly accountId?: string;
  readonly isAllowed?: boolean;
  /** The group it is written in; a direct chat without. */
  readonly group?: string;
  /** In a group: whether we are spoken to. Default true. */
  readonly mentioned?: boolean;
  /** The platform's id; a new one without. */
  readonly id?: string;
  /** Where the answer goes; the chat without. */
  readonly to?: string;
}

/** What the model says to one call: a text, calls of tools, or that it failed. */
export type TestAnswer =
  | string
  | { readonly text?: string; readonly tools?: readonly { readonly name: string; readonly params?: Readonly<Record<string, unknown>> }[] }
  | { readonly error: string };

/** What the model was asked. */
export interface ModelCall {
  readonly system: string;
  readonly messages: readonly unknown[];
  /** Names of the tools that it could call. */
  readonly tools: readonly string[];
}

/** A message that went out. */
export interface TestReply {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
  readonly text: string;
  /** `final`, `block`, `tool`, `command` or `send`. */
  readonly kind: string;
  readonly mediaUrl?: string;
}

/** How a message ended. */
export interface TestOutcome {
  /** As the inbox keeps it: `answered`, `silent`, `refused`, `failed`, …. */
  readonly outcome: string;
  readonly why: string;
  /** What went out meanwhile. */
  readonly replies: readonly TestReply[];
}

/** A real host in this process: real files, loader, hooks, registries and store, in a folder of its own that is deleted at the end. */
export interface TestHost extends AsyncDisposable {
  /** All plugins with what they registered. */
  plugins(): readonly PluginStatus[];
  /** What is wrong, as `openclaw plugins doctor` would show it. */
  diagnostics(): readonly PluginDiagnostic[];
  readonly hooks: {
    has(hook: HookName): boolean;
    /** Calls a hook as the host does, and gives the merged result. */
    run<K extends HookName>(hook: K, event: HookEvent<K>, ctx?: HookContext<K>): Promise<HookOutcome<K> | undefined>;
  };
  /** Every handler that was called through `hooks.run`, in order, with its time and how it ended. */
  hookCalls(): readonly HookTraceRecord[];
  stats(): { readonly hooks: readonly HookStat[]; readonly breakers: readonly Breaker[] };
  /** Makes the tools for one run and calls one of them. Hooks are not asked. */
  callTool(name: string, params?: Readonly<Record<string, unknown>>, context?: ToolCallContext): Promise<unknown>;
  /** Answers a chat command: `/name arguments`. The sender is allowed to use it unless `isAuthorizedSender` is false. */
  command(text: string, context?: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** Calls a gateway method of a plugin. */
  request(method: string, params?: unknown): Promise<MethodAnswer>;
  /** Asks an HTTP route of a plugin over a real socket, with the gateway's token unless `token` is false. */
  fetch(path: string, init?: RequestInit & { readonly token?: boolean }): Promise<Response>;
  /** A channel as its plugin registered it. */
  channel(id: string): unknown;
  /** Starts services and the plugins' channels, and tells `gateway_start`. */
  ready(): Promise<void>;
  /** Reloads a plugin's code and settings. */
  reload(id: string): Promise<PluginStatus>;
  /** Moves time forward and lets what fell due run. */
  advance(ms: number): Promise<void>;
  readonly clock: Clock;
  readonly stateDir: string;
  readonly workspaceDir: string;
  /** What was logged. */
  logs(): readonly LogRecord[];
  /** Takes a message as if a channel had received it, and resolves when it is at its end: hooks, commands, the agent and delivery are the real ones. */
  receive(message: TestMessage): Promise<TestOutcome>;
  /** Resolves when nothing waits, runs or is being sent. */
  idle(): Promise<void>;
  /** Everything that went out over any channel, in order. */
  replies(): readonly TestReply[];
  /** What the model says to its next calls. */
  script(answers: readonly TestAnswer[]): void;
  /** What the model was asked, call by call. */
  modelCalls(): readonly ModelCall[];
  /** Questions to the operator. */
  readonly approvals: {
    /** Resolves when an approval is requested, with the first one that waits. */
    next(): Promise<{ readonly id: string; readonly kind: string; readonly request: unknown }>;
    /** `allow-once`, `allow-always` or `deny`. */
    answer(id: string, decision: string): Promise<void>;
  };
}
