/** `api.runtime`: what a plugin may do with the host. A part that is not built throws `UNAVAILABLE` when it is called. */
import type { AnyAgentTool, HostConfig, RuntimeLogger } from "../../../protocol/index.ts";
import type { RuntimeMedia } from "./runtime-media.ts";
import type { RuntimeChannel } from "./runtime-channel.ts";
import type { RuntimeNewer, RuntimeStateStores } from "./runtime-newer.ts";

export interface CommandOptions {
  timeoutMs: number;
  cwd?: string | undefined;
  input?: string | undefined;
  env?: Record<string, string | undefined> | undefined;
  noOutputTimeoutMs?: number | undefined;
}

export interface CommandResult {
  pid?: number | undefined;
  stdout: string;
  stderr: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  killed: boolean;
  termination: "exit" | "timeout" | "no-output-timeout" | "signal";
}

export interface RuntimeConfig {
  loadConfig(): HostConfig;
  writeConfigFile(cfg: HostConfig, options?: Record<string, unknown>): Promise<void>;
  current?(): HostConfig;
  mutateConfigFile?(params: { mutate(draft: HostConfig): HostConfig | void | Promise<HostConfig | void>; afterWrite?: unknown }): Promise<unknown>;
  replaceConfigFile?(params: { nextConfig: HostConfig; afterWrite?: unknown }): Promise<unknown>;
}

export interface RuntimeSystem {
  /** For the next prompt of the session; at most 20 wait, repeats are dropped. */
  enqueueSystemEvent(text: string, options: { sessionKey: string; contextKey?: string | null | undefined }): void;
  runCommandWithTimeout(argv: string[], options: number | CommandOptions): Promise<CommandResult>;
  formatNativeDependencyHint(params: {
    packageName: string;
    manager?: "pnpm" | "npm" | "yarn" | undefined;
    rebuildCommand?: string | undefined;
    approveBuildsCommand?: string | undefined;
    downloadCommand?: string | undefined;
  }): string;
  requestHeartbeat?(params?: Record<string, unknown>): void;
}

export interface TelephonySpeech {
  success: boolean;
  /** PCM. */
  audioBuffer?: Buffer | undefined;
  sampleRate?: number | undefined;
  outputFormat?: string | undefined;
  provider?: string | undefined;
  error?: string | undefined;
  latencyMs?: number | undefined;
}

export interface RuntimeTts {
  textToSpeechTelephony(params: { text: string; cfg: HostConfig; prefsPath?: string | undefined }): Promise<TelephonySpeech>;
  textToSpeech?(params: Record<string, unknown>): Promise<unknown>;
  textToSpeechStream?(params: Record<string, unknown>): Promise<unknown>;
  prepareTtsRequest?(params: Record<string, unknown>): Promise<unknown>;
}

export interface RuntimeTools {
  createMemoryGetTool(options: { config?: HostConfig | undefined; agentSessionKey?: string | undefined }): AnyAgentTool | null;
  createMemorySearchTool(options: { config?: HostConfig | undefined; agentSessionKey?: string | undefined }): AnyAgentTool | null;
  registerMemoryCli(program: unknown): void;
}

export interface RuntimeLogging {
  shouldLogVerbose(): boolean;
  getChildLogger(bindings?: Record<string, unknown>, options?: { level?: string | undefined }): RuntimeLogger;
}

export interface RuntimeState extends RuntimeStateStores {
  resolveStateDir(env?: Record<string, string | undefined>, homedir?: () => string): string;
}

export interface PluginRuntime extends RuntimeNewer {
  version: string;
  config: RuntimeConfig;
  system: RuntimeSystem;
  media: RuntimeMedia;
  tts: RuntimeTts;
  tools: RuntimeTools;
  channel: RuntimeChannel;
  logging: RuntimeLogging;
  state: RuntimeState;
}
