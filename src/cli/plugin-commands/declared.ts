import { isObject } from "../../config/index.ts";
import type { PluginEntry, PluginManifest } from "../../plugins/index.ts";
import { escapeLine } from "../../base/printable.ts";
import type { Io } from "../io.ts";
import { loadPlugins } from "../plugin-source.ts";

/** A command of a plugin, as its manifest announces it. */
interface DeclaredCommand {
  readonly name: string;
  readonly description?: string;
}

const NAME = /^[A-Za-z][\w-]{0,63}$/;
const isName = (value: unknown): value is string => typeof value === "string" && NAME.test(value);
const listAt = (value: unknown, key: string): readonly unknown[] | undefined => (isObject(value) && Array.isArray(value[key]) ? value[key] : undefined);

function fromList(items: readonly unknown[] | undefined, key: string): DeclaredCommand[] {
  return (items ?? []).filter(isObject).flatMap((item) => {
    const { description } = item;
    return isName(item[key]) ? [{ name: item[key], ...(typeof description === "string" ? { description } : {}) }] : [];
  });
}

/** Commands that a manifest names: in `cliCommands`, in `commandAliases[].cliCommand` and in `activation.onCommands`; each once. */
export function declaredCommands({ rest }: PluginManifest): readonly DeclaredCommand[] {
  const named = [
    ...fromList(listAt(rest, "cliCommands"), "name"),
    ...fromList(listAt(rest, "commandAliases"), "cliCommand"),
    ...(listAt(rest["activation"], "onCommands") ?? []).filter(isName).map((name) => ({ name })),
  ];
  return [...new Map(named.toReversed().map((command) => [command.name, command])).values()].toReversed();
}

/** Whether a manifest lists all commands of its plugin, so that one that is not there need not be looked for in the code. */
function listsAll({ rest }: PluginManifest): boolean {
  return listAt(rest, "cliCommands") !== undefined || listAt(rest["activation"], "onCommands") !== undefined;
}

/** Enabled plugins that have the command, or, when no manifest names it, those that may have it. */
export function pluginsFor(entries: readonly PluginEntry[], name: string): { readonly plugins: readonly PluginEntry[]; readonly declared: boolean } {
  const usable = entries.filter((entry) => entry.enabled && entry.error === undefined);
  const declaring = usable.filter(({ manifest }) => declaredCommands(manifest).some((command) => command.name === name));
  if (declaring.length > 0) return { plugins: declaring, declared: true };
  return { plugins: usable.filter(({ manifest }) => !listsAll(manifest)), declared: false };
}

/** Commands that the manifests of enabled plugins name, for the help. What is wrong with plugins is no reason to show no help. */
export async function listCommands(io: Io): Promise<readonly { readonly name: string; readonly summary: string }[]> {
  try {
    const { inventory } = await loadPlugins(io);
    const usable = inventory.entries.filter((entry) => entry.enabled && entry.error === undefined);
    const named = usable.flatMap(({ id, manifest }) =>
      declaredCommands(manifest).map(({ name, description }) => ({
        name,
        summary: description === undefined ? `Plugin ${id}` : `${escapeLine(description)} (plugin ${id})`,
      })),
    );
    return [...new Map(named.toReversed().map((command) => [command.name, command])).values()].toReversed();
  } catch {
    return [];
  }
}
