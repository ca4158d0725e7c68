/** What a plugin's module exports. */
import type { OpenClawPluginApi } from "./api.ts";

export type PluginKind = "memory" | "context-engine";

export interface PluginConfigUiHint {
  label?: string | undefined;
  help?: string | undefined;
  tags?: string[] | undefined;
  advanced?: boolean | undefined;
  sensitive?: boolean | undefined;
  placeholder?: string | undefined;
}

export type PluginConfigValidation = { ok: true; value?: unknown } | { ok: false; errors: string[] };

export interface PluginConfigIssue {
  path: (string | number)[];
  message: string;
}

/** The manifest's JSON Schema decides; this one is for the plugin's own use. */
export interface OpenClawPluginConfigSchema {
  safeParse?(value: unknown): { success: boolean; data?: unknown; error?: { issues?: { path: PropertyKey[]; message: string }[] | undefined } | undefined };
  parse?(value: unknown): unknown;
  validate?(value: unknown): PluginConfigValidation;
  uiHints?: Record<string, PluginConfigUiHint> | undefined;
  jsonSchema?: Record<string, unknown> | undefined;
}

export interface OpenClawPluginDefinition {
  id?: string | undefined;
  name?: string | undefined;
  description?: string | undefined;
  version?: string | undefined;
  kind?: PluginKind | PluginKind[] | undefined;
  configSchema?: OpenClawPluginConfigSchema | undefined;
  register?(api: OpenClawPluginApi): void | Promise<void>;
  /** As `register`, where that is missing; after it otherwise. */
  activate?(api: OpenClawPluginApi): void | Promise<void>;
}

export type OpenClawPluginModule = OpenClawPluginDefinition | ((api: OpenClawPluginApi) => void | Promise<void>);
