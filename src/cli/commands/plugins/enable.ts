import { AppError } from "../../../base/errors.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { findPlugin, loadPlugins, type Plugins } from "../../plugin-source.ts";
import { applySwitch, written } from "./switch.ts";

export const enable = defineCommand({
  positionals: "<id>",
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw plugins enable hello", does: "sets plugins.entries.hello.enabled, and extends plugins.allow where there is one" }],
  async run({ io, values, positionals }) {
    const plugins = await loadPlugins(io);
    const entry = findPlugin(plugins.inventory, positionals[0]);
    const { id } = entry;
    refuseBlocked(plugins, entry);
    const allow = written(plugins, "plugins", "allow");
    const extended = Array.isArray(allow) && allow.length > 0 && !allow.includes(id) ? { allow: [...allow, id] } : {};
    const takesSlot = [entry.manifest.kind ?? []].flat().includes("memory") && written(plugins, "plugins", "slots", "memory") !== id;
    const value = { plugins: { entries: { [id]: { enabled: true } }, ...extended, ...(takesSlot ? { slots: { memory: id } } : {}) } };
    const notes = [
      ...("allow" in extended ? [`added it to plugins.allow`] : []),
      ...(takesSlot ? [`it keeps memory from now on: plugins.slots.memory is "${id}"`] : []),
      ...(entry.origin === "workspace" ? [`its code came with the workspace and now runs with your rights: ${entry.source}`] : []),
    ];
    await applySwitch(io, { id, edit: { kind: "patch", value }, what: `enabled plugin ${id}`, by: "cli plugins enable", notes }, values.json ?? false);
  },
});

/** What was turned off on purpose elsewhere is not turned on behind the operator's back. */
function refuseBlocked(plugins: Plugins, { id }: PluginEntry): void {
  const lists = ["deny", "disabled"].filter((list) => {
    const names = written(plugins, "plugins", list);
    return Array.isArray(names) && names.includes(id);
  });
  const [reason, advice] =
    written(plugins, "plugins", "enabled") === false
      ? ["plugins disabled", "openclaw config set plugins.enabled true"]
      : ["blocked by denylist", `take it out of plugins.${lists[0] ?? "deny"} in ${plugins.loaded.snapshot.path}`];
  if (reason === "plugins disabled" || lists.length > 0) {
    throw new AppError("CONFLICT", `plugin "${id}" could not be enabled (${reason}); first: ${advice}`, { details: { id, reason } });
  }
}
