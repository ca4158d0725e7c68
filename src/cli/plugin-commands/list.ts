import { printable } from "../commands/plugins/record.ts";
import type { Io } from "../io.ts";
import { loadPlugins } from "../plugin-source.ts";
import { declaredCommands } from "./declared.ts";

/** Commands that the manifests of enabled plugins name, for the help. What is wrong with plugins is no reason to show no help. */
export async function listCommands(io: Io): Promise<readonly { readonly name: string; readonly summary: string }[]> {
  try {
    const { inventory } = await loadPlugins(io);
    const usable = inventory.entries.filter((entry) => entry.enabled && entry.error === undefined);
    const named = usable.flatMap(({ id, manifest }) =>
      declaredCommands(manifest).map(({ name, description }) => ({
        name,
        summary: description === undefined ? `plugin ${id}` : `${printable(description)} (plugin ${id})`,
      })),
    );
    return [...new Map(named.toReversed().map((command) => [command.name, command])).values()].toReversed();
  } catch {
    return [];
  }
}
