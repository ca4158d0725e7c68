import type { Clock } from "../../base/clock.ts";
import type { LogRecord } from "../../base/log/logger.ts";
import type { Breaker, HookContext, HookEvent, HookName, HookOutcome, HookStat, HookTraceRecord } from "../../hooks/index.ts";
import type { MethodAnswer, PluginDiagnostic, PluginStatus } from "../../plugins/index.ts";

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

/** What a tool is told about the run that it is made for. */
export type ToolCallContext = Readonly<Record<string, unknown>>;

/** A message that comes in over a channel. */
export interface TestMessage {
  readonly channel: string;
  readonly from: string;
  readonly text: string;
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
  /** Starts services and tells `gateway_start`. */
  ready(): Promise<void>;
  /** Loads a plugin's code and settings anew. */
  reload(id: string): Promise<PluginStatus>;
  /** Moves time forward and lets what fell due run. */
  advance(ms: number): Promise<void>;
  readonly clock: Clock;
  readonly stateDir: string;
  readonly workspaceDir: string;
  /** What was logged. */
  logs(): readonly LogRecord[];
  /** Not there yet: needs the conversation room. */
  receive(message: TestMessage): Promise<never>;
  /** Not there yet: needs the conversation room. */
  replies(): never;
  /** Not there yet: needs the conversation room. */
  script(answers: readonly unknown[]): never;
}
