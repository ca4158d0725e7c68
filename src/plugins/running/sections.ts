import { namesPlugins, type DescribedSections } from "../../config/index.ts";
import type { PluginSectionsPort } from "../../gateway/index.ts";
import type { Plugins, PluginsDeps } from "./create-plugins.ts";

interface SectionsDeps extends Pick<PluginsDeps, "config" | "env"> {
  readonly plugins: Pick<Plugins, "registries" | "onChange" | "extensions">;
}

/** What plugins say about their sections of the configuration in use. Manifests are read when somebody asks, and again when plugins or the file changed. */
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
