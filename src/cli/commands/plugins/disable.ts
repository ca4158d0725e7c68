import { switchPlugin } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { findPlugin, loadPlugins } from "../../plugin-source.ts";
import { applySwitch } from "./switch.ts";

export const disable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins disable hello", does: "its settings stay, its code is not loaded" }],
  async run({ io, values, positionals }) {
    const { inventory, loaded } = await loadPlugins(io);
    const entry = findPlugin(inventory, positionals[0]);
    const { path: file, resolved: written } = loaded.snapshot;
    const switched = switchPlugin(entry, false, { written, file });
    await applySwitch(io, { id: entry.id, ...switched, what: `disabled plugin ${entry.id}`, by: "cli plugins disable" }, values.json ?? false);
  },
});
