import type { PluginEntry } from "../record.ts";
import type { Generation } from "./generation.ts";

/** A plugin as lists show it; the documented names. */
export interface PluginStatus {
  readonly id: string;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly source: string;
  readonly origin: PluginEntry["origin"];
  readonly kind?: string | readonly string[];
  readonly enabled: boolean;
  readonly status: "loaded" | "disabled" | "error";
  /** Why it is off, or on where that is not the default. */
  readonly reason?: string;
  readonly error?: string;
  readonly toolNames: readonly string[];
  readonly hookNames: readonly string[];
  readonly channelIds: readonly string[];
  readonly providerIds: readonly string[];
  /** `imageGeneration/studio`. */
  readonly mediaProviders: readonly string[];
  readonly gatewayMethods: readonly string[];
  readonly cliCommands: readonly string[];
  readonly services: readonly string[];
  readonly commands: readonly string[];
  readonly httpHandlers: number;
  readonly hookCount: number;
  readonly configSchema: boolean;
  /** Labels and help texts for its settings, by path. */
  readonly configUiHints?: NonNullable<PluginEntry["manifest"]["uiHints"]>;
  readonly configJsonSchema: PluginEntry["manifest"]["configSchema"];
  /** 0: never loaded. */
  readonly generation: number;
  /** Calls that have not ended, timers and servers that are open. */
  readonly running: number;
  readonly timers: number;
  readonly servers: number;
  readonly loadMs?: number;
  readonly registerMs?: number;
}

function registered(
  generation: Generation | undefined,
): Pick<
  PluginStatus,
  | "toolNames"
  | "hookNames"
  | "channelIds"
  | "providerIds"
  | "mediaProviders"
  | "gatewayMethods"
  | "cliCommands"
  | "services"
  | "commands"
  | "httpHandlers"
  | "hookCount"
> {
  const names = (kind: Parameters<Generation["ledger"]["names"]>[0]): readonly string[] => generation?.ledger.names(kind) ?? [];
  return {
    toolNames: names("tool"),
    hookNames: [...new Set([...names("hook"), ...names("internal hook")])],
    channelIds: names("channel"),
    providerIds: names("provider"),
    mediaProviders: names("media provider"),
    gatewayMethods: names("gateway method"),
    cliCommands: names("cli"),
    services: names("service"),
    commands: names("command"),
    httpHandlers: names("http route").length + names("http handler").length,
    hookCount: names("hook").length + names("internal hook").length,
  };
}

export function statusOf(entry: PluginEntry, generation: Generation | undefined, error: string | undefined): PluginStatus {
  const failed = error ?? entry.error;
  const version = generation?.definition.version ?? entry.version;
  const description = generation?.definition.description ?? entry.description;
  const kind = generation?.definition.kind ?? entry.manifest.kind;
  const started = generation?.scope.started ?? { timers: 0, servers: 0 };
  return {
    id: entry.id,
    name: generation?.definition.name ?? entry.name,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    source: entry.source,
    origin: entry.origin,
    ...(kind === undefined ? {} : { kind }),
    enabled: entry.enabled,
    status: failed !== undefined && generation === undefined ? "error" : generation ? "loaded" : "disabled",
    ...(entry.reason === undefined ? {} : { reason: entry.reason }),
    ...(failed === undefined ? {} : { error: failed }),
    ...registered(generation),
    configSchema: Object.keys(entry.manifest.configSchema).length > 0,
    ...(entry.manifest.uiHints === undefined ? {} : { configUiHints: entry.manifest.uiHints }),
    configJsonSchema: entry.manifest.configSchema,
    generation: generation?.owner.generation ?? 0,
    running: generation?.scope.running ?? 0,
    ...started,
    ...(generation ? { loadMs: rounded(generation.took.load), registerMs: rounded(generation.took.register) } : {}),
  };
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
