import type { Logger } from "../../base/log/logger.ts";
import type { PluginDiagnostic } from "../record.ts";

/** What went wrong with plugins since the start, bounded. */
export interface Diagnostics {
  /** Keeps and logs it. A repeated one is counted, not kept again. */
  add(found: PluginDiagnostic): void;
  /** Keeps what was logged already. */
  keep(found: PluginDiagnostic): void;
  /** Oldest first. */
  list(): readonly PluginDiagnostic[];
  /** Removes those of a plugin that is reloaded. */
  clear(pluginId: string): void;
}

/** More of one plugin are counted and not kept. */
const PER_PLUGIN = 100;

export function createDiagnostics(log: Logger): Diagnostics {
  const kept = new Map<string, PluginDiagnostic>();
  const counts = new Map<string, number>();

  /** What was kept: nothing where it was there already, or where there are too many. */
  function keep(found: PluginDiagnostic): PluginDiagnostic | undefined {
    const key = JSON.stringify([found.pluginId, found.code, found.message, found.source, found.line]);
    if (kept.has(key)) return undefined;
    const owner = found.pluginId ?? "";
    const count = (counts.get(owner) ?? 0) + 1;
    counts.set(owner, count);
    if (count > PER_PLUGIN + 1) return undefined;
    const entry: PluginDiagnostic =
      count <= PER_PLUGIN ? found : { ...found, level: "warn", message: `more than ${PER_PLUGIN} diagnostics: the rest is omitted`, code: "diagnostics-limit" };
    kept.set(key, entry);
    return entry;
  }

  return {
    keep: (found) => void keep(found),
    add(found) {
      const entry = keep(found);
      if (!entry) return;
      const at = entry.source === undefined ? "" : ` (${entry.source}${entry.line === undefined ? "" : `:${entry.line}`})`;
      log[entry.level](`${entry.pluginId === undefined ? "" : `${entry.pluginId}: `}${entry.message}${at}`);
    },
    list: () => [...kept.values()],
    clear(pluginId) {
      counts.delete(pluginId);
      for (const [key, found] of kept) if (found.pluginId === pluginId) kept.delete(key);
    },
  };
}
