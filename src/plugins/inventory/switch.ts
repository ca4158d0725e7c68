import { AppError } from "../../base/errors.ts";
import { nearest } from "../../base/text.ts";
import { valueAt, type ConfigEdit } from "../../config/index.ts";
import type { PluginEntry } from "../record.ts";
import type { Inventory } from "./inventory.ts";

/** The plugin that an id names; of several the one that is used. */
export function findPlugin({ entries }: Pick<Inventory, "entries">, id: string | undefined): PluginEntry {
  if (id === undefined) throw new AppError("INVALID_INPUT", "expected the id of a plugin; openclaw plugins list shows them");
  const named = entries.filter((entry) => entry.id === id);
  const found =
    named.find((entry) => entry.enabled) ?? named.find((entry) => !entry.reason?.startsWith("overridden by ") && entry.error === undefined) ?? named[0];
  if (found) return found;
  const close = nearest(
    id,
    entries.map((entry) => entry.id),
  );
  throw new AppError("NOT_FOUND", `plugin not found: ${id}; ${close === undefined ? "openclaw plugins list shows all" : `did you mean "${close}"?`}`);
}

export interface SwitchedPlugin {
  readonly edit: ConfigEdit;
  /** What a person should know of it. */
  readonly notes: readonly string[];
}

/** What turns a plugin on, or off. `written`: the configuration as it is written, with includes and variables put in; `file`: its name, for messages. */
export function switchPlugin(entry: PluginEntry, enabled: boolean, { written, file }: { readonly written: unknown; readonly file: string }): SwitchedPlugin {
  return enabled ? switchOn(entry, written, file) : switchOff(entry);
}

function switchOn(entry: PluginEntry, written: unknown, file: string): SwitchedPlugin {
  const { id } = entry;
  refuseBlocked(id, written, file);
  const extension = (config: unknown): { readonly allow?: readonly unknown[] } => {
    const written = valueAt(config, ["plugins", "allow"]);
    const allow: readonly unknown[] = Array.isArray(written) ? written : [];
    return allow.length > 0 && !allow.includes(id) ? { allow: [...allow, id] } : {};
  };
  const takesSlot = [entry.manifest.kind ?? []].flat().includes("memory") && valueAt(written, ["plugins", "slots", "memory"]) !== id;
  const fixed = { entries: { [id]: { enabled: true } }, ...(takesSlot ? { slots: { memory: id } } : {}) };
  const notes = [
    ...("allow" in extension(written) ? [`added it to plugins.allow`] : []),
    ...(takesSlot ? [`it now provides memory: plugins.slots.memory is "${id}"`] : []),
    ...(entry.origin === "workspace" ? [`its code came with the workspace and now runs with your rights: ${entry.source}`] : []),
  ];
  return { edit: { kind: "from", edit: ({ resolved }) => ({ kind: "patch", value: { plugins: { ...fixed, ...extension(resolved) } } }) }, notes };
}

function switchOff({ id, reason }: PluginEntry): SwitchedPlugin {
  // The slot is stronger than the switch: who keeps memory is on.
  const held = reason === "holds the memory slot";
  const value = { plugins: { entries: { [id]: { enabled: false } }, ...(held ? { slots: { memory: "none" } } : {}) } };
  return { edit: { kind: "patch", value }, notes: held ? [`memory is now off: plugins.slots.memory is "none"`] : [] };
}

/** What was turned off on purpose elsewhere is not turned on behind the operator's back. */
function refuseBlocked(id: string, written: unknown, file: string): void {
  const lists = ["deny", "disabled"].filter((list) => {
    const names = valueAt(written, ["plugins", list]);
    return Array.isArray(names) && names.includes(id);
  });
  const [reason, advice] =
    valueAt(written, ["plugins", "enabled"]) === false
      ? ["plugins disabled", "openclaw config set plugins.enabled true"]
      : ["blocked by denylist", `remove it from plugins.${lists[0] ?? "deny"} in ${file}`];
  if (reason === "plugins disabled" || lists.length > 0) {
    throw new AppError("CONFLICT", `plugin "${id}" could not be enabled (${reason}); first: ${advice}`, { details: { id, reason } });
  }
}
