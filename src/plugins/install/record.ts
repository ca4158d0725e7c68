import { isObject, valueAt, type ConfigEdit } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";

/** `plugins.installs.<id>`. */
export interface InstallRecord {
  readonly source: "npm" | "archive" | "path";
  readonly spec?: string;
  readonly sourcePath?: string;
  readonly installPath?: string;
  readonly version?: string;
  readonly resolvedName?: string;
  readonly resolvedVersion?: string;
  readonly resolvedSpec?: string;
  readonly integrity?: string;
  readonly shasum?: string;
  readonly resolvedAt?: string;
  readonly installedAt?: string;
}

const FIELDS = [
  "spec",
  "sourcePath",
  "installPath",
  "version",
  "resolvedName",
  "resolvedVersion",
  "resolvedSpec",
  "integrity",
  "shasum",
  "resolvedAt",
  "installedAt",
] as const;

/** Records are written by this program; the configuration's schema checks their fields. */
const isInstallRecord = (found: unknown): found is InstallRecord => isObject(found) && typeof found["source"] === "string";

/** What was kept of a plugin when it was installed. */
export function installRecord(config: unknown, id: string): InstallRecord | undefined {
  const found = valueAt(config, ["plugins", "installs", id]);
  return isInstallRecord(found) ? found : undefined;
}

export const installedIds = (config: unknown): string[] => {
  const found = valueAt(config, ["plugins", "installs"]);
  return isObject(found) ? Object.keys(found) : [];
};

export const texts = (config: unknown, ...path: string[]): readonly string[] => {
  const found = valueAt(config, path);
  return Array.isArray(found) ? found.filter((item) => typeof item === "string") : [];
};

const isMemory = ({ manifest }: PluginEntry): boolean => [manifest.kind ?? []].flat().includes("memory");

/** What an install changes in the configuration, and what a user should know of it. */
export function installEdit(
  config: unknown,
  entries: readonly PluginEntry[],
  record: InstallRecord,
  { loadPath, isUpdate, enable = true }: { readonly loadPath?: string | undefined; readonly isUpdate: boolean; readonly enable?: boolean | undefined },
): { readonly edit: ConfigEdit; readonly notes: readonly string[] } {
  // An old field that the new record lacks must not stay.
  const whole = { source: record.source, ...Object.fromEntries(FIELDS.map((field) => [field, record[field] ?? null])) };
  const installs = Object.fromEntries(entries.map(({ id }) => [id, whole]));
  if (isUpdate) return { edit: { kind: "patch", value: { plugins: { installs } } }, notes: [] };
  const ids = entries.map(({ id }) => id);
  const memory = entries.find(isMemory)?.id;
  const change = (written: unknown) => {
    const allow = texts(written, "plugins", "allow");
    const missing = enable && allow.length > 0 ? ids.filter((id) => !allow.includes(id)) : [];
    const takesSlot = enable && memory !== undefined && valueAt(written, ["plugins", "slots", "memory"]) !== memory;
    const paths = texts(written, "plugins", "load", "paths");
    const addsPath = loadPath !== undefined && !paths.includes(loadPath);
    const plugins = {
      entries: Object.fromEntries(ids.map((id) => [id, { enabled: enable }])),
      installs,
      ...(missing.length > 0 ? { allow: [...allow, ...missing] } : {}),
      ...(takesSlot ? { slots: { memory } } : {}),
      ...(addsPath ? { load: { paths: [...paths, loadPath] } } : {}),
    };
    const notes = [
      ...(missing.length > 0 ? [`added to plugins.allow: ${missing.join(", ")}`] : []),
      ...(takesSlot ? [`it now provides memory: plugins.slots.memory is "${memory}"`] : []),
      ...(addsPath ? [`added to plugins.load.paths: ${loadPath}`] : []),
    ];
    return { plugins, notes };
  };
  return {
    edit: { kind: "from", edit: ({ resolved }) => ({ kind: "patch", value: { plugins: change(resolved).plugins } }) },
    notes: change(config).notes,
  };
}

/** What an uninstall takes out of the configuration; undefined when there is nothing of the plugin in it. */
export function uninstallEdit(
  config: unknown,
  ids: readonly string[],
  linkedPath: string | undefined,
  before?: unknown,
): { readonly edit: ConfigEdit | undefined; readonly what: readonly string[] } {
  const { what } = removal(config, { ids, linkedPath, before });
  const edit: ConfigEdit = {
    kind: "from",
    edit: ({ resolved }) => ({ kind: "patch", value: { plugins: removal(resolved, { ids, linkedPath, before }).plugins } }),
  };
  return { edit: what.length === 0 ? undefined : edit, what };
}

interface Removal {
  readonly ids: readonly string[];
  readonly linkedPath: string | undefined;
  /** The configuration to go back to, as far as the plugins are concerned; without it nothing of them stays. */
  readonly before: unknown;
}

function removal(config: unknown, { ids, linkedPath, before }: Removal): { readonly plugins: unknown; readonly what: readonly string[] } {
  const what: string[] = [];
  const plugins: Record<string, unknown> = {};
  const gone = (key: "entries" | "installs"): void => {
    const there = ids.filter((id) => valueAt(config, ["plugins", key, id]) !== undefined);
    if (there.length === 0) return;
    plugins[key] = Object.fromEntries(there.map((id) => [id, key === "entries" ? formerEntry(before, id) : null]));
    what.push(...there.map((id) => `plugins.${key}.${id}`));
  };
  gone("entries");
  gone("installs");
  const allow = texts(config, "plugins", "allow");
  const added = ids.filter((id) => !texts(before, "plugins", "allow").includes(id));
  if (allow.some((id) => added.includes(id))) {
    plugins["allow"] = allow.filter((id) => !added.includes(id));
    what.push("its name in plugins.allow");
  }
  const slot = valueAt(config, ["plugins", "slots", "memory"]);
  if (typeof slot === "string" && ids.includes(slot)) {
    plugins["slots"] = { memory: valueAt(before, ["plugins", "slots", "memory"]) ?? null };
    what.push("plugins.slots.memory (back to the default)");
  }
  const paths = texts(config, "plugins", "load", "paths");
  if (linkedPath !== undefined && paths.includes(linkedPath)) {
    plugins["load"] = { paths: paths.filter((path) => path !== linkedPath) };
    what.push("its path in plugins.load.paths");
  }
  return { plugins, what };
}

/** The patch that takes an entry back to what it was: only whether the plugin is on was changed by the installation. */
function formerEntry(before: unknown, id: string): Readonly<Record<string, unknown>> | null {
  const entry = valueAt(before, ["plugins", "entries", id]);
  return isObject(entry) ? { enabled: entry["enabled"] ?? null } : null;
}
