import { type LocatedIssue, type Loaded, namesPlugins } from "../../config/index.ts";
import type { PluginAdminPort, RestartReport, RestartRequest } from "../../gateway/index.ts";
import type { Plugins, PluginsDeps } from "./create-plugins.ts";

export interface PluginAdminDeps extends Pick<PluginsDeps, "config" | "clock" | "ids" | "log" | "env"> {
  readonly plugins: Pick<Plugins, "hooks" | "port">;
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
  /** How to run this program; without it plugins that are installed are not tried. */
  readonly program?: readonly string[] | undefined;
  readonly cwd: string;
}

/** Turns plugins on and off, installs and removes them. The code is loaded with the first request. */
export function pluginAdmin(deps: PluginAdminDeps): PluginAdminPort {
  const administration = async (): Promise<PluginAdminPort> => (await import("./administration.ts")).createAdministration(deps);
  return {
    enable: async (id, enabled) => (await administration()).enable(id, enabled),
    install: async (asked) => (await administration()).install(asked),
    uninstall: async (id) => (await administration()).uninstall(id),
  };
}

/** What manifests say about a configuration that is only checked. Does nothing for one that names no plugins. */
export function issuesOfPlugins(deps: Pick<PluginsDeps, "config" | "env">): (checked: Loaded) => Promise<readonly LocatedIssue[]> {
  return async (checked) => {
    const { snapshot } = checked;
    if (!namesPlugins(snapshot.resolved)) return [];
    const [{ inventoryOptions }, { pluginIssues, readInventory, writtenConfig }] = await Promise.all([
      import("../inventory/gateway-inventory.ts"),
      import("../inventory/index.ts"),
    ]);
    return pluginIssues(checked, await readInventory({ ...inventoryOptions(deps, writtenConfig(snapshot)), locate: checked.locate }));
  };
}
