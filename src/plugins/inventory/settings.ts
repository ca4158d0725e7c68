import { isObject } from "../../config/index.ts";

/** `plugins` of the configuration, with whatever has the wrong form left out: the check of the configuration reports that. */
export interface PluginSettings {
  readonly enabled: boolean;
  readonly allow: readonly string[];
  /** `plugins.deny` and its other name, `plugins.disabled`. */
  readonly deny: ReadonlySet<string>;
  readonly paths: readonly string[];
  /** Who keeps memory; null when nobody does. */
  readonly memorySlot: string | null;
  /** `slots.memory` as it was written. */
  readonly namedMemorySlot?: string;
  readonly entries: ReadonlyMap<string, EntrySettings>;
  readonly installs: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export interface EntrySettings {
  readonly enabled?: boolean;
  readonly hasConfig: boolean;
  readonly config: unknown;
}

/** Who keeps memory when nothing is said. */
export const DEFAULT_MEMORY = "memory-core";

export function pluginSettings(config: unknown): PluginSettings {
  const plugins = child(config, "plugins");
  const slot = child(plugins, "slots")["memory"];
  const named = typeof slot === "string" && slot.trim() !== "" ? slot.trim() : undefined;
  return {
    enabled: plugins["enabled"] !== false,
    allow: texts(plugins["allow"]),
    deny: new Set([...texts(plugins["deny"]), ...texts(plugins["disabled"])]),
    paths: texts(child(plugins, "load")["paths"]),
    memorySlot: named?.toLowerCase() === "none" ? null : (named ?? DEFAULT_MEMORY),
    ...(named === undefined ? {} : { namedMemorySlot: named }),
    entries: new Map(Object.entries(child(plugins, "entries")).map(([id, entry]) => [id, entrySettings(entry)])),
    installs: new Map(Object.entries(child(plugins, "installs")).filter((pair): pair is [string, Record<string, unknown>] => isObject(pair[1]))),
  };
}

/** True when the operator named the plugin: the only thing that lets code from a workspace in. */
export function isNamed(settings: PluginSettings, id: string): boolean {
  return settings.allow.includes(id) || settings.entries.get(id)?.enabled === true;
}

function entrySettings(entry: unknown): EntrySettings {
  if (!isObject(entry)) return { hasConfig: false, config: undefined };
  const { enabled, config } = entry;
  return { ...(typeof enabled === "boolean" ? { enabled } : {}), hasConfig: config !== undefined, config };
}

/** The object below `key`; an empty one when there is none. */
export function child(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(found) ? found : {};
}

/** Texts of a list, without blanks around them and without empty ones. */
export function texts(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item) => typeof item === "string")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
