import type { ConfigEdit } from "../../../config/index.ts";
import { editConfig, type EditResult } from "../../config-edit.ts";
import { describeAnswer } from "../../gateway-answer.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { findPlugin, loadPlugins } from "../../plugin-source.ts";
import { describeDiagnostic, stateOf } from "./record.ts";
import { switchPlugin } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";

interface Switch {
  readonly id: string;
  readonly edit: ConfigEdit;
  /** For people: `enabled plugin voice`. */
  readonly what: string;
  readonly by: string;
  readonly notes: readonly string[];
}

/** Changes the file, then reads the inventory again and reports the result. */
async function applySwitch(io: Io, { id, edit, what, by, notes }: Switch, json: boolean): Promise<void> {
  const result: EditResult = await editConfig(io, edit, by);
  const { inventory } = await loadPlugins(io);
  const entry = findPlugin(inventory, id);
  const diagnostics = inventory.diagnostics.filter(({ pluginId, level }) => pluginId === id && level === "error");
  if (json) {
    printJson(io, { ok: true, id, enabled: entry.enabled, status: stateOf(entry), reason: entry.reason, error: entry.error, ...result, diagnostics });
    return;
  }
  const style = createStyle(io.color);
  if (result.files.length === 0) io.out(`No changes: ${id} already has this state in ${result.path}\n`);
  else io.out(`${what} in ${result.files.join(", ")}; ${io.runnable(describeAnswer(result.gateway))}\n`);
  for (const note of notes) io.out(io.runnable(`${note}\n`));
  for (const diagnostic of diagnostics) io.out(describeDiagnostic(diagnostic, style));
}

export const enable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins enable hello", does: "Set plugins.entries.hello.enabled, and add it to plugins.allow if set" }],
  async run({ io, values, positionals }) {
    const { inventory, loaded } = await loadPlugins(io);
    const entry = findPlugin(inventory, positionals[0]);
    const { path: file, resolved: written } = loaded.snapshot;
    const switched = switchPlugin(entry, true, { written, file });
    await applySwitch(io, { id: entry.id, ...switched, what: `Enabled plugin ${entry.id}`, by: "cli plugins enable" }, values.json ?? false);
  },
});

export const disable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins disable hello", does: "Keep the settings, but don't load the code" }],
  async run({ io, values, positionals }) {
    const { inventory, loaded } = await loadPlugins(io);
    const entry = findPlugin(inventory, positionals[0]);
    const { path: file, resolved: written } = loaded.snapshot;
    const switched = switchPlugin(entry, false, { written, file });
    await applySwitch(io, { id: entry.id, ...switched, what: `Disabled plugin ${entry.id}`, by: "cli plugins disable" }, values.json ?? false);
  },
});
