import type { Loaded } from "./load.ts";
import type { ReviewWrite } from "./write/index.ts";
import { hasUnexplainedNames, OWN_PLUGINS } from "./validate/index.ts";
import { hasPath, isObject, sameValue, valueAt } from "./value.ts";

/** Whether a configuration says anything that the manifests of plugins could know more about: sections of theirs, or names that nothing else explains. */
export function namesPlugins(config: unknown): boolean {
  const channels = valueAt(config, ["channels"]);
  return hasPath(config, ["plugins"]) || (isObject(channels) && Object.keys(channels).length > 0) || hasUnexplainedNames(config);
}

/** Whether a write changes settings that are explained by the schemas of channels and plugins. */
export function touchesPluginSettings({ before, after }: Parameters<ReviewWrite>[0]): boolean {
  return !sameValue(explainedSettings(before), explainedSettings(after));
}

function explainedSettings({ snapshot: { resolved } }: Loaded): unknown {
  const entries = Object.entries(valueAt(resolved, ["plugins", "entries"]) ?? {});
  return { channels: valueAt(resolved, ["channels"]), plugins: Object.fromEntries(entries.map(([id, entry]) => [id, valueAt(entry, ["config"])])) };
}

const isFilled = (value: unknown): boolean => typeof value === "object" && value !== null && Object.keys(value).length > 0;

/**
 * Whether plugins that did not come with the program may run: something is installed, or the configuration names one. `isInstalled` says whether the folder of
 * installed plugins holds anything.
 */
export function mayHaveForeignPlugins(config: unknown, isInstalled: () => boolean): boolean {
  const at = (key: string): unknown => valueAt(config, ["plugins", key]);
  if (at("enabled") === false) return false;
  const allow = at("allow");
  const named: readonly unknown[] = [...Object.keys(at("entries") ?? {}), ...(Array.isArray(allow) ? allow : [])];
  return (
    named.some((id) => !OWN_PLUGINS.has(String(id))) || isFilled(valueAt(config, ["plugins", "load", "paths"])) || isFilled(at("installs")) || isInstalled()
  );
}
