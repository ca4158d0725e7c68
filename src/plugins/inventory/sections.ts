import { isObject, type ConfigSections, type JsonSchema } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";
import { configSchemaOf } from "./plugin-config.ts";
import { child, DEFAULT_MEMORY } from "./settings.ts";

/** What the plugins that are on bring to the check of the configuration: schemas of their settings and of their channels, and all names. */
export function configSections(entries: readonly PluginEntry[]): ConfigSections {
  const active = entries.filter(({ enabled }) => enabled);
  const channels: [string, JsonSchema][] = active.flatMap(({ manifest }) =>
    Object.keys(child(manifest.rest, "channelConfigs")).flatMap((id) => {
      const { schema } = child(child(manifest.rest, "channelConfigs"), id);
      return isObject(schema) ? [[id, schema] as [string, JsonSchema]] : [];
    }),
  );
  return {
    channels: Object.fromEntries(channels),
    plugins: Object.fromEntries(active.map(({ id, manifest }) => [id, configSchemaOf(manifest)])),
    knownPlugins: knownIds(entries),
  };
}

/** Every id that a configuration may name: what was found, also by its former names, and the host's own memory. */
export function knownIds(entries: readonly PluginEntry[]): string[] {
  const former = entries.flatMap(({ manifest }) => {
    const ids = manifest.rest["legacyPluginIds"];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  });
  return [...new Set([...entries.map(({ id }) => id), ...former, DEFAULT_MEMORY])];
}
