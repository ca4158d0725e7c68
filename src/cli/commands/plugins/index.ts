import { escapeLine } from "../../../base/printable.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION, type Group } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle, type Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { colored, describeDiagnostic, recordOf, stateOf, whyNot } from "./record.ts";
import type { RunningPlugin } from "./running.ts";

const STATES = ["loaded", "not checked", "needs configuration", "disabled", "error"] as const;

export const list = defineCommand({
  options: {
    enabled: { type: "boolean", help: "Only enabled plugins" },
    verbose: { type: "boolean", help: "Show location, contents and warnings" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw plugins list --enabled", does: "Plugins the gateway loads" },
    { line: "openclaw plugins list --json", does: "Same, as JSON" },
  ],
  async run({ io, values }) {
    const { inventory, loaded } = await loadPlugins(io);
    // What asks a gateway is loaded only where there is something to ask it about.
    const asking = inventory.entries.some(({ enabled }) => enabled) ? await import("./running.ts") : undefined;
    const running = await asking?.runningPlugins(io, loaded.paths.state);
    const known = (entry: PluginEntry): RunningPlugin | undefined => asking?.sameIn(running, entry);
    const entries = values.enabled ? inventory.entries.filter((entry) => entry.enabled && entry.error === undefined) : inventory.entries;
    if (values.json) {
      printJson(io, {
        workspaceDir: inventory.workspaceDir,
        plugins: entries.map((entry) => recordOf(entry, known(entry))),
        diagnostics: inventory.diagnostics,
      });
      return;
    }
    const style = createStyle(io.color);
    if (inventory.entries.length === 0) io.out("No plugins installed\n");
    else if (entries.length === 0) io.out(`None of the ${inventory.entries.length} plugins is enabled\n`);
    else if (values.verbose) for (const entry of entries) io.out(block(entry, known(entry), style));
    else
      io.out(
        formatTable(
          ["id", "status", "origin", "version", "about"],
          entries.map((entry) => row(entry, known(entry), style)),
          { style, columns: io.columns },
        ),
      );
    const counts = STATES.map((state) => [state, inventory.entries.filter((entry) => stateOf(entry, known(entry)) === state).length] as const).filter(
      ([, count]) => count > 0,
    );
    const untried = counts.some(([state]) => state === "not checked") ? ": no gateway is running. Check them with: openclaw plugins doctor" : "";
    if (counts.length > 0) io.out(style.dim(`${counts.map(([state, count]) => `${count} ${state}`).join(", ")}${running ? "" : io.runnable(untried)}\n`));
    const shown = values.verbose ? inventory.diagnostics : inventory.diagnostics.filter(({ level }) => level === "error");
    for (const diagnostic of shown) io.out(describeDiagnostic(diagnostic, style));
    const hidden = inventory.diagnostics.length - shown.length;
    if (hidden > 0) io.out(io.runnable(style.dim(`${hidden} ${hidden === 1 ? "warning" : "warnings"}: openclaw plugins doctor\n`)));
  },
});

function row(entry: PluginEntry, known: RunningPlugin | undefined, style: Style): string[] {
  const state = stateOf(entry, known);
  const isOn = state === "loaded" || state === "not checked";
  const about = isOn ? (entry.description ?? entry.name) : (whyNot(entry, known) ?? "");
  return [entry.id, colored(state, style), entry.origin, escapeLine(entry.version ?? "-"), escapeLine(about)];
}

function block(entry: PluginEntry, known: RunningPlugin | undefined, style: Style): string {
  const { manifest } = entry;
  const lines: (readonly [string, string | undefined])[] = [
    ["name", entry.name === entry.id ? undefined : entry.name],
    ["about", entry.description],
    ["version", entry.version],
    ["why", whyNot(entry, known)],
    ["source", entry.source],
    ["kind", [manifest.kind ?? []].flat().join(", ")],
    ["channels", manifest.channels?.join(", ")],
    ["providers", manifest.providers?.join(", ")],
  ];
  const shown = lines.filter((line): line is readonly [string, string] => line[1] !== undefined && line[1] !== "");
  const head = `${style.bold(entry.id)} ${colored(stateOf(entry, known), style)} ${style.dim(entry.origin)}\n`;
  return `${head}${shown.map(([name, value]) => `  ${style.dim(name.padEnd(9))} ${escapeLine(value)}\n`).join("")}`;
}

export const plugins: Group = {
  entries: [
    { name: "list", summary: "List plugins and their state", load: async () => list },
    { name: "info", summary: "Show details of a plugin", load: async () => (await import("./info.ts")).info },
    { name: "enable", summary: "Enable a plugin", load: async () => (await import("./switch.ts")).enable },
    { name: "disable", summary: "Disable a plugin", load: async () => (await import("./switch.ts")).disable },
    { name: "install", summary: "Install a plugin from a folder, archive or npm package", load: async () => (await import("./install.ts")).install },
    { name: "update", summary: "Update plugins from npm", load: async () => (await import("./install.ts")).update },
    { name: "uninstall", summary: "Uninstall a plugin", load: async () => (await import("./install.ts")).uninstall },
    { name: "create", summary: "Create a plugin", load: async () => (await import("./create.ts")).create },
    { name: "doctor", summary: "Find problems with plugins and their settings", load: async () => (await import("./doctor.ts")).doctor },
    { name: "stats", summary: "Show calls, failures and timings of running plugins", load: async () => (await import("./running.ts")).stats },
    { name: "reload", summary: "Reload one plugin's code and settings", load: async () => (await import("./running.ts")).reload },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw plugins list", does: "List plugins" },
    { line: "openclaw plugins doctor", does: "Find problems" },
  ],
};
