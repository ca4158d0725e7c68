import { switchPlugin } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { findPlugin, loadPlugins } from "../../plugin-source.ts";
import { applySwitch } from "./switch.ts";

export const enable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins enable hello", does: "sets plugins.entries.hello.enabled, and extends plugins.allow where there is one" }],
  async run({ io, values, positionals }) {
    const { inventory, loaded } = await loadPlugins(io);
    const entry = findPlugin(inventory, positionals[0]);
    const { path: file, resolved: written } = loaded.snapshot;
    const switched = switchPlugin(entry, true, { written, file });
    await applySwitch(io, { id: entry.id, ...switched, what: `enabled plugin ${entry.id}`, by: "cli plugins enable" }, values.json ?? false);
  },
});
