import { namesPlugins, type DescribedSections, type Loaded, type LocatedIssue } from "../../config/index.ts";
import type { PluginAdminPort, PluginSectionsPort, RestartReport, RestartRequest } from "../../gateway/index.ts";
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

interface SectionsDeps extends Pick<PluginsDeps, "config" | "env"> {
  readonly plugins: Pick<Plugins, "registries" | "onChange" | "extensions">;
}

/** What plugins say about their sections of the configuration in use. Manifests are read on the first request, and again when plugins or the file changed. */
function sectionsOfPlugins({ config, env, plugins }: SectionsDeps): PluginSectionsPort {
  let known: Promise<DescribedSections> | undefined;
  const forget = (): void => (known = undefined);
  plugins.onChange(forget);
  // Listens for as long as there is a configuration.
  config.onEvent(({ kind }) => {
    if (kind === "changed") forget();
  });

  async function read(): Promise<DescribedSections> {
    const [{ inventoryOptions }, { describedSections, readInventory }] = await Promise.all([
      import("../inventory/gateway-inventory.ts"),
      import("../inventory/index.ts"),
    ]);
    const { entries } = await readInventory(inventoryOptions({ config, env }, config.current));
    const registered = plugins.registries()?.channels.list() ?? [];
    return describedSections(
      entries,
      registered.map(({ value }) => value),
    );
  }

  function describe(): Promise<DescribedSections> {
    if (known) return known;
    known = read().then((found) => {
      config.extend(found);
      return found;
    });
    known.catch(forget);
    return known;
  }

  return {
    describe,
    async learn() {
      const { resolved, config: used } = config.snapshot();
      if (namesPlugins(resolved) || namesPlugins(used)) await describe();
    },
  };
}

/** What the methods of the gateway ask plugins for. */
export function pluginPorts(deps: SectionsDeps): Pick<Plugins, "extensions"> & { readonly pluginSections: PluginSectionsPort } {
  return { extensions: deps.plugins.extensions, pluginSections: sectionsOfPlugins(deps) };
}
