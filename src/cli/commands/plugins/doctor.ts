import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { loadPlugins } from "../../plugin-source.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import { colored, describeDiagnostic, printable, recordOf, stateOf, whyNot } from "./record.ts";
import { loadHere, trialLine, tryLoading, type Tried } from "./trial.ts";

export const doctor = defineCommand({
  options: {
    here: { type: "boolean", help: "load the plugins in this process, and say for machines what came of it" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins doctor", does: "loads what is on in a process of its own; errors with file and line; exit code 1 when there is one" }],
  async run({ io, values }) {
    const { inventory } = await loadPlugins(io);
    if (values.here) {
      const trial = await loadHere(io, inventory);
      io.out(trialLine(trial));
      return trial.plugins.some(({ status }) => status === "error") ? 1 : 0;
    }
    const trial = await tryLoading(io, inventory);
    const known = (entry: PluginEntry): Tried | undefined => trial.plugins.find(({ id, source }) => id === entry.id && source === entry.source);
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
