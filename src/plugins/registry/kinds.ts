import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Scope as AccessScope } from "../../protocol/index.ts";

/** What stands in the registries: checked, bound to its plugin, the rest as the plugin gave it. */

/** A tool as the agent runs it; more members pass through untouched. */
export interface RegisteredTool {
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly parameters?: unknown;
  readonly ownerOnly?: boolean;
  /** `parallel`: may run beside other calls of the same answer. Everything else is in order. */
  readonly executionMode?: unknown;
  readonly prepareArguments?: unknown;
  readonly execute: (toolCallId: string, params: unknown, signal?: AbortSignal, onUpdate?: (partial: unknown) => void) => unknown;
}

/** What a tool factory gets to know about the run it makes tools for. */
export type ToolContext = Readonly<Record<string, unknown>>;

export interface ToolRegistration {
  /** Declared ahead; a factory may make others. */
  readonly names: readonly string[];
  /** Offered only where an allow list names it. */
  readonly optional: boolean;
  /** False once the plugin was taken down or reloaded: what was created before must not be called any more. */
  readonly isLive: () => boolean;
  /** Throws what the plugin's factory throws. What is no tool is left out with a diagnostic. */
  create(context: ToolContext): readonly RegisteredTool[];
}

export interface CommandRegistration {
  /** Lower case, without the slash. */
  readonly name: string;
  readonly description: string;
  readonly acceptsArgs: boolean;
  readonly requireAuth: boolean;
  readonly handler: (context: Readonly<Record<string, unknown>>) => unknown;
  /** The definition as it came. */
  readonly definition: Readonly<Record<string, unknown>>;
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface RouteRegistration {
  /** Absolute, decoded, without a trailing slash. */
  readonly path: string;
  readonly match: "exact" | "prefix";
  /** `gateway`: the gateway's token is needed. `plugin`: the plugin checks its caller itself. */
  readonly auth: "gateway" | "plugin";
  readonly handler: HttpHandler;
  readonly handleUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;
}

export interface MethodRegistration {
  readonly method: string;
  readonly access: AccessScope;
  readonly handler: (call: Readonly<Record<string, unknown>>) => unknown;
}

export interface ChannelRegistration {
  readonly id: string;
  readonly plugin: Readonly<Record<string, unknown>>;
  readonly dock?: Readonly<Record<string, unknown>>;
}

export interface ProviderRegistration {
  readonly id: string;
  readonly provider: Readonly<Record<string, unknown>>;
}

/** What a provider of media is for. */
export type MediaSlot = "speech" | "realtimeTranscription" | "realtimeVoice" | "mediaUnderstanding" | "imageGeneration" | "videoGeneration" | "musicGeneration";

export interface MediaProviderRegistration extends ProviderRegistration {
  readonly slot: MediaSlot;
}

export interface CliRegistration {
  readonly commands: readonly string[];
  readonly descriptors: readonly Readonly<Record<string, unknown>>[];
  readonly parentPath?: readonly string[];
  readonly register: (context: Readonly<Record<string, unknown>>) => unknown;
}

export interface ServiceRegistration {
  readonly id: string;
  readonly start: (context: Readonly<Record<string, unknown>>) => unknown;
  readonly stop?: (context: Readonly<Record<string, unknown>>) => unknown;
}

/** Why state of a plugin in a session is cleaned up. `restart` keeps it. */
export type CleanupReason = "reset" | "delete" | "disable" | "restart";

export interface SessionExtensionRegistration {
  readonly namespace: string;
  readonly description: string;
  readonly project?: (context: { readonly sessionKey: string; readonly sessionId?: string; readonly state: unknown }) => unknown;
  readonly cleanup?: (context: { readonly reason: CleanupReason; readonly sessionKey?: string }) => unknown;
}
