import {
  dottedPath,
  hasPath,
  nameIssues,
  sameValue,
  validate,
  valueAt,
  type Issue,
  type KnownNames,
  type Loaded,
  type LocatedIssue,
} from "../../config/index.ts";
import type { Inventory } from "./inventory.ts";
import { knownNames } from "./known-names.ts";
import { checkPluginConfig } from "./plugin-config.ts";
import { configSections } from "./sections.ts";

type Checked = Pick<Loaded, "snapshot" | "locate">;

/** What makes a configuration wrong; all else that is known about plugins is only worth a look. */
const WRONG = new Set(["config-invalid", "unknown-plugin"]);

/** What the manifests say about the settings of plugins and their channels. `inventory` was read for this configuration, with its places. */
export function pluginIssues(checked: Checked, inventory: Inventory): LocatedIssue[] {
  const { issues, warnings } = checked.snapshot;
  const known = new Set([...issues, ...warnings].map((issue) => issue.path));
  return [...channelIssues(checked, inventory), ...ofPlugins(inventory, known), ...namesOf(checked, inventory, known)];
}

/** What was written about plugins: old keys have to be moved first. */
export function writtenConfig({ valid, legacy, config, resolved }: Loaded["snapshot"]): unknown {
  return valid && legacy.length > 0 ? config : resolved;
}

/**
 * Settings that a write changes to what the manifest of their plugin refuses, whether the plugin is on or not. What was wrong before and stays as it was, and
 * what is still missing, is no reason to refuse a write. `inventory` was read for the configuration after the write.
 */
export function refusedSettings({ before, after }: { readonly before: Loaded; readonly after: Loaded }, inventory: Inventory): LocatedIssue[] {
  const [old, written] = [writtenConfig(before.snapshot), writtenConfig(after.snapshot)];
  const plugins = settledEntries(inventory).flatMap(({ id, manifest }) => {
    const config = valueAt(written, ["plugins", "entries", id, "config"]);
    return config === undefined ? [] : checkPluginConfig(id, manifest, { hasConfig: true, config }).filter(({ level }) => level === "error");
  });
  const channels = channelFindings(written, inventory).filter(({ severity }) => severity === "error");
  return [...plugins, ...channels]
    .filter(({ path }) => hasPath(written, path) && !sameValue(valueAt(written, path), valueAt(old, path)))
    .map(({ path, message, code }) => ({ ...after.locate(path), path: dottedPath(path), message, code, severity: "error" }));
}

/** One entry for each id: the one that is on, else the first that was found. A broken manifest says nothing about settings. */
function settledEntries({ entries }: Inventory): Inventory["entries"] {
  const known = entries.filter(({ reason }) => reason !== "broken manifest");
  const chosen = (wanted: string) => known.find(({ id, enabled }) => id === wanted && enabled) ?? known.find(({ id }) => id === wanted);
  return known.filter((entry) => entry === chosen(entry.id));
}

/** Names in lists that neither this program nor a plugin explains. */
function namesOf({ snapshot, locate }: Checked, { entries }: Inventory, known: ReadonlySet<string>): LocatedIssue[] {
  const names = knownNames(entries, snapshot.resolved);
  const found = nameIssues(snapshot.resolved, names).filter(({ code, path }) => code === "unknown-name" && !known.has(dottedPath(path)));
  const located = found.map((issue): LocatedIssue => ({ ...issue, ...locate(issue.path), path: dottedPath(issue.path) }));
  return names.complete ? located : [...located, ...notJudged(snapshot.resolved, names, locate)];
}

/** What could be a tool of a plugin that does not say which it has. */
function notJudged(config: unknown, names: KnownNames, locate: Checked["locate"]): LocatedIssue[] {
  return nameIssues(config, { ...names, complete: true })
    .filter(({ code, path }) => code === "unknown-name" && !nameIssues(config, names).some((one) => dottedPath(one.path) === dottedPath(path)))
    .map(({ path, code, message }) => ({
      code,
      ...locate(path),
      path: dottedPath(path),
      message: `${message}; not checked further: an installed plugin does not declare its tools, so this is checked when the gateway starts`,
      severity: "warning",
    }));
}

/** Settings of channels against the schemas that their plugins declare. */
function channelIssues({ snapshot, locate }: Checked, inventory: Inventory): LocatedIssue[] {
  return channelFindings(snapshot.resolved, inventory).map((issue) => ({ ...issue, ...locate(issue.path), path: dottedPath(issue.path) }));
}

function channelFindings(config: unknown, { entries }: Inventory): Issue[] {
  return Object.entries(configSections(entries).channels ?? {}).flatMap(([id, schema]) => {
    const section = valueAt(config, ["channels", id]);
    return section === undefined ? [] : validate(schema, section, { at: ["channels", id] });
  });
}

/** What is known about the plugins themselves. */
function ofPlugins(inventory: Inventory, known: ReadonlySet<string>): LocatedIssue[] {
  return inventory.diagnostics.flatMap(({ path: place, source, line, column, message, code = "plugin", level }) => {
    if (place === undefined || source === undefined || known.has(place)) return [];
    const severity = level === "error" && WRONG.has(code) ? "error" : "warning";
    return [{ path: place, file: source, line: line ?? 1, column: column ?? 1, message, code, severity }];
  });
}
