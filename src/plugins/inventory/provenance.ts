import { resolve } from "node:path";
import type { PluginEntry } from "../record.ts";
import type { Remark } from "./remark.ts";
import { isInside } from "./safety.ts";
import type { PluginSettings } from "./settings.ts";

/** Warnings about code that is loaded although nobody put it on a list or installed it. */
export function provenance(entries: readonly PluginEntry[], settings: PluginSettings): Remark[] {
  const foreign = entries.filter(({ origin, enabled, error }) => origin !== "bundled" && enabled && error === undefined);
  const found: Remark[] = [];
  const unlisted = foreign.filter(({ explicit }) => explicit !== true).map(({ id }) => id);
  if (settings.allow.length === 0 && unlisted.length > 0) {
    const names = unlisted.length > 6 ? `${unlisted.slice(0, 6).join(", ")} and ${unlisted.length - 6} more` : unlisted.join(", ");
    const message = `plugins.allow is empty, so every plugin that is found is loaded: ${names}; name the ones you trust in plugins.allow`;
    found.push({ level: "warn", code: "allow-empty", message, at: ["plugins", "allow"] });
  }
  for (const entry of foreign) {
    if (entry.origin === "config" || entry.explicit === true || isInstalled(entry, settings)) continue;
    const message = "was neither installed by this program nor named in plugins.load.paths; if you trust it, name it in plugins.allow";
    found.push({ level: "warn", code: "untracked", message, pluginId: entry.id, source: entry.source });
  }
  return found;
}

function isInstalled({ id, source }: PluginEntry, settings: PluginSettings): boolean {
  const record = settings.installs.get(id);
  return [record?.["installPath"], record?.["sourcePath"]].some((path) => typeof path === "string" && path !== "" && isInside(resolve(path), source));
}
