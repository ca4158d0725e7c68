/** A model provider that a plugin brings, and how a user signs in to it. */
import type { RuntimeEnv, WizardPrompter, WizardProgress } from "./environment.ts";
import type { HostConfig } from "./host-config.ts";

export interface ApiKeyCredential {
  type: "api_key";
  provider: string;
  key?: string | undefined;
  email?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

export interface TokenCredential {
  type: "token";
  provider: string;
  token: string;
  /** Milliseconds since the epoch. */
  expires?: number | undefined;
  email?: string | undefined;
}

export interface OAuthCredential {
  type: "oauth";
  provider: string;
  access: string;
  refresh: string;
  /** Milliseconds since the epoch. */
  expires: number;
  email?: string | undefined;
  [key: string]: unknown;
}

export type AuthProfileCredential = ApiKeyCredential | TokenCredential | OAuthCredential;
export type ProviderAuthKind = "oauth" | "api_key" | "token" | "device_code" | "custom";

export interface ModelDefinition {
  id: string;
  name: string;
  api?: string | undefined;
  reasoning: boolean;
  input: ("text" | "image")[];
  /** US dollars per million tokens. */
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number };
  contextWindow: number;
  maxTokens: number;
  headers?: Record<string, string> | undefined;
  compat?: Record<string, unknown> | undefined;
}

export interface ModelProviderConfig {
  baseUrl: string;
  apiKey?: string | undefined;
  auth?: string | undefined;
  api?: string | undefined;
  headers?: Record<string, string> | undefined;
  authHeader?: boolean | undefined;
  models: ModelDefinition[];
}

export interface VpsAwareOAuthHandlers {
  onAuth(event: { url: string }): Promise<void>;
  onPrompt(prompt: { message: string; placeholder?: string | undefined }): Promise<string>;
}

export interface ProviderAuthContext {
  config: HostConfig;
  agentDir?: string | undefined;
  workspaceDir?: string | undefined;
  prompter: WizardPrompter;
  runtime: RuntimeEnv;
  /** Nobody can open a browser here. */
  isRemote: boolean;
  openUrl(url: string): Promise<void>;
  oauth: {
    createVpsAwareHandlers(params: {
      isRemote: boolean;
      prompter: WizardPrompter;
      runtime: RuntimeEnv;
      spin: WizardProgress;
      openUrl: (url: string) => Promise<unknown>;
      localBrowserMessage: string;
      manualPromptMessage?: string | undefined;
    }): VpsAwareOAuthHandlers;
  };
}

export interface ProviderAuthResult {
  profiles: { profileId: string; credential: AuthProfileCredential }[];
  /** Merged into the configuration: objects key by key, everything else replaced. */
  configPatch?: Partial<HostConfig> | undefined;
  defaultModel?: string | undefined;
  notes?: string[] | undefined;
}

export interface ProviderAuthMethod {
  id: string;
  label: string;
  hint?: string | undefined;
  kind: ProviderAuthKind;
  run(ctx: ProviderAuthContext): Promise<ProviderAuthResult>;
}

export interface ProviderPlugin {
  id: string;
  label: string;
  docsPath?: string | undefined;
  aliases?: string[] | undefined;
  envVars?: string[] | undefined;
  models?: ModelProviderConfig | undefined;
  /** Newer name of `models`: a function that may look first. */
  catalog?: unknown;
  auth: ProviderAuthMethod[];
  formatApiKey?(credential: AuthProfileCredential): string;
  refreshOAuth?(credential: OAuthCredential): Promise<OAuthCredential>;
}
