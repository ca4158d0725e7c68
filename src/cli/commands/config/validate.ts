import { dottedPath, formatLocated, hasPath, isObject, validate as validateValue, valueAt, type LocatedIssue } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import type { Inventory } from "../../../plugins/index.ts";

export const validate = defineCommand({
  options: { file: { type: "string", value: "path", help: "check this file instead" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config validate", does: "exit code 0 when the file is right" },
    { line: "openclaw config validate --json", does: "the issues for machines: path, line, column, expected, found" },
  ],
  async run({ io, values }) {
    const loaded = loadFor(io, values.file);
    const { snapshot } = loaded;
    const { path, exists, legacy } = snapshot;
    const found = await pluginIssues(io, loaded);
    const issues = [...snapshot.issues, ...found.filter(({ severity }) => severity === "error")];
    const warnings = [...snapshot.warnings, ...found.filter(({ severity }) => severity === "warning")];
    const valid = issues.length === 0;
    if (values.json) {
      printJson(io, { path, exists, valid, issues, warnings, legacy });
      return valid ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const issue of issues) io.out(`${style.red("error")}   ${formatLocated(issue)}\n`);
    for (const issue of warnings) io.out(`${style.yellow("warning")} ${formatLocated(issue)}\n`);
    if (!exists) io.out(`${style.yellow("none")}    ${path} does not exist; the defaults are in effect\n`);
    else if (valid) io.out(`${style.green("valid")}   ${path}${warnings.length > 0 ? ` (${warnings.length} to look at)` : ""}\n`);
    else io.out(`${style.red("invalid")} ${path}: ${issues.length} ${issues.length === 1 ? "error" : "errors"}\n`);
    return valid ? 0 : 1;
  },
});

/** What makes a configuration wrong; all else that is known about plugins is only worth a look. */
const WRONG = new Set(["config-invalid", "unknown-plugin"]);

/** What the manifests say about the settings of plugins; none of their code is loaded. A file without plugin settings is not looked at. */
async function pluginIssues(io: Io, loaded: ReturnType<typeof loadFor>): Promise<LocatedIssue[]> {
  const { resolved, issues, warnings } = loaded.snapshot;
  const channels = valueAt(resolved, ["channels"]);
  if (!hasPath(resolved, ["plugins"]) && (!isObject(channels) || Object.keys(channels).length === 0)) return [];
  const { loadPlugins } = await import("../../plugin-source.ts");
  const { inventory } = await loadPlugins(io, loaded);
  const known = new Set([...issues, ...warnings].map((issue) => issue.path));
  const ofChannels = await channelIssues(loaded, inventory);
  return [...ofChannels, ...ofPlugins(inventory, known)];
}

/** Settings of channels against the schemas that their plugins declare. */
async function channelIssues({ snapshot, locate }: ReturnType<typeof loadFor>, { entries }: Inventory): Promise<LocatedIssue[]> {
  const { configSections } = await import("../../../plugins/index.ts");
  return Object.entries(configSections(entries).channels ?? {}).flatMap(([id, schema]) => {
    const section = valueAt(snapshot.resolved, ["channels", id]);
    if (section === undefined) return [];
    return validateValue(schema, section, { at: ["channels", id] }).map((issue) => ({ ...issue, ...locate(issue.path), path: dottedPath(issue.path) }));
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
