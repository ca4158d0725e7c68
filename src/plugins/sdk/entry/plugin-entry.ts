/** How a plugin says what it is. Light: nearly every plugin loads this and nothing else. */
import { emptyPluginConfigSchema } from "./plugin-config.ts";
import type { OpenClawPluginApi } from "../types/api.ts";
import type { OpenClawPluginConfigSchema, OpenClawPluginDefinition, PluginKind } from "../types/definition.ts";

export interface PluginEntryOptions {
  id: string;
  name: string;
  description?: string | undefined;
  version?: string | undefined;
  kind?: PluginKind | PluginKind[] | undefined;
  /** A plugin without settings needs none. */
  configSchema?: OpenClawPluginConfigSchema | (() => OpenClawPluginConfigSchema) | undefined;
  register(api: OpenClawPluginApi): void | Promise<void>;
}

export interface PluginEntryDefinition extends OpenClawPluginDefinition {
  id: string;
  name: string;
  configSchema: OpenClawPluginConfigSchema;
  register(api: OpenClawPluginApi): void | Promise<void>;
}

/** A plugin's default export. */
export function definePluginEntry(options: PluginEntryOptions): PluginEntryDefinition {
  const { configSchema } = options;
  return { ...options, configSchema: typeof configSchema === "function" ? configSchema() : (configSchema ?? emptyPluginConfigSchema()) };
}

/** A settings schema from a JSON Schema. What a value has to look like is checked by the host before the plugin sees it. */
export function buildJsonPluginConfigSchema(
  jsonSchema: Record<string, unknown>,
  options: Pick<OpenClawPluginConfigSchema, "uiHints"> = {},
): OpenClawPluginConfigSchema {
  return { jsonSchema, ...options, safeParse: (value) => ({ success: true, data: value }) };
}

interface ZodLike {
  safeParse(value: unknown): { success: boolean; data?: unknown; error?: { issues?: { path: PropertyKey[]; message: string }[] } };
  toJSONSchema?(options: Record<string, unknown>): Record<string, unknown>;
}

/** A settings schema from a zod schema of whichever version the plugin brings. */
export function buildPluginConfigSchema(schema: ZodLike, options: Pick<OpenClawPluginConfigSchema, "uiHints"> = {}): OpenClawPluginConfigSchema {
  const jsonSchema = schema.toJSONSchema?.({ target: "draft-07", unrepresentable: "any" });
  return { ...(jsonSchema ? { jsonSchema } : {}), ...options, safeParse: (value) => schema.safeParse(value ?? {}) };
}
