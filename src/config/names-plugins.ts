import { hasPath, isObject, valueAt } from "./value.ts";

/** Whether a configuration says anything that the manifests of plugins could know more about. */
export function namesPlugins(config: unknown): boolean {
  const channels = valueAt(config, ["channels"]);
  return hasPath(config, ["plugins"]) || (isObject(channels) && Object.keys(channels).length > 0);
}
