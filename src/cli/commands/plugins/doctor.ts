import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { colored, describeDiagnostic, printable, recordOf, stateOf } from "./record.ts";

export const doctor = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins doctor", does: "errors with file and line; exit code 1 when there is one" }],
  async run({ io, values }) {
    const { inventory } = await loadPlugins(io);
    const broken = inventory.entries.filter((entry) => stateOf(entry) === "error");
    const errors = inventory.diagnostics.filter(({ level }) => level === "error");
    const warnings = inventory.diagnostics.filter(({ level }) => level === "warn");
    const ok = broken.length === 0 && errors.length === 0;
    if (values.json) {
      printJson(io, { ok, workspaceDir: inventory.workspaceDir, plugins: broken.map(recordOf), diagnostics: inventory.diagnostics });
      return ok ? 0 : 1;
    }
    const style = createStyle(io.color);
    for (const entry of broken) io.out(`${colored("error", style)}   ${entry.id} (${entry.source}): ${printable(entry.error ?? "")}\n`);
    for (const diagnostic of [...errors, ...warnings]) io.out(describeDiagnostic(diagnostic, style));
    if (ok) io.out("No plugin issues detected.\n");
    else io.out(`${errors.length} ${errors.length === 1 ? "error" : "errors"}, ${broken.length} of ${inventory.entries.length} plugins cannot be loaded\n`);
    return ok ? 0 : 1;
  },
});
