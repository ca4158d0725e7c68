/** The object that a plugin's `register` gets. Its methods work when they are taken off it. */
import type { Command } from "commander";
import type { HookHandler, HookName, HookOptions, InternalHookHandler, ToolPolicy } from "../../../hooks/index.ts";
import type {
  AgentTool,
  ChannelDock,
  ChannelPlugin,
  GatewayRequestHandler,
  HostConfig,
  OpenClawPluginCommandDefinition,
  OpenClawPluginHttpHandler,
  OpenClawPluginHttpRoute,
  OpenClawPluginService,
  PluginLogger,
  ProviderPlugin,
  ToolFactory,
  ToolOptions,
} from "../../../protocol/index.ts";
import type { PluginRuntime } from "./runtime.ts";
import type { NextTurnInjection, SessionExtension } from "./session.ts";

export interface HookInstallSpec {
  id?: string | undefined;
  kind: "bundled" | "npm" | "git";
  label?: string | undefined;
  package?: string | undefined;
  repository?: string | undefined;
  bins?: string[] | undefined;
}

/** A hook that stands in a folder of its own. */
export interface HookEntry {
  hook: {
    name: string;
    description: string;
    source: "openclaw-bundled" | "openclaw-managed" | "openclaw-workspace" | "openclaw-plugin";
    pluginId?: string | undefined;
    filePath: string;
    baseDir: string;
    handlerPath: string;
  };
  frontmatter: Record<string, string>;
  metadata?:
    | {
        always?: boolean | undefined;
        hookKey?: string | undefined;
        emoji?: string | undefined;
        homepage?: string | undefined;
        events: string[];
        export?: string | undefined;
        os?: string[] | undefined;
        requires?: { bins?: string[] | undefined; anyBins?: string[] | undefined; env?: string[] | undefined; config?: string[] | undefined } | undefined;
        install?: HookInstallSpec[] | undefined;
      }
    | undefined;
  invocation?: { enabled: boolean } | undefined;
}

export interface OpenClawPluginHookOptions {
  entry?: HookEntry | undefined;
  name?: string | undefined;
  description?: string | undefined;
  /** `false`: known, but never called. */
  register?: boolean | undefined;
}

export interface OpenClawPluginCliContext {
  program: Command;
  config: HostConfig;
  workspaceDir?: string | undefined;
  logger: PluginLogger;
}

export type OpenClawPluginCliRegistrar = (ctx: OpenClawPluginCliContext) => void | Promise<void>;

export interface OpenClawPluginCliOptions {
  /** What the registrar adds; it is skipped when one of them is taken. */
  commands?: string[] | undefined;
  descriptors?: { name: string; description: string; hasSubcommands: boolean }[] | undefined;
  parentPath?: string[] | undefined;
}

export interface OpenClawPluginChannelRegistration {
  plugin: ChannelPlugin;
  dock?: ChannelDock | undefined;
}

export interface GatewayMethodOptions {
  /** Scope that a caller needs; `operator.admin` where nothing is said. */
  scope?: string | undefined;
  profileAccess?: string | undefined;
}

export interface MemoryCapability {
  promptBuilder?: unknown;
  flushPlanResolver?: unknown;
  runtime?: unknown;
  publicArtifacts?: unknown;
}

/** Members that only some hosts have: plugins look whether they are there. */
/** A provider of media; its other members depend on what it is for. */
export interface MediaProvider {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** A file to describe. */
export interface MediaDescriptionRequest {
  readonly buffer: Buffer;
  readonly fileName: string;
  readonly mime: string;
  readonly provider: string;
  readonly model?: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface MediaUnderstandingProvider extends MediaProvider {
  readonly capabilities?: readonly ("image" | "audio" | "video")[];
  describeImage?(request: MediaDescriptionRequest): Promise<{ text: string }>;
  describeVideo?(request: MediaDescriptionRequest): Promise<{ text: string }>;
}

export interface OptionalPluginApi {
  registerMemoryCapability?(capability: MemoryCapability): void;
  registerMemoryRuntime?(runtime: unknown): void;
  registerMemoryPromptSection?(section: unknown): void;
  registerMemoryFlushPlan?(plan: unknown): void;
  registerContextEngine?(id: string, factory: unknown): void;
  registerInteractiveHandler?(handler: unknown): void;
  registerReload?(rules: { restartPrefixes?: string[]; hotPrefixes?: string[]; noopPrefixes?: string[] }): void;
  registerAgentToolResultMiddleware?(middleware: unknown): void;
  onConversationBindingResolved?(listener: (event: unknown) => void): void;
  lifecycle?: { signal?: AbortSignal | undefined; onDispose?(fn: () => void | Promise<void>): void; registerRuntimeLifecycle?(lifecycle: unknown): void };
}

export interface OpenClawPluginApi extends OptionalPluginApi {
  readonly id: string;
  readonly name: string;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** Absolute entry file. */
  readonly source: string;
  readonly rootDir?: string | undefined;
  /** How far this run goes: a gateway registers in full. */
  readonly registrationMode: "full" | "discovery" | "tool-discovery" | "setup-only" | "setup-runtime" | "cli-metadata";
  /** As it was when the plugin was loaded. */
  readonly config: HostConfig;
  /** `plugins.entries.<id>.config` as written: no defaults filled in. */
  readonly pluginConfig?: Record<string, unknown> | undefined;
  readonly runtime: PluginRuntime;
  readonly logger: PluginLogger;
  registerTool<Params = Record<string, unknown>>(tool: AgentTool<Params> | ToolFactory, options?: ToolOptions): void;
  registerHook(events: string | string[], handler: InternalHookHandler, options?: OpenClawPluginHookOptions): void;
  registerHttpHandler(handler: OpenClawPluginHttpHandler): void;
  registerHttpRoute(route: OpenClawPluginHttpRoute): void;
  registerChannel(registration: OpenClawPluginChannelRegistration | ChannelPlugin): void;
  registerGatewayMethod(method: string, handler: GatewayRequestHandler, options?: GatewayMethodOptions): void;
  registerCli(registrar: OpenClawPluginCliRegistrar, options?: OpenClawPluginCliOptions): void;
  registerService(service: OpenClawPluginService): void;
  registerProvider(provider: ProviderPlugin): void;
  /** Describes pictures and films where `tools.media` names its id. */
  registerMediaUnderstandingProvider(provider: MediaUnderstandingProvider): void;
  /** Registered and listed; this version does not ask them. */
  registerSpeechProvider(provider: MediaProvider): void;
  registerRealtimeTranscriptionProvider(provider: MediaProvider): void;
  registerRealtimeVoiceProvider(provider: MediaProvider): void;
  registerImageGenerationProvider(provider: MediaProvider): void;
  registerVideoGenerationProvider(provider: MediaProvider): void;
  registerMusicGenerationProvider(provider: MediaProvider): void;
  registerCommand(command: OpenClawPluginCommandDefinition): void;
  registerSessionExtension(extension: SessionExtension): void;
  enqueueNextTurnInjection(injection: NextTurnInjection): Promise<{ enqueued: boolean; id?: string }>;
  registerTrustedToolPolicy(policy: ToolPolicy): void;
  readonly session: {
    readonly state: { registerSessionExtension(extension: SessionExtension): void };
    readonly workflow: { enqueueNextTurnInjection(injection: NextTurnInjection): Promise<{ enqueued: boolean; id?: string }> };
  };
  resolvePath(input: string): string;
  on<K extends HookName>(hook: K, handler: HookHandler<K>, options?: HookOptions): void;
}
