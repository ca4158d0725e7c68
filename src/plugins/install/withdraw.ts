import { AppError } from "../../base/errors.ts";
import type { Inventory } from "../inventory/index.ts";
import type { InstallDeps } from "./deps.ts";
import { uninstallPlugin } from "./uninstall.ts";

export interface WithdrawRequest {
  /** Plugins that were just installed and cannot be loaded, with why. */
  readonly unloadable: readonly { readonly id: string; readonly source: string; readonly error?: string | undefined }[];
  readonly inventory: Inventory;
  /** The configuration before they were installed. */
  readonly before: unknown;
}

/**
 * A plugin that cannot be loaded does not take the place of one that comes with the program: it is removed again, the settings are as before, and this
 * rejects with `PLUGIN_FAILED`. Others stay installed.
 */
export async function withdrawShadowing({ unloadable, inventory, before }: WithdrawRequest, deps: InstallDeps): Promise<void> {
  const isBundled = (id: string): boolean => inventory.entries.some((entry) => entry.id === id && entry.origin === "bundled");
  const withdrawn = unloadable.filter(({ id }) => isBundled(id));
  for (const { id, source } of withdrawn) {
    const entry = inventory.entries.find((one) => one.id === id && one.source === source);
    if (entry?.origin !== "bundled") await uninstallPlugin({ id, entry, force: true, before }, deps);
  }
  const [first] = withdrawn;
  if (!first) return;
  throw new AppError(
    "PLUGIN_FAILED",
    `${first.id} was not installed: it cannot be loaded (${first.error ?? "no reason was given"}); the ${first.id} that comes with the program stays in use`,
    { details: { pluginId: first.id } },
  );
}
