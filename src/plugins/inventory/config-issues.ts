import { dottedPath, nameIssues, validate, valueAt, type KnownNames, type Loaded, type LocatedIssue } from "../../config/index.ts";
import type { Inventory } from "./inventory.ts";
import { knownNames } from "./known-names.ts";
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
      message: `${message}; not checked further: an installed plugin does not declare its tools, so this is judged when the gateway starts`,
      severity: "warning",
    }));
}

/** Settings of channels against the schemas that their plugins declare. */
function channelIssues({ snapshot, locate }: Checked, { entries }: Inventory): LocatedIssue[] {
  return Object.entries(configSections(entries).channels ?? {}).flatMap(([id, schema]) => {
    const section = valueAt(snapshot.resolved, ["channels", id]);
    if (section === undefined) return [];
    return validate(schema, section, { at: ["channels", id] }).map((issue) => ({ ...issue, ...locate(issue.path), path: dottedPath(issue.path) }));
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
