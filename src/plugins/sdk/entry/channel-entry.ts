/** Entries of channels whose parts stand in files of their own, which are loaded when they are needed. */
import { createRequire } from "node:module";
import { AppError } from "../../../base/errors.ts";
import type { ChannelPlugin } from "../../../protocol/index.ts";
import { emptyPluginConfigSchema } from "./plugin-config.ts";
import type { OpenClawPluginApi, OpenClawPluginConfigSchema, PluginRuntime } from "../types/index.ts";

/** One export of a file beside the entry. */
export interface ExportPlace {
  readonly specifier: string;
  /** Without it the whole module is meant. */
  readonly exportName?: string | undefined;
}

/** A member of a module, which may be a function. */
const memberOf = (value: unknown, name: string): unknown =>
  (typeof value === "object" && value !== null) || typeof value === "function" ? Reflect.get(value, name) : undefined;

/** Loads a file beside the module `from`, at once. It is an instance of its own per generation of the plugin, as everything a plugin imports. */
export function loadBundledEntryExportSync(from: string, { specifier, exportName }: ExportPlace): unknown {
  const load = createRequire(from.replace(/\?.*$/s, ""));
  const module: unknown = load(specifier);
  if (exportName === undefined) return module;
  const found = memberOf(module, exportName) ?? memberOf(memberOf(module, "default"), exportName);
  if (found === undefined) throw new AppError("NOT_FOUND", `${specifier} has no export "${exportName}"; the plugin's entry and its files do not match`);
  return found;
}

export interface BundledChannelEntryOptions {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly importMetaUrl: string;
  readonly plugin: ExportPlace;
  readonly secrets?: ExportPlace | undefined;
  /** A setter for `api.runtime`. */
  readonly runtime?: ExportPlace | undefined;
  readonly accountInspect?: ExportPlace | undefined;
  readonly configSchema?: OpenClawPluginConfigSchema | (() => OpenClawPluginConfigSchema) | undefined;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  registerCliMetadata?(api: OpenClawPluginApi): void;
  registerFull?(api: OpenClawPluginApi): void;
}

export interface BundledChannelEntry {
  readonly kind: "bundled-channel-entry";
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly configSchema: OpenClawPluginConfigSchema;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  loadChannelPlugin(): ChannelPlugin;
  loadChannelSecrets?: (() => unknown) | undefined;
  setChannelRuntime?: ((runtime: PluginRuntime) => void) | undefined;
  register(api: OpenClawPluginApi): void;
}

/** A plugin that is one channel: registering it loads the channel and hands it the runtime. */
export function defineBundledChannelEntry(options: BundledChannelEntryOptions): BundledChannelEntry {
  const { importMetaUrl, plugin, secrets, runtime, configSchema } = options;
  const load = (place: ExportPlace): unknown => loadBundledEntryExportSync(importMetaUrl, place);
  const setChannelRuntime = runtime && ((value: PluginRuntime) => (load(runtime) as (given: PluginRuntime) => void)(value));
  return {
    kind: "bundled-channel-entry",
    id: options.id,
    name: options.name,
    description: options.description,
    configSchema: typeof configSchema === "function" ? configSchema() : (configSchema ?? emptyPluginConfigSchema()),
    ...(options.features ? { features: options.features } : {}),
    loadChannelPlugin: () => load(plugin) as ChannelPlugin,
    ...(secrets ? { loadChannelSecrets: () => load(secrets) } : {}),
    ...(setChannelRuntime ? { setChannelRuntime } : {}),
    register(api) {
      if (api.registrationMode === "cli-metadata") return options.registerCliMetadata?.(api);
      setChannelRuntime?.(api.runtime);
      api.registerChannel({ plugin: load(plugin) as ChannelPlugin });
      options.registerCliMetadata?.(api);
      if (api.registrationMode === "full") options.registerFull?.(api);
    },
  };
}

/** The light entry that onboarding and status load instead. */
export function defineBundledChannelSetupEntry(options: {
  readonly importMetaUrl: string;
  readonly plugin: ExportPlace;
  readonly secrets?: ExportPlace | undefined;
  readonly runtime?: ExportPlace | undefined;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
}): {
  readonly kind: "bundled-channel-setup-entry";
  loadSetupPlugin(): ChannelPlugin;
  loadSetupSecrets?: () => unknown;
  readonly features?: Readonly<Record<string, boolean>>;
} {
  const { importMetaUrl, plugin, secrets, features } = options;
  return {
    kind: "bundled-channel-setup-entry",
    loadSetupPlugin: () => loadBundledEntryExportSync(importMetaUrl, plugin) as ChannelPlugin,
    ...(secrets ? { loadSetupSecrets: () => loadBundledEntryExportSync(importMetaUrl, secrets) } : {}),
    ...(features ? { features } : {}),
  };
}
