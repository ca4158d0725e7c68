import { isObject, pluginsExist, type Env } from "../../config/index.ts";
import type { PluginDiagnostic, PluginEntry } from "../record.ts";
import { discover } from "./discovery.ts";
import { entryOf } from "./entry.ts";
import { choose, duplicates, readCandidate } from "./found.ts";
import { bundledNeeds } from "./needs.ts";
import { placed, type Locate, type Remark } from "./remark.ts";
import { knownIds } from "./sections.ts";
import { pluginSettings, type PluginSettings } from "./settings.ts";
import { resolve } from "node:path";
import { isInside } from "./safety.ts";

/** Warnings about code that is loaded although nobody put it on a list or installed it. */
function provenance(entries: readonly PluginEntry[], settings: PluginSettings): Remark[] {
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

export interface InventoryOptions {
  /** The configuration. One with errors will do: what has the wrong form is passed over. */
  readonly config: unknown;
  readonly stateDir: string;
  /** The default agent's workspace. */
  readonly workspaceDir?: string | undefined;
  /** Where the plugins that come with the program are. */
  readonly bundledDir?: string | undefined;
  readonly env: Env;
  /** What `~` in `plugins.load.paths` stands for. */
  readonly home: string;
  readonly cwd: string;
  /** Who runs the program; undefined where the system has no such number: then nobody's ownership is checked. */
  readonly uid: number | undefined;
  /** Where a path of the configuration stands, to name the line of what is wrong there. */
  readonly locate?: Locate | undefined;
}

export interface Inventory {
  /** Every plugin in the order of loading: also what is off, overridden or broken. */
  readonly entries: readonly PluginEntry[];
  readonly diagnostics: readonly PluginDiagnostic[];
  readonly workspaceDir?: string;
}

/** Looks at everything there is. No code of any plugin is read or run. */
export async function readInventory(options: InventoryOptions): Promise<Inventory> {
  const settings = pluginSettings(options.config);
  const discovered = discover({ ...options, paths: settings.paths });
  const remarks: Remark[] = [...discovered.remarks];
  const tell = (remark: Remark): void => void remarks.push(remark);
  const found = discovered.candidates.map((candidate) => readCandidate(candidate, settings, tell));
  const winners = choose(found, settings);
  remarks.push(...duplicates(found, winners));
  const offers = found.filter(({ origin, issue }) => origin === "bundled" && !issue);
  const needs = bundledNeeds({ ...options, settings, offers });
  const entries = found.map((plugin) => entryOf(plugin, { settings, needs, winner: winners.get(plugin.id), tell }));
  remarks.push(...nameProblems(options.config, entries, settings), ...provenance(entries, settings));
  const { workspaceDir } = options;
  return { entries, diagnostics: remarks.map((remark) => placed(remark, options.locate)), ...(workspaceDir === undefined ? {} : { workspaceDir }) };
}

/** Names in the configuration that fit no plugin, and a memory slot that its plugin cannot fill. */
function* nameProblems(config: unknown, entries: readonly PluginEntry[], settings: PluginSettings): Generator<Remark> {
  if (!isObject(config)) return;
  for (const { path, message, severity } of pluginsExist(config, { knownPlugins: knownIds(entries) })) {
    yield { level: severity === "error" ? "error" : "warn", code: "unknown-plugin", message, at: path };
  }
  const holder = entries.find(({ id, enabled }) => enabled && id === settings.namedMemorySlot);
  if (holder && ![holder.manifest.kind ?? []].flat().includes("memory")) {
    const message = `memory slot plugin is not marked as memory: ${holder.id}; its manifest has no "kind": "memory"`;
    yield { level: "warn", code: "slot-kind", message, pluginId: holder.id, at: ["plugins", "slots", "memory"] };
  }
}
