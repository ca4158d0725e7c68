import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { formatLocated, isKept, mainAgentFolder, missingFile, namesPlugins, type LocatedIssue } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION, type Group } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";

export const validate = defineCommand({
  options: { file: { type: "string", value: "path", help: "Check this file instead" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw config validate", does: "Exit code 0 if the file is valid" },
    { line: "openclaw config validate --json", does: "Issues as JSON: path, line, column, expected, found" },
  ],
  async run({ io, values }) {
    const loaded = loadFor(io, values.file);
    const { snapshot } = loaded;
    const { path, exists, legacy } = snapshot;
    const found = await issuesOfPlugins(io, loaded);
    const issues = [...snapshot.issues, ...goneIssues(loaded), ...found.filter(({ severity }) => severity === "error")];
    const warnings = [...snapshot.warnings, ...found.filter(({ severity }) => severity === "warning")];
    const valid = issues.length === 0;
    if (valid && exists) warnings.push(...(await windowWarning(io, loaded)));
    if (values.json) {
      printJson(io, { path, exists, valid, issues, warnings, legacy });
      return valid ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const issue of issues) io.out(`${style.red("error")}   ${formatLocated(issue)}\n`);
    for (const issue of warnings) io.out(`${style.yellow("warning")} ${formatLocated(issue)}\n`);
    if (!exists && valid) io.out(`${style.yellow("none")}    ${path} does not exist; using the defaults\n`);
    else if (valid)
      io.out(`${style.green("valid")}   ${path}${warnings.length > 0 ? ` (${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"})` : ""}\n`);
    else io.out(`${style.red("invalid")} ${path}: ${issues.length} ${issues.length === 1 ? "error" : "errors"}\n`);
    return valid ? 0 : 1;
  },
});

/** A file that the gateway ran with and that is gone is a broken one: the last good configuration stays in use. */
function goneIssues({ snapshot: { path, exists }, paths }: ReturnType<typeof loadFor>): LocatedIssue[] {
  if (exists || !isKept(paths.state, path)) return [];
  return [{ path: "", file: path, line: 1, column: 1, message: missingFile(path, paths.state), code: "missing_file", severity: "error" }];
}

/** Turns with a default model that sees less than the minimum are refused, which is better known before. A file that names no model is not looked at. */
async function windowWarning(io: Io, { snapshot: { config }, locate }: ReturnType<typeof loadFor>): Promise<LocatedIssue[]> {
  if (config.agents?.defaults?.model === undefined) return [];
  const choice = await (await import("../../../models/index.ts")).loadChoice();
  const { primary } = choice.choiceOf(config.agents.defaults.model);
  const ref = primary === undefined ? undefined : choice.readRef(primary, choice.aliasesOf(config), choice.DEFAULT_REF.provider)?.ref;
  if (ref === undefined) return [];
  const agentDir = mainAgentFolder({ env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd });
  const catalogue = await choice.openCatalogue({ config, agentDir, hasCredential: () => true, warn: () => {} });
  const entry = catalogue.find(ref);
  const window = entry && choice.contextWindowOf(entry, config);
  if (window?.rating !== "too-small") return [];
  const path = window.source === "agentContextTokens" ? ["agents", "defaults", "contextTokens"] : ["agents", "defaults", "model"];
  const message = choice.describeWindow(window, choice.formatRef(ref));
  if (message === undefined) return [];
  return [{ path: path.join("."), ...locate(path), message, code: "small_window", severity: "warning" }];
}

/** What the manifests say about the settings of plugins; none of their code is loaded. A file without plugin settings is not looked at. */
async function issuesOfPlugins(io: Io, loaded: ReturnType<typeof loadFor>): Promise<LocatedIssue[]> {
  if (!namesPlugins(loaded.snapshot.resolved)) return [];
  // Imported from its own file: the module's entry point would load everything that runs plugins.
  const { loadPlugins, pluginIssues } = await import("../../plugin-source.ts");
  return pluginIssues(loaded, (await loadPlugins(io, loaded)).inventory);
}

export const file = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw config file", does: "Path of the file and its includes" }],
  run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    const { path, exists, hash, files } = snapshot;
    if (values.json) printJson(io, { path, exists, hash, files, stateDir: paths.state });
    else for (const name of [path, ...files.filter((other) => other !== path)]) io.out(`${name}\n`);
    return Promise.resolve();
  },
});

export const config: Group = {
  entries: [
    { name: "get", summary: "Show the value at a path", load: async () => (await import("./values.ts")).get },
    { name: "set", summary: "Set a value", load: async () => (await import("./values.ts")).set },
    { name: "unset", summary: "Remove a key", load: async () => (await import("./values.ts")).unset },
    { name: "validate", summary: "Check the file and list every error with its line", load: async () => validate },
    { name: "schema", summary: "Print the JSON Schema, or the form hints", load: async () => (await import("./schema.ts")).schema },
    { name: "file", summary: "Show the configuration files", load: async () => file },
    { name: "diff", summary: "Show pending changes and how the gateway applies them", load: async () => (await import("./values.ts")).diff },
    { name: "configure", summary: "Configure interactively", load: async () => (await import("../configure.ts")).configure },
  ],
  fallback: "configure",
  examples: [
    { line: "openclaw config get gateway.port", does: "Show the port" },
    { line: "openclaw config validate", does: "Check the file" },
  ],
};
