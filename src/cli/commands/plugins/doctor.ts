import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { homedir } from "node:os";
import { loadPluginTrial, type TriedPlugin } from "../../../app/index.ts";
import { findPlugin, type Inventory, type PluginEntry } from "../../../plugins/index.ts";
import { colored, describeDiagnostic, printable, recordOf, stateOf, whyNot } from "./record.ts";
import { ownProgram } from "./trial.ts";

export const doctor = defineCommand({
  positionals: "[id…]",
  options: {
    here: { type: "boolean", help: "load the plugins in this process, and say for machines what came of it" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins doctor", does: "loads what is on in a process of its own; errors with file and line; exit code 1 when there is one" }],
  async run({ io, values, positionals }) {
    const inventory = chosen((await loadPlugins(io)).inventory, positionals);
    const { loadHere, trialLine, tryLoading } = await loadPluginTrial();
    if (values.here) {
      const { env, cwd, version } = io;
      const trial = await loadHere({ env, cwd, version, osHome: homedir(), inventory });
      io.out(trialLine(trial));
      return trial.plugins.some(({ status }) => status === "error") ? 1 : 0;
    }
    const trial = await tryLoading(ownProgram(io), inventory);
    const known = (entry: PluginEntry): TriedPlugin | undefined => trial.plugins.find(({ id, source }) => id === entry.id && source === entry.source);
    const broken = inventory.entries.filter((entry) => stateOf(entry, known(entry)) === "error");
    const diagnostics = [...inventory.diagnostics, ...trial.diagnostics];
    const errors = diagnostics.filter(({ level }) => level === "error");
    const warnings = diagnostics.filter(({ level }) => level === "warn");
    const ok = broken.length === 0 && errors.length === 0;
    if (values.json) {
      printJson(io, { ok, workspaceDir: inventory.workspaceDir, plugins: broken.map((entry) => recordOf(entry, known(entry))), diagnostics });
      return ok ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const entry of broken) io.out(`${colored("error", style)}   ${entry.id} (${entry.source}): ${printable(whyNot(entry, known(entry)) ?? "")}\n`);
    for (const diagnostic of [...errors, ...warnings]) io.out(describeDiagnostic(diagnostic, style));
    if (ok) io.out("No plugin issues detected.\n");
    else io.out(`${errors.length} ${errors.length === 1 ? "error" : "errors"}, ${broken.length} of ${inventory.entries.length} plugins cannot be loaded\n`);
    return ok ? 0 : 1;
  },
});

/** The plugins that were named; all when none was. Throws `NOT_FOUND`. */
function chosen(inventory: Inventory, ids: readonly string[]): Inventory {
  if (ids.length === 0) return inventory;
  for (const id of ids) findPlugin(inventory, id);
  return {
    ...inventory,
    entries: inventory.entries.filter(({ id }) => ids.includes(id)),
    diagnostics: inventory.diagnostics.filter(({ pluginId }) => pluginId !== undefined && ids.includes(pluginId)),
  };
}
