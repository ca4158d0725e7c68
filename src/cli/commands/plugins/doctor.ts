import { escapeLine } from "../../../base/printable.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { loadFor } from "../../config-source.ts";
import { inventoryOf, loadPlugins } from "../../plugin-source.ts";
import { homedir } from "node:os";
import { findPlugin, type Inventory, type PluginEntry, loadPluginTrial, type TriedPlugin } from "../../../plugins/index.ts";
import { colored, describeDiagnostic, recordOf, stateOf, whyNot } from "./record.ts";
import { ownProgram } from "./trial.ts";

export const doctor = defineCommand({
  positionals: "[id…]",
  options: {
    here: { type: "boolean", help: "Load the plugins in this process and print JSON" },
    staged: { type: "string", value: "folder", help: "Check the plugin in this folder instead of the installed one" },
    ask: { type: "boolean", help: "With --here: pass the install described on standard input to the plugins" },
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw plugins doctor", does: "Load enabled plugins in a separate process and report errors; exit code 1 if there are any" }],
  async run({ io, values, positionals }) {
    const { inventory: all } = values.staged === undefined ? await loadPlugins(io) : { inventory: await inventoryOf(io, loadFor(io), values.staged) };
    const inventory = chosen(all, positionals);
    const { loadHere, readQuestion, tryLoading } = await loadPluginTrial();
    if (values.here) {
      const { env, cwd, version } = io;
      const question = values.ask ? readQuestion() : undefined;
      const trial = await loadHere({ env, cwd, version, osHome: homedir(), inventory, print: io.out, question });
      return trial.plugins.some(({ status }) => status === "error") ? 1 : 0;
    }
    const trial = await tryLoading(ownProgram(io), inventory);
    const known = (entry: PluginEntry): TriedPlugin | undefined => trial.plugins.find(({ id, source }) => id === entry.id && source === entry.source);
    const broken = inventory.entries.filter((entry) => stateOf(entry, known(entry)) === "error");
    const diagnostics = [...inventory.diagnostics, ...trial.diagnostics];
    const errors = diagnostics.filter(({ level }) => level === "error");
    // Reported once, with the commands that change the settings.
    const warnings = diagnostics.filter(({ level, code }) => level === "warn" && code !== "config-missing");
    const ok = broken.length === 0 && errors.length === 0;
    if (values.json) {
      printJson(io, { ok, workspaceDir: inventory.workspaceDir, plugins: broken.map((entry) => recordOf(entry, known(entry))), diagnostics });
      return ok ? 0 : 1;
    }
    const style = createStyle(io.color);
    // A diagnostic has a position; the same message without one is left out.
    const waiting = inventory.entries.filter(({ missingSettings }) => missingSettings !== undefined);
    const unexplained = broken.filter(({ id, error }) => error === undefined || !errors.some(({ pluginId }) => pluginId === id));
    for (const entry of unexplained) io.out(`${colored("error", style)}   ${entry.id} (${entry.source}): ${escapeLine(whyNot(entry, known(entry)) ?? "")}\n`);
    for (const { id, error = "" } of waiting) io.out(`${style.yellow("warning")} ${id}: ${escapeLine(error)}\n`);
    for (const diagnostic of [...errors, ...warnings]) io.out(describeDiagnostic(diagnostic, style));
    const counts = {
      errors: errors.length + unexplained.length,
      warnings: warnings.length + waiting.length,
      broken: broken.length,
      all: inventory.entries.length,
    };
    io.out(`${summary(counts)}\n`);
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

/** The last line: as many errors and warnings as stand above it. */
function summary({ errors, warnings, broken, all }: Readonly<Record<"errors" | "warnings" | "broken" | "all", number>>): string {
  if (errors === 0 && warnings === 0) return "No plugin issues detected.";
  const found = [counted(errors, "error"), counted(warnings, "warning")].filter(Boolean).join(", ");
  if (broken > 0) return `${found}; ${broken} of ${all} plugins failed to load`;
  return found;
}

const counted = (count: number, noun: string): string => (count === 0 ? "" : `${count} ${noun}${count === 1 ? "" : "s"}`);
