import { defineCommand, JSON_OPTION } from "../../command.ts";
import { findPlugin, loadPlugins } from "../../plugin-source.ts";
import { applySwitch } from "./switch.ts";

export const disable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins disable hello", does: "its settings stay, its code is not loaded" }],
  async run({ io, values, positionals }) {
    const { inventory } = await loadPlugins(io);
    const { id, reason } = findPlugin(inventory, positionals[0]);
    // The slot is stronger than the switch: who keeps memory is on.
    const held = reason === "holds the memory slot";
    const value = { plugins: { entries: { [id]: { enabled: false } }, ...(held ? { slots: { memory: "none" } } : {}) } };
    const notes = held ? [`nobody keeps memory now: plugins.slots.memory is "none"`] : [];
    await applySwitch(io, { id, edit: { kind: "patch", value }, what: `disabled plugin ${id}`, by: "cli plugins disable", notes }, values.json ?? false);
  },
});
